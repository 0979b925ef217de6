import { type Instant, parseInstant } from "./instant.ts";
import { isJsonObject, type Json, type JsonObject } from "./json.ts";
import { snakeCase } from "./text.ts";
import { parseUuid, type Uuid } from "./uuid.ts";

/** What documentation and schemas say about a form. */
type Notes = {
  /** The name of the shape in documents. */
  readonly id?: string;
  readonly description?: string;
};

/** The JSON of a form, for deriving something else: a schema, a table row. */
export type Shape =
  | { readonly kind: "text" | "flag" | "number" | "nonNegative" | "unit" | "count" | "integer" }
  | { readonly kind: "instant" | "uuid" | "sha256" | "json" | "anyObject" | "decimal" | "null" }
  /** Binary: the answer consists of the bytes. */
  | { readonly kind: "bytes" }
  | { readonly kind: "member"; readonly members: readonly string[] }
  | { readonly kind: "constants"; readonly values: readonly (string | number | boolean)[] }
  | { readonly kind: "nullable" | "omitted" | "dictionary"; readonly of: View<never> }
  | { readonly kind: "list"; readonly of: View<never>; readonly max: number | undefined }
  | { readonly kind: "object"; readonly members: readonly Declared[] };

/** A member of an object: its JSON name, and its value: a member, or the result of a function. */
export type Declared = {
  readonly name: string;
  readonly key: string | ((value: never) => unknown);
  readonly form: View<never>;
};

/** How a value is serialised as JSON. */
export type View<T> = {
  /** The value as JSON, with its keys in writing order. It may share lists and objects with the value. */
  readonly json: (value: T) => Json;
  readonly shape: Shape;
  /** The value for which a member of this form is omitted. */
  readonly omits?: { readonly value: unknown };
  readonly notes?: Notes;
};

/** An object with a fixed set of members. */
export type ObjectView<T> = {
  readonly json: (value: T) => JsonObject;
  readonly members: readonly Declared[];
} & View<T>;

/** A member that is computed from the whole value, not from its member of the same name. */
type Told<T> = { readonly form: View<never>; readonly get: (value: T) => unknown };

/** @param get the value to serialise */
export function told<T, V>(form: View<V>, get: (value: T) => V): Told<T> {
  return { form, get };
}

type ViewMembers<T, M> = {
  readonly [K in keyof M]: K extends keyof T ? View<T[K]> | Told<T> : Told<T>;
};

/** An object with these members: those of the value by their names, and computed ones. */
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

function writerOf<T>(declared: readonly Declared[]): (value: T) => JsonObject {
  return (value) => {
    const made: Record<string, Json> = {};
    for (const { key, name, form } of declared) {
      const given = memberOf(value, key);
      if (form.omits === undefined || given !== form.omits.value) made[name] = form.json(given);
    }
    return made;
  };
}

function memberOf(value: unknown, key: Declared["key"]): never {
  // SAFETY: a declaration has the form of what its key gets.
  return (
    typeof key === "string" ? (value as Record<string, never>)[key] : key(value as never)
  ) as never;
}

/** The same form with its documentation. */
export function noted<F extends View<never>>(form: F, notes: Notes): F {
  return { ...form, notes };
}

/** The same form with a looser documented type: JSON of this form is also JSON of the other. */
export function shownAs<F extends View<never>>(form: F, { shape }: View<never>): F {
  return { ...form, shape };
}

export type ValueOf<F> = F extends View<infer T> ? Readonly<T> : never;

/**
 * The canonical JSON of a value, declared once for both directions: one value has one text, and `read` accepts only what `json` produces.
 * Both throw FormError.
 */
export type Form<T> = View<T> & {
  /** @param path of the value, for messages */
  readonly read: (json: Json, path: string) => T;
  readonly omits?: { readonly value: T };
};

/** A value without canonical JSON, or JSON that does not match its form. The message names the path. */
export class FormError extends Error {
  override readonly name = "FormError";
}

function refuse(path: string, json: Json, wanted: string): FormError {
  const kind = json === null ? "null" : Array.isArray(json) ? "a list" : `a ${typeof json}`;
  return new FormError(`${path}: ${kind} instead of ${wanted}`);
}

/** The same in memory and in JSON. */
const AS_IS = {
  json: <T extends Json>(value: T): T => value,
};

/** A value that is the same in memory and in JSON. @param wanted completes "instead of" */
function plain<T extends Json>(
  shape: Shape,
  is: (json: Json) => json is T,
  wanted: string,
): Form<T> {
  return {
    ...AS_IS,
    shape,
    read: (json, path) => {
      if (!is(json)) throw refuse(path, json, wanted);
      return json;
    },
  };
}

