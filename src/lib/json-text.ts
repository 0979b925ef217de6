import { stringEnd } from "./doubled-name.ts";
import type { Json, JsonObject } from "./json.ts";

/** What a text holds as JSON. */
export type ReadJson = {
  readonly json: Json;
  /** Objects in it that have a key twice, so that nobody knows which value was meant. */
  readonly ambiguous: ReadonlySet<JsonObject>;
};

/** Nesting of lists and objects. */
const MAX_DEPTH = 64;

const LEAF = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const GAP = /[ \t\n\r]*/y;

/**
 * Reads JSON that somebody else wrote. `JSON.parse` keeps the last of two equal keys without a word; this names the object.
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
