import { snakeCase } from "./case.ts";
import type { Json, JsonObject } from "./json.ts";

/** What is told about a form to people and to programs that read schemas. */
export type Notes = {
  /** The name of the shape in documents. */
  readonly id?: string;
  readonly description?: string;
};

/** What JSON of a form looks like, for those who derive something else from it: a schema, a row of a table. */
export type Shape =
  | { readonly kind: "text" | "flag" | "number" | "nonNegative" | "unit" | "count" | "integer" }
  | { readonly kind: "instant" | "uuid" | "sha256" | "json" | "anyObject" | "decimal" | "null" }
  /** No JSON: the answer is made of them. */
  | { readonly kind: "bytes" }
  | { readonly kind: "member"; readonly members: readonly string[] }
  | { readonly kind: "constants"; readonly values: readonly (string | number | boolean)[] }
  | { readonly kind: "nullable" | "omitted" | "dictionary"; readonly of: View<never> }
  | { readonly kind: "list"; readonly of: View<never>; readonly max: number | undefined }
  | { readonly kind: "object"; readonly members: readonly Declared[] };

/** A member of an object: its name in JSON, and what it tells: a member of the value, or what a function gets of it. */
export type Declared = {
  readonly name: string;
  readonly key: string | ((value: never) => unknown);
  readonly form: View<never>;
};

/** How a value is told as JSON. */
export type View<T> = {
  /** The value as JSON, its keys in the order in which they are written. It may share lists and objects with the value. */
  readonly json: (value: T) => Json;
  readonly shape: Shape;
  /** The value for which a member of this form is left out. */
  readonly omits?: { readonly value: unknown };
  readonly notes?: Notes;
};

/** An object whose members are known one by one. */
export type ObjectView<T> = {
  readonly json: (value: T) => JsonObject;
  readonly members: readonly Declared[];
} & View<T>;

/** A member that is told of the whole value instead of its member of the same name. */
export type Told<T> = { readonly form: View<never>; readonly get: (value: T) => unknown };

/** @param get what the form tells */
export function told<T, V>(form: View<V>, get: (value: T) => V): Told<T> {
  return { form, get };
}

type ViewMembers<T, M> = {
  readonly [K in keyof M]: K extends keyof T ? View<T[K]> | Told<T> : Told<T>;
};

/** An object of which callers see these members: those of the value by their names, and what is told of it beside them. */
export function view<T>(): <const M extends ViewMembers<T, M>>(members: M) => ObjectView<T> {
  return (members) => {
    const declared = Object.entries<View<never> | Told<never>>(members).map(([key, member]) => ({
      name: snakeCase(key),
      ...("get" in member ? { key: member.get, form: member.form } : { key, form: member }),
    }));
    return objectView<T>(declared);
  };
}

function objectView<T>(declared: readonly Declared[]): ObjectView<T> {
  return {
    json: writerOf<T>(declared),
    shape: { kind: "object", members: declared },
    members: declared,
  };
}

/** Writes the members of a value as an object. */
export function writerOf<T>(declared: readonly Declared[]): (value: T) => JsonObject {
  return (value) => {
    const made: Record<string, Json> = {};
    for (const { key, name, form } of declared) {
      const given = memberOf(value, key);
      if (form.omits === undefined || given !== form.omits.value) made[name] = form.json(given);
    }
    return made;
  };
}

/** What a declared member tells of a value. */
function memberOf(value: unknown, key: Declared["key"]): never {
  // SAFETY: a declaration has the form of what its key gets.
  return (
    typeof key === "string" ? (value as Record<string, never>)[key] : key(value as never)
  ) as never;
}

/** The same form with what is told about it. */
export function noted<F extends View<never>>(form: F, notes: Notes): F {
  return { ...form, notes };
}

/** The same form where its documents promise less: JSON of the form is JSON of the other one, too. */
export function shownAs<F extends View<never>>(form: F, { shape }: View<never>): F {
  return { ...form, shape };
}

/** The values that a form is of. */
export type ValueOf<F> = F extends View<infer T> ? Readonly<T> : never;