const isText = (json: Json): json is string => typeof json === "string";
const isNumber = (json: Json): json is number => typeof json === "number";

export const text: Form<string> = plain({ kind: "text" }, isText, "text");
export const flag: Form<boolean> = plain(
  { kind: "flag" },
  (json) => typeof json === "boolean",
  "true or false",
);

/** A number that has already been checked. */
export const number: Form<number> = plain({ kind: "number" }, isNumber, "a number");

/** A finite number. */
export const decimal: Form<number> = {
  ...number,
  json: (value) => {
    if (!Number.isFinite(value)) throw new FormError(`${value} is not a JSON number`);
    return value;
  },
};

/** Like `count`, already checked. */
export const natural: Form<number> = { ...number, shape: { kind: "count" } };

/** A whole number from 0. */
export const count: Form<number> = {
  ...plain({ kind: "count" }, isCount, "a whole number from 0"),
  json: (value) => {
    if (!isCount(value)) throw new FormError(`${value} is not a whole number from 0`);
    return value;
  },
};

/** As `number`, from 0. */
export const nonNegative: Form<number> = { ...number, shape: { kind: "nonNegative" } };

/** As `number`, 0 to 1. */
export const unit: Form<number> = { ...number, shape: { kind: "unit" } };

/** As `number`, whole. */
export const integer: Form<number> = { ...number, shape: { kind: "integer" } };

/** A decimal number as exact text. */
export const decimalText: Form<string> = { ...text, shape: { kind: "decimal" } };

export const nothing: View<undefined | null> = {
  json: () => null,
  shape: { kind: "null" },
};

/** Whatever JSON holds. */
export const anyJson: View<Json> = { ...AS_IS, shape: { kind: "json" } };

function isCount(value: Json): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

export const instant: Form<Instant> = plain(
  { kind: "instant" },
  (json): json is Instant => {
    const parsed = isText(json) ? parseInstant(json) : undefined;
    return typeof parsed === "object" && parsed.instant === json;
  },
  "an instant",
);

export const uuid: Form<Uuid> = plain(
  { kind: "uuid" },
  (json): json is Uuid => isText(json) && parseUuid(json) === json,
  "a UUID",
);

/** 64 lower-case hex digits. */
export const sha256: Form<string> = plain(
  { kind: "sha256" },
  (json): json is string => isText(json) && /^[0-9a-f]{64}$/.test(json),
  "a SHA-256",
);

/** Any JSON object, its keys in order. */
export const anyObject: Form<JsonObject> = plain({ kind: "anyObject" }, isJsonObject, "an object");

/** One of a closed set of texts. */
export function member<const T extends string>(members: readonly T[]): Form<T> {
  const is = (json: Json): json is T => members.some((one) => one === json);
  return plain({ kind: "member", members }, is, `one of ${members.join(", ")}`);
}

/** One text, true, false or number. */
export function constant<T extends string | number | boolean>(value: T): Form<T> {
  return oneOf(value);
}

/** One of several texts, booleans or numbers. */
export function oneOf<const T extends string | number | boolean>(...values: readonly T[]): Form<T> {
  const is = (json: Json): json is T => values.some((value) => value === json);
  return plain({ kind: "constants", values }, is, values.join(" or "));
}

/** Null while undefined. */
export function nullable<T>(form: Form<T>): Form<T | undefined>;
export function nullable<T>(form: View<T>): View<T | undefined>;
export function nullable<T>(form: View<T> & Partial<Form<T>>): View<T | undefined> {
  const { read } = form;
  return {
    json: (value) => (value === undefined ? null : form.json(value)),
    shape: { kind: "nullable", of: form },
    ...(read && {
      read: (json: Json, path: string) => (json === null ? undefined : read(json, path)),
    }),
  };
}

/** Omitted while undefined. */
export function omitted<T>(form: Form<T>): Form<T | undefined>;
export function omitted<T>(form: View<T>): View<T | undefined>;
export function omitted<T>(form: View<T>): View<T | undefined> {
  const { notes: _notes, ...rest } = form;
  return {
    ...rest,
    omits: { value: undefined },
    json: (value) => (value === undefined ? null : form.json(value)),
    shape: { kind: "omitted", of: form },
  };
}

/** True, or left out. */
export const trueOrOmitted: Form<boolean> = {
  ...constant<boolean>(true),
  omits: { value: false },
  shape: { kind: "omitted", of: constant(true) },
};

