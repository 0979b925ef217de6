import type { Declared, ObjectForm, View } from "../../lib/form.ts";
import type { JsonObject } from "../../lib/json.ts";
import { parseMember } from "../enums.ts";
import { edgeForm, eventForm, type MemoryNode, nodeForm } from "../node.ts";
import { LASTING_MEMBERS } from "../search/change.ts";
import { auditRecordForm } from "./audit.ts";

// How records map to rows of a relational store.

type SnakeCase<S extends string> = S extends `${infer Head}${infer Rest}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeCase<Rest>}`
  : S;
type ColumnOf<T> =
  | (undefined extends T ? null : never)
  | (NonNullable<T> extends number | boolean ? number : string);

/** A row with the members of a record in snake case: JSON and members of closed sets as text, booleans as 0 or 1. */
export type RowOf<T> = { readonly [K in keyof T & string as SnakeCase<K>]: ColumnOf<T[K]> };

/** The column form of a member, whether or not it may be null. */
function columnForm(form: View<never>): View<never> {
  return form.shape.kind === "nullable" ? form.shape.of : form;
}

/** Undefined: unchanged, apart from null. */
function fromColumn({ name, form }: Declared): ((cell: unknown) => unknown) | undefined {
  const { shape } = columnForm(form);
  switch (shape.kind) {
    case "member":
      return (text) => parseMember(shape.members, text, name);
    case "flag":
      return (bit) => bit === 1;
    case "list":
    case "anyObject":
      return (text) => (text === null ? undefined : JSON.parse(String(text)));
    default:
      return undefined;
  }
}

/** The record of a row; closed sets are checked, since a later version may have more members. */
export function rowReader<T extends object>({ members }: ObjectForm<T>): (row: RowOf<T>) => T {
  const columns = members.flatMap((member) =>
    typeof member.key === "string"
      ? [{ key: member.key, name: member.name, read: fromColumn(member) }]
      : [],
  );
  return (row: Readonly<Record<string, unknown>>) => {
    const record: Record<string, unknown> = {};
    for (const { key, name, read } of columns) {
      const cell = row[name];
      record[key] = read === undefined ? (cell ?? undefined) : read(cell);
    }
    // SAFETY: every column was read by the form of its member.
    return record as T;
  };
}

/** What a column holds. */
export type Value = string | number | null;

function toColumn({ form }: Declared): (value: unknown) => Value {
  switch (columnForm(form).shape.kind) {
    case "flag":
      return Number;
    case "list":
    case "anyObject":
      return (json) => (json === undefined ? null : JSON.stringify(json));
    default:
      // SAFETY: every other form is of a text or a number.
      return (value) => (value ?? null) as Value;
  }
}

/** The values of a record for its columns, or for some of them, in record order. */
export function rowWriter<T extends object>(
  { members }: ObjectForm<T>,
  isWritten: (name: string) => boolean = () => true,
): (value: T) => Value[] {
  const columns = members.flatMap((member) =>
    isWritten(member.name) && typeof member.key === "string"
      ? [{ key: member.key, write: toColumn(member) }]
      : [],
  );
  return (value) => {
    // SAFETY: the keys are those of its members.
    const record = value as Readonly<Record<string, unknown>>;
    return columns.map(({ key, write }) => write(record[key]));
  };
}

/** The columns of a record in record order, without id and owner. */
export const storedColumns = ({ members }: Pick<ObjectForm<never>, "members">): readonly string[] =>
  members.map(({ name }) => name).filter((name) => name !== "id" && name !== "user_id");
/** Columns of a table, as SQL. */
export const named = (table: string, names: readonly string[]): string =>
  names.map((name) => `${table}.${name}`).join(", ");

/** The columns of a node that may change, in record order. */
const CHANGING_COLUMNS: readonly string[] = nodeForm.members
  .filter(({ key }) => !LASTING_MEMBERS.some((lasting) => lasting === key))
  .map(({ name }) => name);

const changingValues = rowWriter(nodeForm, (name) => CHANGING_COLUMNS.includes(name));

/** A column of a node that is written, and its new value. */
type ChangedColumn = { readonly name: string; readonly value: Value };

/** The columns in which two records of a node differ. Indexes without any of them need no update, which saves most of the cost. */
export function changedColumns(before: MemoryNode, after: MemoryNode): readonly ChangedColumn[] {
  const old = changingValues(before);
  const values = changingValues(after);
  return CHANGING_COLUMNS.flatMap((name, place) => {
    const value = values[place] ?? null;
    return value === old[place] ? [] : [{ name, value }];
  });
}

