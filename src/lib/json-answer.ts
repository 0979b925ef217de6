import { doubledNames, isJsonObject, type Json, type JsonObject, stringEnd } from "./json.ts";

/** Levels of wrapping around the requested object, as in `{"result": {...}}`. */
const MAX_ENVELOPES = 3;
/** Maximum sibling objects; more of them are not an answer. */
const MAX_OBJECTS = 16;
/** Some servers omit the opening tag of the model's reasoning. */
const THOUGHTS_END = /<\/think(?:ing)?>/i;
const THOUGHTS = /<think(?:ing)?>/i;

/** An answer without the model's reasoning, which local servers leave in front. */
export function withoutThoughts(answer: string): string {
  return answer.split(THOUGHTS_END).at(-1) ?? "";
}

/**
 * The top-level objects of an answer, ignoring anything around them: reasoning, prose, code fences, a byte order mark. None if one was cut
 * off, since its parts would pass for the whole.
 */
export function objectsIn(answer: string): readonly JsonObject[] {
  const text = answer.replace(/^\ufeff/, "");
  const whole = readJson(text);
  if (isJsonObject(whole)) return [whole];
  const said = withoutThoughts(text);
  const objects: JsonObject[] = [];
  let from = said.indexOf("{");
  // Reasoning without an end: the answer never came.
  if (THOUGHTS.test(said.slice(0, Math.max(0, from)))) return [];
  while (from !== -1) {
    const to = endOf(said, from);
    if (to === undefined || objects.length === MAX_OBJECTS) return [];
    const object = readJson(said.slice(from, to));
    if (isJsonObject(object)) objects.push(object);
    from = said.indexOf("{", to);
  }
  return objects;
}

/**
 * The content of the one readable object of an answer, wrapped or not.
 * @param read undefined for an object of another form
 * @returns undefined if there is none, or several that differ
 */
export function readAnswer<T>(
  answer: string,
  read: (object: JsonObject) => T | undefined,
): T | undefined {
  const found = new Map<string, T>();
  const look = (json: JsonObject, depth: number): void => {
    const value = read(json);
    if (value !== undefined) found.set(JSON.stringify(json), value);
    else if (depth > 0 && !isAmbiguous(json)) {
      for (const inner of Object.values(json)) if (isJsonObject(inner)) look(inner, depth - 1);
    }
  };
  for (const object of objectsIn(answer)) look(object, MAX_ENVELOPES);
  return found.size === 1 ? [...found.values()][0] : undefined;
}

/** The end of the object that begins at an offset; undefined if it is cut off. */
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

/** Nesting of lists and objects. */
const MAX_DEPTH = 64;
/** Marks objects with a duplicate key. */
const AMBIGUOUS = "svc:twice";

/** Whether an object had a duplicate key, so that the intended value is unclear. */
export function isAmbiguous(object: JsonObject): boolean {
  return object[AMBIGUOUS] === true;
}

/**
 * Reads foreign JSON. `JSON.parse` silently keeps the last of duplicate keys; here such an object is ambiguous.
 * @returns undefined for invalid JSON: `NaN`, a truncated text, anything after the value, more than 64 levels
 */
export function readJson(text: string): Json | undefined {
  let marked = "";
  let from = 0;
  try {
    for (const { at } of doubledNames(text)) {
      marked += `${text.slice(from, at)}"${AMBIGUOUS}":true,`;
      from = at;
    }
    const json: Json = JSON.parse(marked + text.slice(from));
    return isDeeper(json, MAX_DEPTH) ? undefined : json;
  } catch {
    return undefined;
  }
}

function isDeeper(json: Json, levels: number): boolean {
  if (typeof json !== "object" || json === null) return false;
  return levels === 0 || Object.values(json).some((inner) => isDeeper(inner, levels - 1));
}
