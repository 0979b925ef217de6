import type { ObjectForm } from "../../lib/form.ts";
import type { Declared, View } from "../../lib/view.ts";
import { parseMember } from "../enums.ts";

// How a record stands in a row of a relational store.

type SnakeCase<S extends string> = S extends `${infer Head}${infer Rest}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeCase<Rest>}`
  : S;
type Cell<T> =
  | (undefined extends T ? null : never)
  | (NonNullable<T> extends number | boolean ? number : string);

/** A row with the members of a record in snake case: JSON and members of closed sets as text, booleans as 0 or 1. */
export type RowOf<T> = { readonly [K in keyof T & string as SnakeCase<K>]: Cell<T[K]> };

/** The column form of a member, whether or not it may be null. */
function columnForm(form: View<never>): View<never> {
  return form.shape.kind === "nullable" ? form.shape.of : form;
}

/** Undefined: as it is, null aside. */
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

/** The record of a row written from one; closed sets are checked, since a later version may have more members. */
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

/** The columns of a record in record order, but for its id and its owner. */
export const storedColumns = ({ members }: Pick<ObjectForm<never>, "members">): readonly string[] =>
  members.map(({ name }) => name).filter((name) => name !== "id" && name !== "user_id");
/** Columns of a table, as SQL. */
export const named = (table: string, names: readonly string[]): string =>
  names.map((name) => `${table}.${name}`).join(", ");