/** @param max maximum members, as in the schema */
export function list<T>(form: Form<T>, max?: number): Form<readonly T[]>;
export function list<T>(form: View<T>, max?: number): View<readonly T[]>;
export function list<T>(form: View<T> & Partial<Form<T>>, max?: number): View<readonly T[]> {
  const { read } = form;
  return {
    // SAFETY: what is serialised unchanged is JSON.
    ...(isAsIs(form)
      ? (AS_IS as unknown as Pick<View<readonly T[]>, "json">)
      : { json: (values: readonly T[]) => values.map((value) => form.json(value)) }),
    shape: { kind: "list", of: form, max },
    ...(read && {
      read: (json: Json, path: string) => {
        if (!Array.isArray(json)) throw refuse(path, json, "a list");
        return json.map((item, index) => read(item, `${path}[${index}]`));
      },
    }),
  };
}

/** A map in key order; keys must not be whole numbers, which objects reorder. */
export function mapOf<T>(form: Form<T>): Form<ReadonlyMap<string, T>>;
export function mapOf<T>(form: View<T>): View<ReadonlyMap<string, T>>;
export function mapOf<T>(form: View<T> & Partial<Form<T>>): View<ReadonlyMap<string, T>> {
  const { read } = form;
  return {
    json: (map) => Object.fromEntries(Array.from(map, ([key, value]) => [key, form.json(value)])),
    shape: { kind: "dictionary", of: form },
    ...(read && {
      read: (json: Json, path: string) => {
        const entries = Object.entries(anyObject.read(json, path));
        return new Map(entries.map(([key, value]) => [key, read(value, `${path}.${key}`)]));
      },
    }),
  };
}

/** An object with arbitrary keys, in order. */
export function dictionary<T>(form: Form<T>): Form<Readonly<Record<string, T>>> {
  const told = through(
    mapOf(form),
    (value: Readonly<Record<string, T>>) => new Map(Object.entries(value)),
    (map) => Object.fromEntries(map),
  );
  // SAFETY: what is serialised unchanged is JSON.
  return isAsIs(form)
    ? { ...told, ...(AS_IS as unknown as Pick<Form<Record<string, T>>, "json">) }
    : told;
}

function isAsIs({ json }: View<never>): boolean {
  return json === AS_IS.json;
}

/** The members of an object in declaration order, camel case in memory and snake case in JSON. */
type Members<T> = { readonly [K in keyof T]-?: Form<T[K]> };

/** An object with a fixed set of members. */
export type ObjectForm<T> = ObjectView<T> & Form<T>;

/** An object with exactly these members. */
export function object<T extends object>(members: Members<T>): ObjectForm<T> {
  // SAFETY: Object.entries loses the link between key and form; every use below reads both from one entry.
  const entries = Object.entries(members) as [keyof T & string, Form<T[keyof T]>][];
  const declared = entries.map(([key, form]) => ({ key, form, name: snakeCase(key) }));
  const names = new Set(declared.map(({ name }) => name));
  return {
    json: writerOf<T>(declared),
    shape: { kind: "object", members: declared },
    members: declared,
    read: (json, path) => {
      const given = anyObject.read(json, path);
      for (const name of Object.keys(given)) {
        if (!names.has(name)) throw new FormError(`${path}.${name}: is not a member of this form`);
      }
      const values = declared.map(({ key, form, name }) => {
        const inner = given[name];
        if (inner !== undefined) return [key, form.read(inner, `${path}.${name}`)];
        if (form.omits === undefined) throw new FormError(`${path}.${name}: is missing`);
        return [key, form.omits.value];
      });
      // SAFETY: every declared member was read with its own form.
      return Object.fromEntries(values) as T;
    },
  };
}

/** An object with exactly these members, and its documentation. */
export function named<T extends object>(id: string, members: Members<T>): ObjectForm<T>;
export function named<T extends object>(
  id: string,
  description: string,
  members: Members<T>,
): ObjectForm<T>;
export function named<T extends object>(
  id: string,
  ...rest: readonly [Members<T>] | readonly [string, Members<T>]
): ObjectForm<T> {
  return rest.length === 1
    ? noted(object<T>(rest[0]), { id })
    : noted(object<T>(rest[1]), { id, description: rest[0] });
}

/** A form of one type, serialised by the form of another. */
export function through<T, W>(
  form: Form<W>,
  to: (value: T) => W,
  from: (wire: W, path: string) => T,
): Form<T> {
  const { json, read, shape, notes } = form;
  return {
    json: (value) => json(to(value)),
    shape,
    read: (given, path) => from(read(given, path), path),
    ...(notes && { notes }),
  };
}

/** The same form, caching the object for consecutive values that share it. */
export function repeated<T extends object>(form: Form<T>): Form<T> {
  let last: { readonly value: WeakRef<T>; readonly json: Json } | undefined;
  return {
    ...form,
    json: (value) => {
      if (last?.value.deref() !== value)
        last = { value: new WeakRef(value), json: form.json(value) };
      return last.json;
    },
  };
}
