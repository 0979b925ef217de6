import { fromDate, fromEpochMicros, type Instant, parseInstant } from "../../lib/instant.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import type {
  SourceEdge,
  SourceKindInfo,
  SourceOptions,
  SourceRecord,
} from "../../ports/sources.ts";
import type { SourceFile } from "./files.ts";
import { elementsOf, textOf } from "./pieces.ts";

/** How one kind of source is recognised and read. */
export type SourceRow = SourceKindInfo & {
  /** Whether the beginning of a file is of this kind. Names decide nothing. */
  readonly recognises: (head: Head) => boolean;
  readonly read: (file: SourceFile, context: ReadContext) => AsyncIterable<Made>;
  /** Default: ids are unique everywhere. */
  readonly isOfPlace?: true;
};

/** What can be seen of a file before it is read. */
export type Head = {
  /** Decoded, at most 64 Ki; empty for a binary file. */
  readonly text: string;
  readonly bytes: Uint8Array;
  /** Of JSON (`membersIn`); of JSON Lines, those of all lines. */
  readonly members: ReadonlySet<string>;
  /** How the text begins: `[`, `{` or another character. */
  readonly first: string;
  /** Columns of the tables of a SQLite file, as `table.column`. */
  readonly columns: ReadonlySet<string>;
  readonly office: string | undefined;
  readonly path: string;
  /** Whether it was named itself, and not found in a folder. */
  readonly isNamed: boolean;
};

export type ReadContext = SourceOptions & {
  /** The place of the source, where its ids are only unique there. */
  readonly instance: string;
  readonly onBytes: (count: number) => void;
  /** Of this process, for those that it starts. */
  readonly environment: Environment;
};

export type Environment = Readonly<Record<string, string | undefined>>;

/** What a row yields: records, and what it leaves out. */
export type Made =
  | SourceRecord
  | { readonly leftOut: string; readonly count?: number }
  | { readonly unreadable: string }
  | { readonly edge: SourceEdge }
  | { readonly whole: string };

export function leftOut(why: string, count = 1): Made {
  return { leftOut: why, count };
}

export type Fields = Readonly<Record<string, unknown>>;

/** The members of an object; of anything else, none. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? // SAFETY: an object has text keys; nothing is claimed about its values.
      (value as Fields)
    : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A JSON object without some of its members. */
export function without(value: unknown, ...names: readonly string[]): JsonObject {
  // SAFETY: it was read from JSON.
  const all = Object.entries(fieldsOf(value)) as [string, Json][];
  return Object.fromEntries(all.filter(([name]) => !names.includes(name)));
}

/** `{ raw }` unless it is empty. */
export function raw(value: JsonObject): { readonly raw?: JsonObject } {
  return Object.keys(value).length === 0 ? {} : { raw: value };
}

export type When = { readonly eventTime?: Instant; readonly isTimeAssumed?: true };

/** Up to here a number counts seconds, above it milliseconds: 2286 and 1970-04-26. */
const SECONDS_MAX = 1e10;
const FIRST_YEAR = -62_135_596_800;
const LAST_YEAR = 253_402_300_800;

/** A time of any form: seconds, milliseconds, or ISO 8601 with or without an offset. Empty: it is none. */
export function timeIn(
  value: unknown,
  { offsetMinutes }: Pick<SourceOptions, "offsetMinutes">,
): When {
  if (typeof value === "number" && Number.isFinite(value)) {
    const seconds = Math.abs(value) < SECONDS_MAX ? value : value / 1000;
    if (seconds < FIRST_YEAR || seconds >= LAST_YEAR || value === 0) return {};
    const whole = Math.floor(seconds);
    return { eventTime: fromEpochMicros(whole * 1e6 + Math.round((seconds - whole) * 1e6)) };
  }
  if (typeof value !== "string") return {};
  const read = parseInstant(value);
  if (typeof read === "object") return { eventTime: read.instant };
  return read === "naive" ? assumed(value, offsetMinutes) : {};
}

function assumed(text: string, offsetMinutes: number | undefined): When {
  const read = parseInstant(`${/\d{2}:\d{2}/.test(text) ? text : `${text.trim()}T00:00`}Z`);
  if (typeof read === "string") return {};
  const utc = new Date(`${read.instant.slice(0, 23)}Z`);
  const offset =
    offsetMinutes ??
    -new Date(
      utc.getUTCFullYear(),
      utc.getUTCMonth(),
      utc.getUTCDate(),
      utc.getUTCHours(),
      utc.getUTCMinutes(),
    ).getTimezoneOffset();
  const moved = fromDate(new Date(utc.getTime() - offset * 60_000));
  // SAFETY: the same form, with the microseconds of the text.
  return {
    eventTime: `${moved.slice(0, 20)}${read.instant.slice(20)}` as Instant,
    isTimeAssumed: true,
  };
}

/** A time that is not the record's own, such as that of its conversation or file. */
export function lent({ eventTime }: When): When {
  return eventTime === undefined ? {} : { eventTime, isTimeAssumed: true };
}

/** What is made of each element of a file that is one list, or an object with it as `member`. */
export async function* eachOf(
  file: SourceFile,
  { onBytes }: Pick<ReadContext, "onBytes">,
  read: (value: unknown) => Iterable<Made>,
  member?: string,
): AsyncGenerator<Made> {
  for await (const one of elementsOf(textOf(file, onBytes), member)) {
    const value = "text" in one ? parsed(one.text) : undefined;
    if (value !== undefined) yield* read(value);
    else yield { unreadable: `entry ${one.number} is ${"text" in one ? "not JSON" : "too long"}` };
  }
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
