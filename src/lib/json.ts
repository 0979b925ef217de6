import { compareCodePoints } from "./text.ts";

/** What JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

/** Where a value stops being JSON, as a dotted path below the root, and why. */
type JsonProblem = { readonly path: string; readonly reason: string };

/** Nesting depth of lists and objects; far below the limit of recursive readers, SQLite's included. */
const MAX_DEPTH = 500;

/** A number of a JSON text that a double cannot represent as written: `copyJson` rejects it by name. */
export class InexactNumber {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
  /** As shown in messages. */
  toJSON(): string {
    return this.source;
  }
}

/** Only texts with this can have inexact numbers; nearly no text has it, and the rest is parsed three times as fast. */
const MAYBE_INEXACT = /\d[\d.]{15}|\d[eE][-+]?\d/;

/** Significant digits that every double preserves, as other languages write them. */
const MAX_DIGITS = 17;

/**
 * Reads JSON like `JSON.parse`, but returns an `InexactNumber` where that would silently alter a number: an integer beyond double
 * precision, more than 17 significant digits, or an underflow to 0. Rejects duplicate keys.
 * @param inexact converts such a number, or throws
 * @throws SyntaxError
 */
export function parseJson(
  text: string,
  inexact: (source: string) => unknown = (source) => new InexactNumber(source),
): unknown {
  const value = parseExactly(text, inexact);
  const doubled = doubledName(text);
  if (doubled === undefined) return value;
  throw new DoubledName(`${JSON.stringify(doubled.slice(0, 80))} stands twice in one object`);
}

/** The error for an object with a duplicate key. */
export class DoubledName extends SyntaxError {}

function parseExactly(text: string, inexact: (source: string) => unknown): unknown {
  if (!MAYBE_INEXACT.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
    typeof value === "number" && context?.source !== undefined && !isExact(value, context.source)
      ? inexact(context.source)
      : value,
  );
}

function isExact(value: number, source: string): boolean {
  const read = decimalOf(source);
  if (read.digits === "") return true;
  // Infinity is rejected as such.
  if (!Number.isFinite(value)) return true;
  const kept = decimalOf(String(value));
  if (kept.digits === read.digits && kept.power === read.power) return true;
  return value !== 0 && read.power < 0 && read.digits.length <= MAX_DIGITS;
}

/** A number is its significant digits times a power of ten. */
function decimalOf(text: string): { readonly digits: string; readonly power: number } {
  const {
    whole = "",
    part = "",
    power = "0",
  } = /^-?(?<whole>\d+)(?:\.(?<part>\d+))?(?:[eE](?<power>[-+]?\d+))?$/.exec(text)?.groups ?? {};
  const all = `${whole}${part}`;
  const digits = all.replace(/0+$/, "");
  const zeros = all.length - digits.length;
  return { digits: digits.replace(/^0+/, ""), power: Number(power) - part.length + zeros };
}

/**
 * Copies a value as JSON at call time, so that later changes by the caller do not reach us. Rejects what JSON would silently alter: NaN,
 * infinities, numbers that `parseJson` found inexact, undefined members, holes in lists, functions, symbols, bigints, dates, cycles; and
 * nesting deeper than 500 levels. Negative zero becomes zero, as in JSON.
 * @returns the copy, or the first problem.
 */
export function copyJson(
  value: unknown,
): { readonly json: Json } | { readonly problem: JsonProblem } {
  const seen = new Set<object>();
  try {
    return { json: copy(value, "", seen) };
  } catch (error) {
    if (error instanceof NotJson) return { problem: { path: error.path, reason: error.message } };
    throw error;
  }
}

class NotJson extends Error {
  readonly path: string;
  constructor(path: string, reason: string) {
    super(reason);
    this.path = path;
  }
}

function copy(value: unknown, path: string, seen: Set<object>): Json {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      if (!Number.isFinite(value)) throw new NotJson(path, `${value} is not a JSON number`);
      return value === 0 ? 0 : value;
    case "object":
      return value === null ? null : copyContainer(value, path, seen);
    default:
      throw new NotJson(path, `a ${typeof value} is not a JSON value`);
  }
}

