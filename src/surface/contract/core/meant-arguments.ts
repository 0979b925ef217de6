import type { z } from "zod";
import { isJsonObject, parseJson } from "../../../lib/json.ts";
import type { Wire } from "./request.ts";
import { parseWire } from "./wire-issues.ts";

/** The URI under which tools expose a memory. */
const NODE_URI = /^memory:\/\/nodes\/([^/?#]+)$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
/** Arguments that refer to memories, events or records by id. */
const NAMES_IDS = /^(?!user_id$|session_id$)(?:.*_)?ids?$|^supersedes$/;

/**
 * Reads a tool's arguments as clients send them. If an argument does not match its schema, a text that is its JSON is parsed (`"5"`,
 * `"[\"…\"]"`, `"{…}"`), nested ones too, a single entry stands for a list, a day for its beginning in UTC, and the URI of a memory for its id.
 * @throws SvcError invalid_argument
 */
export function readArguments(schema: z.ZodObject, args: unknown): Wire {
  const given = isJsonObject(args) ? withoutUris(args) : (args ?? {});
  const result = schema.safeParse(given);
  if (result.success && !Object.values(result.data).some(looksLikeList)) return result.data;
  const meant = isJsonObject(given) ? asMeant(schema, given) : given;
  return parseWire(schema, meant, "arguments");
}

/** A name of a closed set may be given alone or in a list; no such name begins like JSON. */
function looksLikeList(value: unknown): value is string {
  return typeof value === "string" && /^\s*\[\s*"/.test(value);
}

function asMeant(schema: z.ZodObject, args: Wire): Wire {
  const entries = Object.entries(args).map(([name, value]) => {
    const own = schema.shape[name];
    return [name, own === undefined ? value : meant(own, name, value)] as const;
  });
  return Object.fromEntries(entries);
}

/** The value that an argument represents; itself if that does not match the schema either. */
function meant(own: z.ZodType, name: string, value: unknown): unknown {
  const isTaken = own.safeParse(value).success;
  if (isTaken && !looksLikeList(value)) return value;
  if (typeof value !== "string") {
    const [only, ...others] = Array.isArray(value) ? value : [];
    const isOne = others.length === 0 && !Array.isArray(only);
    return readInside(own, value) ?? (isOne ? readInside(own, only) : value) ?? value;
  }
  // Some models write an empty text for an absent argument.
  if (value.trim() === "" && own.safeParse(undefined).success) return undefined;
  const day = DAY.test(value.trim()) ? [`${value.trim()}T00:00:00Z`] : [];
  const readings = [jsonOf(value), ...day, ...(isTaken ? [] : [[value]])];
  return (
    readings.map((one) => readInside(own, inIds(name, one))).find((one) => one !== undefined) ??
    value
  );
}

/** Successive interpretations of a value: a text of a list of entries with texts. */
const READINGS = 3;

/**
 * A value in which texts that do not match the schema are parsed as JSON, and single entries wrapped in lists; undefined if it still does
 * not match.
 */
function readInside(schema: z.ZodType, value: unknown, left = READINGS): unknown {
  const { error } = schema.safeParse(value);
  if (error === undefined) return value;
  if (left === 0) return undefined;
  const meant = error.issues.reduce(
    (read, issue) =>
      readAt(read, issue.path, issue.code === "invalid_type" && issue.expected === "array"),
    value,
  );
  return readInside(schema, meant, left - 1);
}

function readAt(
  value: unknown,
  [name, ...rest]: readonly PropertyKey[],
  isListWanted: boolean,
): unknown {
  if (name === undefined) {
    const read = typeof value === "string" ? (jsonOf(value) ?? value) : value;
    return isListWanted && !Array.isArray(read) ? [read] : read;
  }
  if (Array.isArray(value)) {
    return value.map((one, at) => (at === name ? readAt(one, rest, isListWanted) : one));
  }
  if (!isJsonObject(value) || typeof name !== "string" || !Object.hasOwn(value, name)) return value;
  return { ...value, [name]: readAt(value[name], rest, isListWanted) };
}

/** Undefined if not JSON. */
function jsonOf(text: string): unknown {
  try {
    // Clients in Python write `True`.
    return parseJson(/^\s*(?:True|False)\s*$/.test(text) ? text.toLowerCase() : text);
  } catch {
    return undefined;
  }
}

function withoutUris(args: Wire): Wire {
  const entries = Object.entries(args).map(([name, value]) => [name, inIds(name, value)] as const);
  return Object.fromEntries(entries);
}

function inIds(name: string, value: unknown): unknown {
  if (!NAMES_IDS.test(name)) return value;
  if (Array.isArray(value)) return value.map((one) => inIds(name, one));
  return typeof value === "string" ? (NODE_URI.exec(value.trim())?.[1] ?? value) : value;
}
