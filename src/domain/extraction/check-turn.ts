import { formatDecimal, parseDecimal } from "../../lib/decimal.ts";
import { normaliseText } from "../../lib/text.ts";
import { normalisePredicate } from "../epistemics.ts";
import { groundQuantity, onlyNumberIn } from "../quantity.ts";
import {
  type CheckRules,
  checkClaim,
  isExactAmount,
  isSupported,
  type OpenTurn,
  openTurn,
} from "./check-claim.ts";
import { isMentioned } from "./cues.ts";
import { findQuote, type Span, type Turn } from "./passages.ts";
import {
  DropTally,
  type ExtractedClaim,
  type ExtractedEntity,
  type ExtractedQuantity,
  type ExtractionResult,
  referenceProblem,
} from "./result.ts";

export type CheckedTurn = { readonly result: ExtractionResult; readonly tally: DropTally };

/**
 * Checks what a model says a turn states: every claim is compared with this turn alone, and ungrounded claims are dropped and counted.
 * Pure.
 */
export function checkTurn(
  given: ExtractionResult,
  turn: Turn,
  rules: CheckRules = { speakerGrounding: false },
): CheckedTurn {
  const tally = new DropTally();
  const open = openTurn(turn, rules);
  const spend = budgetOf(READ_MAX_CHARS);
  const held = given.claims.flatMap((claim) => {
    const checked = checkClaim(claim, open, tally, spend);
    if ("claim" in checked) return [checked.claim];
    tally.add(checked.reason);
    return [];
  });
  const claims = held.map(withQuantity);
  const closed = withoutProblem(claims, (claim) => referenceProblem(claim, given.entities), tally);
  const result = ground({ ...given, claims: closed }, open, tally);
  return { result, tally };
}

/**
 * UTF-16 units of passages read for all claims of one turn. Each claim is read with its own sentences, so only answers that quote a long
 * text repeatedly reach it.
 */
const READ_MAX_CHARS = 500_000;

/** @returns a function that adds up lengths and returns false beyond the limit */
function budgetOf(max: number): (length: number) => boolean {
  let left = max;
  return (length) => {
    left -= length;
    return left >= 0;
  };
}

function withQuantity(claim: ExtractedClaim): ExtractedClaim {
  if (claim.kind !== "fact" || claim.quantity !== undefined) return claim;
  const quantity = recoverQuantity(claim.object, claim.evidenceQuote ?? "");
  return quantity === undefined ? claim : { ...claim, quantity };
}

function withoutProblem(
  claims: readonly ExtractedClaim[],
  problemOf: (claim: ExtractedClaim) => Parameters<DropTally["add"]>[0] | undefined,
  tally: DropTally,
): readonly ExtractedClaim[] {
  return claims.filter((claim) => {
    const problem = problemOf(claim);
    if (problem !== undefined) tally.add(problem);
    return problem === undefined;
  });
}

/** The checks that apply to every provider: whatever a result names must occur in the text. Dropping an entity does not drop its claims. */
export function ground(
  given: ExtractionResult,
  open: OpenTurn,
  tally: DropTally,
): ExtractionResult {
  const { turn, rules } = open;
  const entities = withoutRepeats(
    given.entities.filter(({ name }) => {
      const isThere = isSupported(name, turn.content, turn, rules);
      if (!isThere) tally.add("entity_not_in_text");
      return isThere;
    }),
    entityKey,
    tally,
  );
  const claims = given.claims.flatMap((claim) => groundClaim(claim, open, tally));
  const evidences = new Map<string, number>();
  const claimKey = (claim: ExtractedClaim): string => {
    const evidence = claim.evidenceQuote ?? "";
    const place = evidences.get(evidence) ?? evidences.size;
    evidences.set(evidence, place);
    return statementKey(claim, place);
  };
  return { ...given, entities, claims: withoutRepeats(claims, claimKey, tally) };
}

