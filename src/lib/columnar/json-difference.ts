import type { Json, JsonObject } from "../json.ts";
import type { BitReader, BitWriter } from "./bits.ts";

const SAME = 0;
const ABSENT = 1;
const MEMBERS = 2;
const OTHER = 3;

/**
 * Writes JSON as its difference from a pattern that reader and writer have. An object whose keys are among those of the pattern,
 * in the same order, is written member by member; any other difference as JSON text.
 */
export function writeDifference(out: BitWriter, json: Json | undefined, pattern: Json): void {
  if (json === undefined) out.bits(ABSENT, 2);
  else if (isSame(json, pattern)) out.bits(SAME, 2);
  else if (isObject(json) && isObject(pattern) && isWithin(json, pattern)) {
    out.bits(MEMBERS, 2);
    for (const [key, inner] of Object.entries(pattern)) writeDifference(out, json[key], inner);
  } else {
    out.bits(OTHER, 2);
    out.text(JSON.stringify(json));
  }
}

export function readDifference(from: BitReader, pattern: Json): Json | undefined {
  const kind = from.bits(2);
  if (kind === ABSENT) return undefined;
  if (kind === SAME) return pattern;
  if (kind === OTHER) return JSON.parse(from.text());
  if (!isObject(pattern)) throw new RangeError("members of something that has none");
  const members: Record<string, Json> = {};
  for (const [key, inner] of Object.entries(pattern)) {
    const json = readDifference(from, inner);
    if (json !== undefined) members[key] = json;
  }
  return members;
}

/** Whether two values have the same text. */
function isSame(one: Json, other: Json | undefined): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) {
    return false;
  }
  const keys = Object.keys(one);
  const others = Object.keys(other);
  return (
    Array.isArray(one) === Array.isArray(other) &&
    keys.length === others.length &&
    keys.every(
      (key, index) => key === others[index] && isSame(member(one, key), member(other, key)),
    )
  );
}

function member(json: Json, key: string): Json {
  return Reflect.get(Object(json), key);
}

function isObject(json: Json): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

function isWithin(json: JsonObject, pattern: JsonObject): boolean {
  const keys = Object.keys(json);
  const known = Object.keys(pattern).filter((key) => Object.hasOwn(json, key));
  return keys.length === known.length && keys.every((key, index) => key === known[index]);
}
