import { edgeForm, eventForm, nodeForm } from "../../domain/node.ts";
import { auditRecordForm } from "../../domain/records/audit.ts";
import type { ObjectForm, Shape } from "../../lib/form.ts";
import type { Dialect } from "./dialect.ts";

// The columns of the tables that both databases have, without keys; what only one of them has is in its schema.

/** A column with PostgreSQL's type, and what its declaration says besides. */
export type Column = readonly [name: string, type: string, constraint?: string];

const TYPES: Partial<Record<Shape["kind"], string>> = {
  uuid: "uuid",
  integer: "integer",
  flag: "smallint",
  unit: "double precision",
  nonNegative: "double precision",
};

/** Those of a form, in its order, without its id, owner and others. */
function storedBy(
  { members }: Pick<ObjectForm<never>, "members">,
  ...others: readonly string[]
): readonly Column[] {
  return members
    .filter(({ name }) => !["id", "user_id", ...others].includes(name))
    .map(({ name, form: { shape } }) => {
      const isOptional = shape.kind === "nullable";
      const { kind } = isOptional ? shape.of.shape : shape;
      return [name, TYPES[kind] ?? "text", isOptional ? "" : "NOT NULL"];
    });
}

/** @param text name and type of each: text by default, `?` may be null, `=0` has a default */
export function columns(text: string): readonly Column[] {
  return text.split(" ").map((each) => {
    const [, name = "", type = "text", end] = /^(\w+)(?::(\w+))?(\?|=0)?$/.exec(each) ?? [];
    const constraint = end === "=0" ? "NOT NULL DEFAULT 0" : "NOT NULL";
    return [name, type, end === "?" ? "" : constraint];
  });
}

export const COLUMNS = {
  event: storedBy(eventForm),
  node: storedBy(nodeForm),
  edge: storedBy(edgeForm, "source_id", "target_id"),
  operation: storedBy(auditRecordForm),
  /** `event_id`: the event whose content is gone; of memories without one, their own id. */
  erasure: columns("event_id:uuid forget_id:uuid erased_at actor"),
  blob: columns("key media_type size:integer data:bytea created_at"),
  /**
   * Work of one kind, owner and lane is done one after the other, by subject; null: in any order. `due`: not before; null: at once.
   * `attempts`: where it comes again and again, those that failed since the last success. `generation` counts the claims.
   */
  work: columns(
    "kind lane? status due? attempts:integer=0 generation:integer=0 payload? last_error? lease_owner? lease_expires_at? updated_at",
  ),
  /** `user_id`: whoever asked, who need not own anything yet. */
  receipt: columns("user_id created_at body:bytea"),
  receipt_node: columns("rank:integer representation"),
  staging: columns("content_hash model version dimension:integer"),
  /** `was`: the state before; null for a new memory, and an erased one. `state`: null: erased. */
  change: columns("owner:bigint key:integer node:uuid was? state? at"),
} as const;

const IN_PACK: Readonly<Record<string, string>> = {
  text: "TEXT",
  uuid: "TEXT",
  integer: "INTEGER",
  bigint: "INTEGER",
  smallint: "INTEGER",
  "double precision": "REAL",
  bytea: "BLOB",
};

/** Columns as a table declares them, as SQL. On a server texts are compared by code point, whatever the database's collation. */
export function declared({ isOwnerInKeys }: Dialect, list: readonly Column[]): string {
  const typeOf = (type: string) => (type === "text" ? `text COLLATE "C"` : type);
  return list
    .map(([name, type, constraint = ""]) =>
      `${name} ${isOwnerInKeys ? typeOf(type) : IN_PACK[type]} ${constraint}`.trimEnd(),
    )
    .join(",\n  ");
}
