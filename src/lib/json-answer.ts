import { stringEnd } from "./doubled-name.ts";
import type { Json, JsonObject } from "./json.ts";
import { type ReadJson, readJson } from "./json-text.ts";

/** One JSON object of an answer. */
export type AnswerObject = {
  readonly json: JsonObject;
  /** As `ReadJson` has it. */
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