function copyContainer(value: object, path: string, seen: Set<object>): Json {
  if (seen.has(value)) throw new NotJson(path, "the value contains itself");
  if (seen.size >= MAX_DEPTH) {
    throw new NotJson("", `lists and objects are nested deeper than ${MAX_DEPTH} levels`);
  }
  seen.add(value);
  const result = Array.isArray(value)
    ? Array.from(value, (item, index) => copy(item, `${path}[${index}]`, seen))
    : copyObject(value, path, seen);
  seen.delete(value);
  return result;
}

function copyObject(value: object, path: string, seen: Set<object>): JsonObject {
  if (value instanceof InexactNumber) {
    throw new NotJson(
      path,
      `${value.source.slice(0, 40)} has more digits than a number of JSON keeps; write it as a text`,
    );
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new NotJson(
      path,
      `a ${prototype.constructor?.name ?? "special"} object is not a JSON value`,
    );
  }
  const entries = Object.entries(value).map(([key, member]) => [
    key,
    copy(member, path === "" ? key : `${path}.${key}`, seen),
  ]);
  return Object.fromEntries(entries);
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** Whether a JSON value is an object. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Keys that an object does not keep in insertion order. */
const UNORDERED = /^(?:\d|__proto__$)/;

const SURROGATE = /[\ud800-\udfff]/;

/** JSON with keys in code-point order and no whitespace: equal values give equal text. */
export function canonicalJson(value: Json): string {
  const ordered = inOrder(value);
  // One native call for the whole is twice as fast as one per member.
  return ordered === undefined ? textOf(value) : JSON.stringify(ordered);
}

/** The keys of an object in code-point order. */
function namesOf(value: object): readonly string[] {
  const names = Object.keys(value);
  // Without surrogates the native order, by UTF-16 units, is the same, and several times as fast.
  return names.sort(SURROGATE.test(names.join("")) ? compareCodePoints : undefined);
}

/** A copy with members in code-point order; undefined if an object cannot hold that order. */
function inOrder(value: Json): Json | undefined {
  if (value === null || typeof value !== "object") return value;
  if (isList(value)) {
    const items: Json[] = [];
    for (const item of value) {
      const ordered = inOrder(item);
      if (ordered === undefined) return undefined;
      items.push(ordered);
    }
    return items;
  }
  const members: Record<string, Json> = {};
  for (const key of namesOf(value)) {
    const ordered = UNORDERED.test(key) ? undefined : inOrder(value[key] ?? null);
    if (ordered === undefined) return undefined;
    members[key] = ordered;
  }
  return members;
}

function textOf(value: Json): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (isList(value)) return `[${value.map(textOf).join(",")}]`;
  const members = namesOf(value).map(
    (key) => `${JSON.stringify(key)}:${textOf(value[key] ?? null)}`,
  );
  return `{${members.join(",")}}`;
}

const COLON = /[ \t\n\r]*:/y;

/** The first duplicate key in a JSON text: readers differ in which value they take, and `JSON.parse` is silent. */
export function doubledName(text: string): string | undefined {
  return doubledNames(text).next().value?.name;
}

/** Every duplicate key, and the offset of the repetition. */
export function* doubledNames(
  text: string,
): Generator<{ readonly name: string; readonly at: number }, undefined> {
  const open: (Set<string> | undefined)[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === "{") open.push(new Set());
    else if (sign === "[") open.push(undefined);
    else if (sign === "}" || sign === "]") open.pop();
    if (sign !== '"') continue;
    const end = stringEnd(text, at);
    const name = nameIn(text, at, end);
    const names = open.at(-1);
    if (name !== undefined && names?.has(name) === true) yield { name, at };
    if (name !== undefined) names?.add(name);
    at = end - 1;
  }
}

/** The key in a string of a JSON text; undefined if the string is a value. */
function nameIn(text: string, from: number, end: number): string | undefined {
  COLON.lastIndex = end;
  if (!COLON.test(text)) return undefined;
  const written = text.slice(from + 1, end - 1);
  return written.includes("\\") ? JSON.parse(`"${written}"`) : written;
}

/**
 * The end of a JSON string, including its quotation mark; the end of the text if it is cut off. A regular expression would fail on
 * megabytes.
 * @param from offset of the opening quotation mark
 */
export function stringEnd(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at - 1;
    while (text[before] === "\\") before -= 1;
    if ((at - before) % 2 === 1) return at + 1;
  }
  return text.length;
}