/*
 * The contents of a store, as records that every store reads and writes alike: the rows of its tables, which refer to others by id. Row
 * numbers and derived data stay internal to each store.
 */

/** Text, a number, null, or bytes. JSON is text, a flag is 0 or 1. */
export type Cell = Value | Uint8Array;
export type TransferRecord = Readonly<Record<string, Cell>>;

const namesOf = (form: { readonly members: readonly { readonly name: string }[] }) =>
  form.members.map(({ name }) => name);

/** The kinds of records and their cells, ordered so that a record follows those it refers to. */
export const RECORDS = {
  owner: ["user_id"],
  event: ["user_id", "id", ...storedColumns(eventForm)],
  blob: ["user_id", "key", "media_type", "size", "data", "created_at"],
  blob_use: ["user_id", "event_id", "blob"],
  node: ["user_id", "id", ...storedColumns(nodeForm)],
  operation: namesOf(auditRecordForm),
  /** The forgetting that erased an event, or a memory without one. */
  erasure: ["event_id", "forget_id", "erased_at", "actor"],
  edge: namesOf(edgeForm),
  /** Without its lease, which is only valid on one machine. `user_id` null: all owners; `event_id` null: recurring. */
  work: [
    ...[
      "user_id",
      "kind",
      "event_id",
      "lane",
      "status",
      "due",
      "attempts",
      "generation",
      "payload",
    ],
    ...["last_error", "updated_at"],
  ],
  receipt: ["user_id", "request_id", "created_at", "body"],
  receipt_node: ["user_id", "request_id", "node_id", "rank", "representation"],
  /** The vector of a memory's searched text: 32-bit floats, little endian. */
  vector: ["user_id", "node_id", "content_hash", "embedding"],
  setting: ["name", "value"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type RecordKind = keyof typeof RECORDS;
// SAFETY: the keys of the table.
export const RECORD_KINDS = Object.keys(RECORDS) as readonly RecordKind[];

/** What happens to a table when its store is moved into another one: it is copied, or left out for a reason. */
export type TableUse =
  /** `own`: derived columns, or keys internal to this store. */
  { readonly kind: RecordKind; readonly own: readonly string[] } | { readonly leftOut: string };

/** A table that is rebuilt from other records. */
export const derived = (from: string): TableUse => ({ leftOut: `derived from ${from}` });

/** Store metadata that is transferred, besides the manifest. */
export const COPIED_SETTINGS = ["owner", "forget_signing_key"] as const;

/** Work that records how far a job has got through an owner's memories; see `Organizing.walkPlace`. */
const WALK = "walk:";
/** Members of a walk's place that are node keys. */
const PLACES = ["seen", "upTo"] as const;

/**
 * Work with translated walk places: a store has its own node keys, so a record names the newest memory by id.
 * @param rename gets a key or an id; null: before the first
 */
export function withPlaces(
  { kind, payload, ...rest }: TransferRecord,
  rename: (place: Value) => Value,
): TransferRecord {
  if (typeof kind !== "string" || !kind.startsWith(WALK) || typeof payload !== "string") {
    return { kind: kind ?? null, payload: payload ?? null, ...rest };
  }
  const place: JsonObject = JSON.parse(payload);
  for (const name of PLACES) {
    const value = place[name];
    if (value === null || typeof value === "number" || typeof value === "string") {
      Object.assign(place, { [name]: rename(value) });
    }
  }
  return { kind, payload: JSON.stringify(place), ...rest };
}

/** A cell of bytes; undefined for any other cell. */
export function bytesOf(cell: Cell | undefined): Uint8Array {
  return cell instanceof Uint8Array ? cell : new Uint8Array();
}

/** The vector in a cell of 32-bit floats. */
export function vectorOf(cell: Cell | undefined): Float32Array {
  // A copy, because a view of floats must be aligned to four bytes.
  return new Float32Array(bytesOf(cell).slice().buffer);
}

/** A vector as a cell. Some stores do not support negative zero, which rounding can produce. */
export function vectorCell(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.map((value) => value + 0).buffer);
}

/** Maximum records of a page, and bytes or UTF-16 units after which it ends. */
export const PAGE_RECORDS = 500;
const PAGE_SIZE = 2_000_000;

/** Collects records into pages of bounded size. */
export class TransferPage {
  records: TransferRecord[] = [];
  #size = 0;

  add(record: TransferRecord): void {
    this.records.push(record);
    for (const cell of Object.values(record)) {
      if (cell !== null && typeof cell !== "number") this.#size += cell.length;
    }
  }

  get isFull(): boolean {
    return this.records.length >= PAGE_RECORDS || this.#size >= PAGE_SIZE;
  }
}