function groundClaim(
  claim: ExtractedClaim,
  { turn, passages, isInParagraph }: OpenTurn,
  tally: DropTally,
): readonly ExtractedClaim[] {
  const place = placeOf(claim, turn);
  if (place === undefined) return dropped(tally, "quote_not_in_text");
  const paragraph = passages.paragraphAround(place);
  if (!isInParagraph(claim.subject, paragraph)) return dropped(tally, "subject_not_in_text");
  if (!isInParagraph(claim.object, paragraph)) return dropped(tally, "object_not_in_text");
  const evidence = turn.content.slice(paragraph.from, paragraph.to);
  const { condition, replacesObject } = claim;
  const isQuoted = condition === undefined || findQuote(evidence, condition) !== undefined;
  if (!isQuoted) tally.add("condition_not_quoted");
  const isReplaced = replacesObject === undefined || isMentioned(replacesObject, evidence);
  if (!isReplaced) tally.add("replaced_value_not_in_text");
  const isAmount = isExactAmount(claim, evidence);
  if (!isAmount) tally.add("quantity_not_in_text");
  const kept = isQuoted ? condition : undefined;
  return [
    {
      ...claim,
      condition: kept,
      epistemicType:
        claim.epistemicType === "conditional" && kept === undefined
          ? "hypothetical"
          : claim.epistemicType,
      replacesObject: isReplaced ? replacesObject : undefined,
      quantity: isAmount ? claim.quantity : undefined,
      evidenceQuote: evidence,
    },
  ];
}

/** The whole text for a claim without a quote. */
function placeOf({ evidenceQuote }: ExtractedClaim, { content }: Turn): Span | undefined {
  return evidenceQuote === undefined
    ? { from: 0, to: content.length }
    : findQuote(content, evidenceQuote);
}

function dropped(tally: DropTally, reason: Parameters<DropTally["add"]>[0]): readonly [] {
  tally.add(reason);
  return [];
}

function withoutRepeats<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  tally: DropTally,
): readonly T[] {
  const seen = new Map<string, T>();
  for (const item of items) {
    const key = keyOf(item);
    if (seen.has(key)) tally.add("duplicate");
    else seen.set(key, item);
  }
  return [...seen.values()];
}

function entityKey({ name, entityType }: ExtractedEntity): string {
  return JSON.stringify([name.trim().toLowerCase(), entityType.trim().toLowerCase()]);
}

/** A relation that repeats a fact of the same passage is also a repeat. @param passage its number */
function statementKey(claim: ExtractedClaim, passage: number): string {
  return JSON.stringify([
    normaliseText(claim.subject),
    normalisePredicate(claim.predicate),
    normaliseText(claim.object),
    claim.polarity,
    claim.epistemicType,
    claim.condition ?? null,
    passage,
  ]);
}

/** Units that are unmistakable directly after a number. */
const UNITS =
  "USD|EUR|GBP|JPY|CAD|AUD|CHF|CNY|INR|%|percent(?:ages?)?|milli(?:meters?|metres?)|centi(?:meters?|metres?)|kilo(?:meters?|metres?)|meters?|metres?|mm|cm|km|milligrams?|kilograms?|grams?|mg|kg|millilit(?:er|re)s?|lit(?:er|re)s?|ml|gallons?|volts?|amperes?|amps?|watts?|bytes?|KB|MB|GB|TB|packages?|items?|files?|records?|requests?|users?|tickets?|tasks?|units?|people";
const AFTER = new RegExp(String.raw`^\s?(${UNITS})(?![\p{L}/])`, "iu");
const BEFORE = /([$€£¥])\s*$/;

/** The amount that an object itself names, if it is exactly one and the passage confirms it. @param passage the source words */
function recoverQuantity(object: string, passage: string): ExtractedQuantity | undefined {
  const number = onlyNumberIn(object);
  if (number === undefined) return undefined;
  const at = object.indexOf(number);
  const before = object.slice(0, at);
  const after = object.slice(at + number.length);
  if (/[\p{L}]-$|\p{N},$/u.test(before)) return undefined;
  const sign = BEFORE.exec(before);
  const unit = sign?.[1] ?? AFTER.exec(after)?.[1];
  const value = parseDecimal(number.replaceAll(",", ""));
  if (unit === undefined || value === undefined) return undefined;
  const sourceText =
    sign === null ? `${number}${AFTER.exec(after)?.[0] ?? ""}` : `${sign[0]}${number}`;
  const quantity = { value: formatDecimal(value), unit, sourceText };
  return groundQuantity(quantity, { passage, object }) === undefined ? undefined : quantity;
}
