import { formatDecimal, parseDecimal } from "../../lib/decimal.ts";
import { isJsonObject, type Json, type JsonObject } from "../../lib/json.ts";
import { isAmbiguous, readAnswer } from "../../lib/json-answer.ts";
import { amountPart, onlyNumberIn } from "../quantity.ts";
import {
  DropTally,
  EMPTY_RESULT,
  type ExtractedClaim,
  type ExtractedEntity,
  type ExtractedQuantity,
  type ExtractionResult,
  FACT_TYPES,
  PLAIN_CLAIM,
  type Polarity,
  STATED_TYPES,
} from "./result.ts";

/** UTF-16 units of an answer; a longer one is not read. */
export const ANSWER_MAX_CHARS = 2 * 1024 * 1024;

export type BatchAnswer = {
  /** By the index of the turn; turns without an entry are absent. */
  readonly turns: ReadonlyMap<number, ReadTurn>;
  /** Ascending indices of the turns to ask again: some have an entry, these do not. */
  readonly leftOut: readonly number[];
  /** What belongs to no turn. */
  readonly tally: DropTally;
  /** The entries as returned, without other keys, as the batch record keeps them. */
  readonly response: JsonObject;
};

/**
 * Reads the answer for a turn asked alone.
 * @returns undefined if it has to be asked again: no JSON, cut off, wrong form, too long, or several differing answers
 */
export function readSingleAnswer(answer: string, rules: ReadRules = {}): ReadTurn | undefined {
  if (answer.length > ANSWER_MAX_CHARS) return undefined;
  const turn = readAnswer(answer, (json) => readTurn(json, rules));
  return turn?.hasBadEntity === true ? undefined : turn;
}

/**
 * Reads the answer for several turns, whose indices are 1 to `count`. Entries for other turns are dropped; several entries for one turn are
 * joined.
 * @returns undefined if neither the whole nor any of its entries can be read
 */
export function readBatchAnswer(answer: string, count: number): BatchAnswer | undefined {
  if (answer.length > ANSWER_MAX_CHARS) return undefined;
  return readAnswer(answer, (json) => readBatch(json, count));
}

