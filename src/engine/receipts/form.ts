import { asInstant, type Instant, parseInstant } from "../../lib/instant.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import { parseUuid, type Uuid } from "../../lib/uuid.ts";

/**
 * How a value stands in canonical JSON, declared once for both directions: one value has one text, and `read` takes
 * nothing but what `json` gives. Both throw FormError.
 */
export type Form<T> = {
  /** The value as JSON, its keys in the order in which they are written. */
  readonly json: (value: T) => Json;
  /** @param path where the value stands, for messages */
  readonly read: (json: Json, path: string) => T;
  /** The value for which a member of this form is left out. */
  readonly omits?: { readonly value: T };
};

/** A value that has no place in canonical JSON, or JSON that is not of its form. The message names the place. */
export class FormError extends Error {
  override readonly name = "FormError";
}

function refuse(path: string, json: Json, wanted: string): FormError {
  const kind = json === null ? "null" : Array.isArray(json) ? "a list" : `a ${typeof json}`;
  return new FormError(`${path}: ${kind} instead of ${wanted}`);
}

function same<T extends Json>(value: T): T {
  return value;
}

export const text: Form<string> = {
  json: same,
  read: (json, path) => {
    if (typeof json !== "string") throw refuse(path, json, "text");
    return json;
  },
};

export const flag: Form<boolean> = {
  json: same,
  read: (json, path) => {
    if (typeof json !== "boolean") throw refuse(path, json, "true or false");
    return json;
  },
};

/** A finite number. */
export const decimal: Form<number> = {
  json: (value) => {
    if (!Number.isFinite(value)) throw new FormError(`${value} is not a JSON number`);
    return value;
  },
  read: (json, path) => {
    if (typeof json !== "number") throw refuse(path, json, "a number");
    return json;
  },
};

/** A whole number from 0. */
export const count: Form<number> = {
  json: (value) => {
    if (!isCount(value)) throw new FormError(`${value} is not a whole number from 0`);
    return value;
  },
  read: (json, path) => {
    if (!isCount(json)) throw refuse(path, json, "a whole number from 0");
    return json;
  },
};

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

export const instant: Form<Instant> = {
  json: same,
  read: (json, path) => {
    const parsed = typeof json === "string" ? parseInstant(json) : undefined;
    if (typeof parsed !== "object" || parsed.instant !== json) {
      throw refuse(path, json, "an instant");
    }
    return asInstant(json);
  },
};

export const uuid: Form<Uuid> = {
  json: same,
  read: (json, path) => {
    const parsed = typeof json === "string" ? parseUuid(json) : undefined;
    if (parsed === undefined || parsed !== json) throw refuse(path, json, "a UUID");
    return parsed;
  },
};

/** 64 lower-case hex digits. */
export const sha256: Form<string> = {
  json: same,
  read: (json, path) => {
    if (typeof json !== "string" || !/^[0-9a-f]{64}$/.test(json)) {
      throw refuse(path, json, "a SHA-256");
    }
    return json;
  },
};

/** A JSON object of whatever content, its keys in their order. */
export const anyObject: Form<JsonObject> = {
  json: same,
  read: (json, path) => asObject(json, path),
};

/** One of a closed set of texts. */
export function member<T extends string>(members: readonly T[]): Form<T> {
  return {
    json: same,
    read: (json, path) => {
      const found = members.find((candidate) => candidate === json);
      if (found === undefined) throw refuse(path, json, `one of ${members.join(", ")}`);
      return found;
    },
  };
}

/** One text, true, false or number. */
export function constant<T extends string | number | boolean>(value: T): Form<T> {
  return {
    json: () => value,
    read: (json, path) => {
      if (json !== value) throw refuse(path, json, String(value));
      return value;
    },
  };
}

/** Null while undefined. */
export function nullable<T>(form: Form<T>): Form<T | undefined> {
  return {
    json: (value) => (value === undefined ? null : form.json(value)),
    read: (json, path) => (json === null ? undefined : form.read(json, path)),
  };
}

/** Left out while undefined. */
export function omitted<T>(form: Form<T>): Form<T | undefined> {
  return {
    omits: { value: undefined },
    json: (value) => (value === undefined ? null : form.json(value)),
    read: form.read,
  };
}

/** True, or left out. */
export const trueOrOmitted: Form<boolean> = {
  omits: { value: false },
  json: same,
  read: (json, path) => constant(true).read(json, path),
};

export function list<T>(form: Form<T>): Form<readonly T[]> {
  return {
    json: (values) => values.map(form.json),
    read: (json, path) => {
      if (!Array.isArray(json)) throw refuse(path, json, "a list");
      return json.map((item, index) => form.read(item, `${path}[${index}]`));
    },
  };
}

/** A map in the order of its keys, none of which is a whole number: those have no order in an object. */
export function mapOf<T>(form: Form<T>): Form<ReadonlyMap<string, T>> {
  return {
    json: (map) => Object.fromEntries(Array.from(map, ([key, value]) => [key, form.json(value)])),
    read: (json, path) =>
      new Map(
        Object.entries(asObject(json, path)).map(([key, value]) => [
          key,
          form.read(value, `${path}.${key}`),
        ]),
      ),
  };
}

/** An object with free keys, in their order. */
export function dictionary<T>(form: Form<T>): Form<Readonly<Record<string, T>>> {
  return through(
    mapOf(form),
    (value) => new Map(Object.entries(value)),
    (map) => Object.fromEntries(map),
  );
}

/** The members of an object in the order of their declaration, camel case here and snake case there. */
export type Members<T> = { readonly [K in keyof T]-?: Form<T[K]> };

/** An object with exactly these members. */
export function object<T extends object>(members: Members<T>): Form<T> {
  // SAFETY: Object.entries forgets which form belongs to which key; every use below reads key and form of one entry.
  const entries = Object.entries(members) as [keyof T & string, Form<T[keyof T]>][];
  const declared = entries.map(([key, form]) => ({ key, form, name: snakeCase(key) }));
  const names = new Set(declared.map(({ name }) => name));
  return {
    json: (value) => {
      const members: Record<string, Json> = {};
      for (const { key, form, name } of declared) {
        const inner = value[key];
        if (form.omits === undefined || form.omits.value !== inner)
          members[name] = form.json(inner);
      }
      return members;
    },
    read: (json, path) => {
      const given = asObject(json, path);
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

/**
 * The same form, written by a literal instead of member by member: several times faster, for what stands in a receipt by
 * the hundred. The literal has the members of the form in their order.
 */
export function byLiteral<T>(form: Form<T>, json: Form<T>["json"]): Form<T> {
  return { ...form, json };
}

/** A form of one type told through the form of another. */
export function through<T, W>(
  form: Form<W>,
  to: (value: T) => W,
  from: (wire: W, path: string) => T,
): Form<T> {
  return {
    json: (value) => form.json(to(value)),
    read: (json, path) => from(form.read(json, path), path),
  };
}

/** The same form for an object that many others hold, one after the other. */
export function repeated<T extends object>(form: Form<T>): Form<T> {
  let last: { readonly value: WeakRef<T>; readonly json: Json } | undefined;
  return {
    json: (value) => {
      if (last?.value.deref() !== value)
        last = { value: new WeakRef(value), json: form.json(value) };
      return last.json;
    },
    read: form.read,
  };
}

function asObject(json: Json, path: string): JsonObject {
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    throw refuse(path, json, "an object");
  }
  // SAFETY: what is neither null, nor a list, nor plain is an object; Array.isArray does not narrow readonly lists.
  return json as JsonObject;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
