import { parseMember } from "../../../domain/enums.ts";
import { eventForm, type MemoryEvent } from "../../../domain/event.ts";
import { type MemoryNode, nodeForm } from "../../../domain/node.ts";
import { LASTING_MEMBERS } from "../../../domain/search/change.ts";
import type { ObjectForm } from "../../../lib/form.ts";
import { literalMaker, type Part } from "../../../lib/literal.ts";
import type { Declared, View } from "../../../lib/view.ts";

type SnakeCase<S extends string> = S extends `${infer Head}${infer Rest}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeCase<Rest>}`
  : S;
type Cell<T> =
  | (undefined extends T ? null : never)
  | (NonNullable<T> extends number | boolean ? number : string);

/** A row with the members of a record in snake case: JSON and members of closed sets as text, booleans as 0 or 1. */
export type RowOf<T> = { readonly [K in keyof T & string as SnakeCase<K>]: Cell<T[K]> };

/** A row of `events` joined with its owner's name. */
export type EventRow = { readonly key: number } & RowOf<MemoryEvent>;
/** A row of `nodes` joined with its owner's name. */
export type NodeRow = { readonly key: number } & RowOf<MemoryNode>;

/** The column form of a member, whether or not it may be null. */
function columnForm(form: View<never>): View<never> {
  return form.shape.kind === "nullable" ? form.shape.of : form;
}

function fromColumn({ name, form }: Declared): Pick<Part, "make" | "inline"> {
  const { shape } = columnForm(form);
  switch (shape.kind) {
    case "member":
      return { make: (text: string) => parseMember(shape.members, text, name), inline: undefined };
    case "flag":
      return { make: () => undefined, inline: (value) => `${value} === 1` };
    case "list":
    case "anyObject":
      return { make: fromJsonColumn, inline: undefined };
    default:
      return {
        make: () => undefined,
        inline: (value) => (form.shape.kind === "nullable" ? `${value} ?? undefined` : value),
      };
  }
}

function fromJsonColumn(text: string | null): unknown {
  return text === null ? undefined : JSON.parse(text);
}

/** The record of a row written from one; closed sets are checked, since a later version may have more members. */
export function rowReader<T extends object>({ members }: ObjectForm<T>): (row: RowOf<T>) => T {
  return literalMaker(
    members.flatMap((member) => {
      const { key, name } = member;
      if (typeof key !== "string") return [];
      return { to: key, from: name, omits: undefined, ...fromColumn(member) };
    }),
  );
}

type Value = string | number | null;

function toColumn({ form }: Declared): Pick<Part, "make" | "inline"> {
  switch (columnForm(form).shape.kind) {
    case "flag":
      return { make: Number, inline: undefined };
    case "list":
    case "anyObject":
      return {
        make: (json) => (json === undefined ? null : JSON.stringify(json)),
        inline: undefined,
      };
    default:
      return { make: () => undefined, inline: (value) => `${value} ?? null` };
  }
}

/** The values of a record for its columns, or for some of them, in record order. */
export function rowWriter<T extends object>(
  { members }: ObjectForm<T>,
  isWritten: (name: string) => boolean = () => true,
): (value: T) => Value[] {
  const written = members.filter(({ name }) => isWritten(name));
  const toValues = literalMaker<T, Readonly<Record<string, Value>>>(
    written.map((member) => ({
      to: member.name,
      from: member.key,
      omits: undefined,
      ...toColumn(member),
    })),
  );
  return (value) => Object.values(toValues(value));
}

const storedColumns = ({ members }: Pick<ObjectForm<never>, "members">): readonly string[] =>
  members.map(({ name }) => name).filter((name) => name !== "id" && name !== "user_id");
const named = (table: string, names: readonly string[]): string =>
  names.map((name) => `${table}.${name}`).join(", ");

/** Columns of an EventRow; `e` is `events`, `o` is `owners`. */
export const EVENT_COLUMNS = `e.key, e.id, o.user_id, ${named("e", storedColumns(eventForm))}`;

export const toEvent = rowReader(eventForm);

const EVENT_STORED = storedColumns(eventForm);

/** Inserts an event. Parameters: id, owner, then `eventValues`. */
export const INSERT_EVENT = `INSERT INTO events (id, owner, ${EVENT_STORED.join(", ")})
  VALUES (?, ?, ${EVENT_STORED.map(() => "?").join(", ")})`;
export const eventValues = rowWriter(eventForm, (name) => EVENT_STORED.includes(name));

const NODE_STORED = storedColumns(nodeForm);

/** Columns of a NodeRow; `n` is `nodes`, `o` is `owners`. */
export const NODE_COLUMNS = `n.key, n.id, o.user_id, ${named("n", NODE_STORED)}`;

/** Inserts a node unless one with its id exists. Parameters: id, owner, then `nodeValues`. */
export const INSERT_NODE = `INSERT INTO nodes (id, owner, ${NODE_STORED.join(", ")})
  VALUES (?, ?, ${NODE_STORED.map(() => "?").join(", ")}) ON CONFLICT (id) DO NOTHING`;

const NODE_CHANGING = nodeForm.members
  .filter(({ key }) => !LASTING_MEMBERS.some((lasting) => lasting === key))
  .map(({ name }) => name);

/** Updates all changeable columns of a node. Parameters: `changingValues`, then its key. */
export const UPDATE_NODE = `UPDATE nodes SET ${NODE_CHANGING.map((name) => `${name} = ?`).join(", ")} WHERE key = ?`;

/**
 * Updates the columns of a node in which two records differ. An index over none of them is not touched, which is most of the cost.
 * @returns the statement, whose last parameter is the key, and its other parameters
 */
export function updateOfNode(
  before: MemoryNode,
  after: MemoryNode,
): { readonly sql: string; readonly values: readonly Value[] } {
  const old = changingValues(before);
  const values = changingValues(after);
  const places = values.flatMap((value, place) => (value === old[place] ? [] : [place]));
  // Nothing differs: the statement still has to be one.
  const written = places.length === 0 ? [0] : places;
  const set = written.map((place) => `${NODE_CHANGING[place]} = ?`).join(", ");
  return {
    sql: `UPDATE nodes SET ${set} WHERE key = ?`,
    values: written.map((place) => values[place] ?? null),
  };
}

export const changingValues = rowWriter(nodeForm, (name) => NODE_CHANGING.includes(name));

export const nodeValues = rowWriter(nodeForm, (name) => NODE_STORED.includes(name));

export const toNode = rowReader(nodeForm);