function readBatch(json: JsonObject, count: number): BatchAnswer | undefined {
  if (isAmbiguous(json)) return undefined;
  const entries = entriesOf(json, count);
  if (entries === undefined) return undefined;
  const tally = new DropTally();
  const turns = new Map<number, ReadTurn>();
  const kept: JsonObject[] = [];
  const indexOf = turnIndices(entries, count);
  for (const entry of entries.slice(0, MAX_ENTRIES)) {
    const turn = readTurn(entry);
    const index = isJsonObject(entry) ? indexOf(entry["turn"]) : undefined;
    if (turn === undefined || !isJsonObject(entry)) tally.add("malformed");
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

const MAX_ENTRIES = 4096;

/** None if no turn has an entry: a model that omitted them all found nothing. */
function leftOut(turns: ReadonlyMap<number, ReadTurn>, count: number): readonly number[] {
  if (turns.size === 0) return [];
  return Array.from({ length: count }, (_, at) => at + 1).filter((index) => !turns.has(index));
}

/** The result of a turn without an entry: it states nothing. */
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

/** The entries of an answer. One turn may be answered as if asked alone. */
function entriesOf(json: JsonObject, count: number): readonly Json[] | undefined {
  const { turns } = json;
  if (turns === undefined && count === 1) return [json];
  return Array.isArray(turns) ? turns : undefined;
}

/**
 * How entries identify their turns: by number, also as text. An answer with a turn 0 and none with the last number counts from 0. For a
 * single turn, the number may be missing.
 */
function turnIndices(entries: readonly Json[], count: number) {
  const named = new Set(
    entries.map((entry) => (isJsonObject(entry) ? numberOf(entry["turn"]) : undefined)),
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

/** Maximum claims, and entities, of one turn; the rest is dropped. */
export const CLAIMS_MAX = 500;
const TEXT_MAX = 32_768;

const LISTS = ["entities", "facts", "relationships"] as const;
/** An answer with none of these means nothing, unless it only names its turn. */
const MEMBERS = [...LISTS, "summary"] as const;

type ReadRules = {
  /** A custom provider may leave out polarity, quote and anything empty. */
  readonly isCustom?: boolean;
};

export type ReadTurn = {
  readonly result: ExtractionResult;
  readonly tally: DropTally;
  /** Whether an entity is malformed: for a turn asked alone, a reason to ask again. */
  readonly hasBadEntity: boolean;
};

/**
 * Reads what a model returned for one turn. Unknown keys are ignored; malformed parts are dropped individually and counted.
 * @returns undefined if it is not an object, has none of the requested members, or one of its lists is not a list
 */
function readTurn(json: Json | undefined, rules: ReadRules = {}): ReadTurn | undefined {
  if (!isJsonObject(json) || isAmbiguous(json)) return undefined;
  const isStated = MEMBERS.some((name) => json[name] !== undefined);
  const isBare = Object.keys(json).join() === "turn";
  if (!isStated && !isBare && rules.isCustom !== true) return undefined;
  const [entities, facts, relationships] = LISTS.map((name) => listOf(json[name], rules));
  if (entities === undefined || facts === undefined || relationships === undefined) {
    return undefined;
  }
  const tally = new DropTally();
  const keep = <T>(items: readonly Json[], read: (item: JsonObject) => T | undefined): T[] => {
    tally.add("too_many", Math.max(0, items.length - CLAIMS_MAX));
    return items.slice(0, CLAIMS_MAX).flatMap((item) => {
      const value = isJsonObject(item) && !isAmbiguous(item) ? read(item) : undefined;
      if (value === undefined) tally.add("malformed");
      return value === undefined ? [] : [value];
    });
  };
  const named = keep(entities, readEntity);
  const hasBadEntity = named.length < Math.min(entities.length, CLAIMS_MAX);
  const claims = [
    ...keep(facts, (item) => readFact(item, rules)),
    ...keep(relationships, (item) => readRelationship(item, rules)),
  ];
  const summary = optionalText(json["summary"]);
  const result = {
    ...EMPTY_RESULT,
    entities: named,
    claims,
    summary: typeof summary === "string" ? summary : undefined,
  };
  return { result, tally, hasBadEntity };
}

function readEntity(item: JsonObject): ExtractedEntity | undefined {
  const name = requiredText(item["name"]);
  const entityType = requiredText(item["entity_type"]);
  const description = optionalText(item["description"]);
  const scope = optionalText(item["scope"]);
  if (name === undefined || entityType === undefined) return undefined;
  return description === null || scope === null
    ? undefined
    : { name, entityType, description, scope };
}

function readFact(item: JsonObject, rules: ReadRules): ExtractedClaim | undefined {
  const shared = readShared(item, rules);
  const subject = requiredText(item["subject"]);
  const predicate = requiredText(item["predicate"]);
  const object = requiredText(item["object"]);
  const wanted = wordOf(item["fact_type"] ?? "fact");
  const factType = FACT_TYPES.find((type) => type === wanted);
  const texts = optionalTexts(item, [
    "subject_entity_type",
    "object_entity_type",
    "temporal_ref",
    "temporal_intent",
    "replaces_object",
    "replaces_memory",
    "scope",
  ]);
  const quantity = readQuantity(item["quantity"]);
  if (subject === undefined || predicate === undefined || object === undefined) return undefined;
  if (shared === undefined || factType === undefined || texts === undefined) return undefined;
  return {
    ...PLAIN_CLAIM,
    ...shared,
    kind: "fact",
    subject,
    predicate,
    object,
    factType,
    subjectEntityType: texts.subject_entity_type,
    objectEntityType: texts.object_entity_type,
    temporalRef: texts.temporal_ref,
    temporalIntent: texts.temporal_intent,
    replacesObject: texts.replaces_object,
    replacesMemory: texts.replaces_memory,
    scope: texts.scope,
    quantity,
  };
}

function readRelationship(item: JsonObject, rules: ReadRules): ExtractedClaim | undefined {
  const shared = readShared(item, rules);
  const subject = requiredText(item["source_entity"]);
  const predicate = requiredText(item["relationship_type"]);
  const object = requiredText(item["target_entity"]);
  const texts = optionalTexts(item, ["source_entity_type", "target_entity_type"]);
  if (subject === undefined || predicate === undefined || object === undefined) return undefined;
  if (shared === undefined || texts === undefined || item["epistemic_type"] === undefined) {
    return undefined;
  }
  return {
    ...PLAIN_CLAIM,
    ...shared,
    kind: "relationship",
    factType: "fact",
    subject,
    predicate,
    object,
    subjectEntityType: texts.source_entity_type,
    objectEntityType: texts.target_entity_type,
  };
}

function readShared(item: JsonObject, { isCustom = false }: ReadRules) {
  const given = item["polarity"];
  const isOpen = isCustom && (given === undefined || given === null);
  const polarity = isOpen ? "unknown" : polarityOf(given);
  const quote = isCustom
    ? optionalText(item["evidence_quote"])
    : requiredText(item["evidence_quote"]);
  const confidence = confidenceOf(item["confidence"]);
  const wanted = wordOf(item["epistemic_type"] ?? "asserted");
  const epistemicType = STATED_TYPES.find((type) => type === wanted);
  const condition = optionalText(item["condition"]);
  if (polarity === undefined || epistemicType === undefined || condition === null) return undefined;
  if (quote === null || (quote === undefined && !isCustom)) return undefined;
  if (confidence === undefined) return undefined;
  return { polarity, evidenceQuote: quote, confidence, epistemicType, condition };
}

function polarityOf(given: Json | undefined): Polarity | undefined {
  const word = wordOf(given);
  return word === "positive" || word === "negative" ? word : undefined;
}

/** A share, also as text and in percent: `0.9`, `"0.9"`, `90`, `"90 %"`. */
function confidenceOf(given: Json | undefined): number | undefined {
  if (given === undefined || given === null) return 0.5;
  const [, text, sign] = /^(\d{1,3}(?:\.\d+)?)\s*(%?)$/.exec(wordOf(given)) ?? [];
  const value = typeof given === "number" ? given : Number(text ?? Number.NaN);
  const isPercent = sign === "%" || (Number.isInteger(value) && value > 1);
  const share = isPercent ? value / 100 : value;
  return share >= 0 && share <= 1 ? share : undefined;
}

/** A word of a closed set, in lower case; empty if not text. */
function wordOf(given: Json | undefined): string {
  return typeof given === "string" ? given.trim().toLowerCase() : "";
}

function optionalTexts<K extends string>(
  item: JsonObject,
  names: readonly K[],
): Readonly<Record<K, string | undefined>> | undefined {
  const texts = names.map((name) => [name, optionalText(item[name])] as const);
  if (texts.some(([, value]) => value === null)) return undefined;
  // SAFETY: each name has its text or undefined; null was ruled out above.
  return Object.fromEntries(texts) as Record<K, string | undefined>;
}

/** A non-empty text that UTF-8 can encode, as given. */
function requiredText(value: Json | undefined): string | undefined {
  if (typeof value !== "string" || value.trim() === "") return undefined;
  return value.length <= TEXT_MAX && value.isWellFormed() ? value : undefined;
}

/** Undefined if absent or blank; null if malformed. */
function optionalText(value: Json | undefined): string | undefined | null {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" && value.trim() === "") return undefined;
  return requiredText(value) ?? null;
}

/** A list that is left out is empty; from a model, `null` may mean that it failed to answer. */
function listOf(
  value: Json | undefined,
  { isCustom = false }: ReadRules,
): readonly Json[] | undefined {
  if (value === undefined || (isCustom && value === null)) return [];
  return Array.isArray(value) ? value : undefined;
}

/**
 * Reads the amount of a fact. Its value must be exact: a whole number, or a decimal as text. A binary fraction is not, so it is read again
 * from the words of the text.
 * @returns undefined if absent or malformed: the fact is kept without it
 */
function readQuantity(given: Json | undefined): ExtractedQuantity | undefined {
  if (!isJsonObject(given)) return undefined;
  const unit = amountPart(given, "unit");
  const sourceText = amountPart(given, "source_text");
  if (unit === undefined || sourceText === undefined) return undefined;
  const value = amountFrom(given, sourceText);
  return value === undefined ? undefined : { value, unit, sourceText };
}

function amountFrom(amount: JsonObject, sourceText: string): string | undefined {
  const { value } = amount;
  if (typeof value !== "number") return plain(amountPart(amount, "value"));
  const isExact = Number.isSafeInteger(value);
  return plain(isExact ? String(value) : onlyNumberIn(sourceText)?.replaceAll(",", ""));
}

/** In plain notation, with all decimal places. */
function plain(text: string | undefined): string | undefined {
  const value = text === undefined ? undefined : parseDecimal(text);
  return value === undefined ? undefined : formatDecimal(value);
}
