import { type Json, type JsonObject, stringEnd } from "./json.ts";

export type AnswerObject = {
  readonly json: JsonObject;
  readonly ambiguous: ReadonlySet<JsonObject>;
};

/** Objects around the one that was asked for, as in `{"result": {...}}`. */
const MAX_ENVELOPES = 3;
/** Objects beside each other; more of them are no answer. */
const MAX_OBJECTS = 16;
/** Some servers leave out the first tag of thoughts. */
const THOUGHTS_END = /<\/think(?:ing)?>/i;
const THOUGHTS = /<think(?:ing)?>/i;

/** An answer without what a model thought before it, which local servers leave there. */
export function withoutThoughts(answer: string): string {
  return answer.split(THOUGHTS_END).at(-1) ?? "";
}

/**
 * The objects that an answer holds side by side, with whatever is said around them: thoughts, prose, code fences, a byte order mark.
 * None if one of them was cut off, for then its parts would pass for the whole.
 */
export function objectsIn(answer: string): readonly AnswerObject[] {
  const text = answer.replace(/^\ufeff/, "");
  const whole = objectOf(readJson(text));
  if (whole !== undefined) return [whole];
  const said = withoutThoughts(text);
  const objects: AnswerObject[] = [];
  let from = said.indexOf("{");
  // Thoughts without an end: what follows them never came.
  if (THOUGHTS.test(said.slice(0, Math.max(0, from)))) return [];
  while (from !== -1) {
    const to = endOf(said, from);
    if (to === undefined || objects.length === MAX_OBJECTS) return [];
    const object = objectOf(readJson(said.slice(from, to)));
    if (object !== undefined) objects.push(object);
    from = said.indexOf("{", to);
  }
  return objects;
}

/**
 * What an answer says, of the one object in it that can be read, be it in an envelope.
 * @param read undefined for an object of another form
 * @returns undefined if there is none, or several that differ
 */
export function readAnswer<T>(
  answer: string,
  read: (object: AnswerObject) => T | undefined,
): T | undefined {
  const found = new Map<string, T>();
  for (const object of objectsIn(answer)) {
    for (const { value, json } of readEnveloped(object, read, MAX_ENVELOPES)) {
      found.set(JSON.stringify(json), value);
    }
  }
  return found.size === 1 ? [...found.values()][0] : undefined;
}

function readEnveloped<T>(
  { json, ambiguous }: AnswerObject,
  read: (object: AnswerObject) => T | undefined,
  depth: number,
): readonly { readonly value: T; readonly json: JsonObject }[] {
  const value = read({ json, ambiguous });
  if (value !== undefined) return [{ value, json }];
  if (depth === 0 || ambiguous.has(json)) return [];
  return Object.values(json).flatMap((inner) =>
    isObject(inner) ? readEnveloped({ json: inner, ambiguous }, read, depth - 1) : [],
  );
}

/** Where the object that begins at a place ends; undefined if it is cut off. */
function endOf(text: string, from: number): number | undefined {
  let depth = 0;
  const marks = /["{}]/g;
  marks.lastIndex = from;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    if (mark[0] === '"') marks.lastIndex = stringEnd(text, mark.index);
    else depth += mark[0] === "{" ? 1 : -1;
    if (depth === 0) return marks.lastIndex;
  }
  return undefined;
}

function objectOf(read: ReadJson | undefined): AnswerObject | undefined {
  return read !== undefined && isObject(read.json) ? { ...read, json: read.json } : undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a text holds as JSON. */
type ReadJson = {
  readonly json: Json;
  /** Objects in it that have a key twice, so that it is unclear which value was meant. */
  readonly ambiguous: ReadonlySet<JsonObject>;
};

/** Nesting of lists and objects. */
const MAX_DEPTH = 64;

const LEAF = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const GAP = /[ \t\n\r]*/y;

/**
 * Reads foreign JSON. `JSON.parse` silently keeps the last of two equal keys; this reports the object.
 * @returns undefined for what is not JSON: `NaN`, a text that was cut off, anything after the value, more than 64 levels
 */
export function readJson(text: string): ReadJson | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  const reader = new Reader(text);
  const json = reader.value(0);
  return json === undefined ? undefined : { json, ambiguous: reader.ambiguous };
}

/** Reads a text that is known to be JSON. */
class Reader {
  readonly ambiguous = new Set<JsonObject>();
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** @returns undefined beyond the depth */
  value(depth: number): Json | undefined {
    if (depth > MAX_DEPTH) return undefined;
    this.#skip(GAP);
    const first = this.#text[this.#at];
    if (first === "{") return this.#object(depth);
    if (first === "[") return this.#list(depth);
    // SAFETY: the whole text is JSON, so a leaf of it is.
    return JSON.parse(first === '"' ? this.#string() : this.#skip(LEAF)) as Json;
  }

  #string(): string {
    const from = this.#at;
    this.#at = stringEnd(this.#text, from);
    return this.#text.slice(from, this.#at);
  }

  #object(depth: number): JsonObject | undefined {
    const members: [string, Json][] = [];
    const keys = new Set<string>();
    while (this.#next("}")) {
      const key: string = JSON.parse(this.#string());
      this.#skip(GAP);
      this.#at += 1;
      const inner = this.value(depth + 1);
      if (inner === undefined) return undefined;
      members.push([key, inner]);
      keys.add(key);
    }
    const object = Object.fromEntries(members);
    if (keys.size < members.length) this.ambiguous.add(object);
    return object;
  }

  #list(depth: number): Json[] | undefined {
    const items: Json[] = [];
    while (this.#next("]")) {
      const inner = this.value(depth + 1);
      if (inner === undefined) return undefined;
      items.push(inner);
    }
    return items;
  }

  /** Passes the bracket or comma before a member. @returns false at the end, which it passes too */
  #next(end: "}" | "]"): boolean {
    this.#skip(GAP);
    const isEnd = this.#text[this.#at] === end;
    // The first member follows its bracket, every other one a comma.
    this.#at += 1;
    if (isEnd) return false;
    this.#skip(GAP);
    if (this.#text[this.#at] !== end) return true;
    this.#at += 1;
    return false;
  }

  #skip(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }
}

const BRACKET = 0x5b;
const BRACE = 0x7b;

/**
 * How many lists and objects a piece of JSON opens, those within texts included: as objects they take up to a hundred times the bytes
 * that they have as text.
 */
export function openingsIn(piece: Uint8Array): number {
  let openings = 0;
  for (const byte of piece) if (byte === BRACKET || byte === BRACE) openings += 1;
  return openings;
}
