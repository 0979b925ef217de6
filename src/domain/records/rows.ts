import type { ObjectForm } from "../../lib/form.ts";
import { literalMaker, type Part } from "../../lib/literal.ts";
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

/** What a column holds. */
export type Value = string | number | null;

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

/** The columns of a record in record order, but for its id and its owner. */
export const storedColumns = ({ members }: Pick<ObjectForm<never>, "members">): readonly string[] =>
  members.map(({ name }) => name).filter((name) => name !== "id" && name !== "user_id");
/** Columns of a table, as SQL. */
export const named = (table: string, names: readonly string[]): string =>
  names.map((name) => `${table}.${name}`).join(", ");
