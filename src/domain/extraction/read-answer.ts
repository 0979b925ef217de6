import type { Json, JsonObject } from "../../lib/json.ts";
import { type AnswerObject, readAnswer } from "../../lib/json-answer.ts";
import { type ReadRules, type ReadTurn, readTurn } from "./read-result.ts";
import { DropTally } from "./reasons.ts";
import { EMPTY_RESULT } from "./result.ts";

/** UTF-16 units of an answer; a longer one is not read. */
export const ANSWER_MAX_CHARS = 2 * 1024 * 1024;

/** What an answer to several turns holds. */
export type BatchAnswer = {
  /** By the index of the turn; turns without an entry are absent. */
  readonly turns: ReadonlyMap<number, ReadTurn>;
  /** Ascending indices of the turns to ask again: some have an entry, these have none. */
  readonly leftOut: readonly number[];
  /** What belongs to no turn. */
  readonly tally: DropTally;
  /** The entries as returned, without other keys, as the batch record keeps them. */
  readonly response: JsonObject;
};

/**
 * Reads the answer to a turn that was asked alone.
 * @returns undefined if it has to be asked again: no JSON, cut off, not the requested form, too long, several answers that differ
 */
export function readSingleAnswer(
  answer: string,
  rules: Pick<ReadRules, "isCustom"> = {},
): ReadTurn | undefined {
  if (answer.length > ANSWER_MAX_CHARS) return undefined;
  const turn = readAnswer(answer, ({ json, ambiguous }) => readTurn(json, { ambiguous, ...rules }));
  return turn?.hasBadEntity === true ? undefined : turn;
}

/**
 * Reads the answer to several turns, whose indices are 1 to `count`. Entries for other turns are dropped; several entries for one turn
 * are joined.
 * @returns undefined if it cannot be read as a whole, or if none of its entries can
 */
export function readBatchAnswer(answer: string, count: number): BatchAnswer | undefined {
  if (answer.length > ANSWER_MAX_CHARS) return undefined;
  return readAnswer(answer, (object) => readBatch(object, count));
}

function readBatch({ json, ambiguous }: AnswerObject, count: number): BatchAnswer | undefined {
  if (ambiguous.has(json)) return undefined;
  const entries = entriesOf(json, count);
  if (entries === undefined) return undefined;
  const tally = new DropTally();
  const turns = new Map<number, ReadTurn>();
  const kept: JsonObject[] = [];
  const indexOf = turnIndices(entries, count);
  for (const entry of entries.slice(0, MAX_ENTRIES)) {
    const turn = readTurn(entry, { ambiguous });
    const index = isObject(entry) ? indexOf(entry["turn"]) : undefined;
    if (turn === undefined || !isObject(entry)) tally.add("malformed");
    else if (index === undefined) tally.add("foreign_turn");
    else {
      turns.set(index, joined(turns.get(index), turn));
      kept.push(entryOf(entry, index));
    }
  }
  if (turns.size === 0 && entries.length > 0) return undefined;
  tally.add("too_many", Math.max(0, entries.length - MAX_ENTRIES));
  return { turns, leftOut: leftOut(turns, count), tally, response: { turns: kept } };
}

/** Entries of one answer that are read. */
const MAX_ENTRIES = 4096;

/** None if no turn has an entry: a model that left out all of them found nothing. */
function leftOut(turns: ReadonlyMap<number, ReadTurn>, count: number): readonly number[] {
  if (turns.size === 0) return [];
  return Array.from({ length: count }, (_, at) => at + 1).filter((index) => !turns.has(index));
}

/** The answer of a turn that has none: it states nothing. */
export function emptyTurn(): ReadTurn {
  return { result: EMPTY_RESULT, tally: new DropTally(), hasBadEntity: false };
}

function joined(earlier: ReadTurn | undefined, later: ReadTurn): ReadTurn {
  if (earlier === undefined) return later;
  const tally = new DropTally();
  tally.addAll(earlier.tally.counts);
  tally.addAll(later.tally.counts);
  const claims = [...earlier.result.claims, ...later.result.claims];
  return {
    result: {
      entities: [...earlier.result.entities, ...later.result.entities],
      claims: [
        ...claims.filter(({ kind }) => kind === "fact"),
        ...claims.filter(({ kind }) => kind === "relationship"),
      ],
      summary: undefined,
    },
    tally,
    hasBadEntity: earlier.hasBadEntity || later.hasBadEntity,
  };
}

function entryOf(entry: JsonObject, turn: number): JsonObject {
  const { entities = [], facts = [], relationships = [] } = entry;
  return { turn, entities, facts, relationships };
}

/** The entries of an answer. One turn may be answered as if it were asked alone. */
function entriesOf(json: JsonObject, count: number): readonly Json[] | undefined {
  const { turns } = json;
  if (turns === undefined && count === 1) return [json];
  return Array.isArray(turns) ? turns : undefined;
}

/**
 * How entries name their turns: by number, also as text. An answer that has a turn 0 and none with the last number counts from 0. Where
 * one turn was asked, its number may be missing.
 */
function turnIndices(entries: readonly Json[], count: number) {
  const named = new Set(
    entries.map((entry) => (isObject(entry) ? numberOf(entry["turn"]) : undefined)),
  );
  const first = named.has(0) && !named.has(count) ? 0 : 1;
  return (value: Json | undefined): number | undefined => {
    if (count === 1 && (value === undefined || value === null)) return 1;
    const index = (numberOf(value) ?? Number.NaN) - first + 1;
    return Number.isInteger(index) && index >= 1 && index <= count ? index : undefined;
  };
}

function numberOf(value: Json | undefined): number | undefined {
  if (typeof value === "number") return value;
  const digits =
    typeof value === "string"
      ? /^\s*(?:turn[\s_-]*)?#?(\d{1,9})\.?\s*$/i.exec(value)?.[1]
      : undefined;
  return digits === undefined ? undefined : Number(digits);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
