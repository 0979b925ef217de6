import { compareDecimals, type Decimal, parseDecimal } from "../lib/decimal.ts";
import { isJsonObject, type JsonObject } from "../lib/json.ts";
import { foldCase } from "../lib/text.ts";
import type { MemoryNode } from "./node.ts";

/** An amount that the text of its memory confirms. */
export type Quantity = {
  readonly value: Decimal;
  /** As written in the text; `1` for a bare number. */
  readonly unit: string;
  readonly sourceText: string;
};

/** An amount as written, trimmed. */
type AmountText = {
  /** Decimal. */
  readonly value: string;
  readonly unit: string;
  readonly sourceText: string;
};

/** The texts that must confirm an amount. */
type QuantityEvidence = {
  /** What was said. */
  readonly passage: string;
  readonly object: string;
};

/** The kind of checks that stored amounts have passed. */
export const QUANTITY_GROUNDING = "object_decimal_v1";

/** Characters, after trimming. */
const MAX_CHARS = { value: 200, unit: 100, source_text: 500 } as const;
/** Characters around an amount that may mark it as inexact. */
const BEFORE_CHARS = 48;
const AFTER_CHARS = 24;

/** Occurrences in a text that are examined. */
const MAX_LOOKS = 1000;

const CURRENCY = "[$€£¥]";
const DASH = "[-–—]";
/** Words before a number that make it a limit, a range or an estimate; longer ones first. */
const CUES =
  `no more than|no less than|more than|less than|at least|at most|up to|about|approximately|around|roughly|
  nearly|almost|circa|estimated|estimate|between|from|over|under`
    .replaceAll("\n  ", "")
    .replaceAll(" ", "\\s+");

/** No letter, digit or `_` before, or after. */
const NO_WORD_BEFORE = "(?<![\\p{L}\\p{M}\\p{N}_])";
const NO_WORD_AFTER = "(?![\\p{L}\\p{M}\\p{N}_])";

const NUMBER =
  /(?<![\p{L}\p{M}\p{N}_.])[+-]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?![\d.,])/gu;
const ANY_CUE = new RegExp(`${NO_WORD_BEFORE}(?:${CUES})${NO_WORD_AFTER}`, "iu");
const ENDS_IN_CUE = new RegExp(
  `(?:${NO_WORD_BEFORE}(?:${CUES})|[~≈<>−±])\\s*${CURRENCY}?\\s*$`,
  "iu",
);
const ENDS_IN_RANGE = new RegExp(`\\d\\s*(?:${DASH}|to)\\s*${CURRENCY}?\\s*$`, "iu");
const ENDS_IN_BETWEEN = new RegExp(
  `${NO_WORD_BEFORE}between\\s.{0,40}\\sand\\s*${CURRENCY}?\\s*$`,
  "iu",
);
const BEGINS_RANGE = new RegExp(`^\\s*(?:${DASH}|to)\\s*${CURRENCY}?\\s*\\d`, "iu");
const CURLY = /[‘’“”]/;
const UNCERTAIN_SIGN = /[~≈<>−±()]/;
const CLAUSE_ENDS = ".!?;,\n";
const INSIDE_NUMBER = /\d[.,]\d/;
/** Digits of any script, and single-character fractions. */
const DIGIT = /[\p{Nd}\u00BC-\u00BE\u2150-\u215F\u2189]/u;
const ENDS_IN_LETTER = /[\p{L}\p{M}]$/u;
const BEGINS_WITH_LETTER = /^[\p{L}\p{M}]/u;
const PART_OF_NUMBER_BEFORE = /(?:[\p{L}\p{M}\p{N}_.]|\d,|(?<![\p{L}\p{M}\p{N}_])[+-])$/u;
const PART_OF_NUMBER_AFTER = /^(?:\d|[.,]\d)/;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;

/**
 * The amount in a memory's metadata.
 * @returns `missing` if there is none, `invalid` if the text does not confirm it as one exact amount
 */
export function readQuantity(node: MemoryNode, object: string): Quantity | "missing" | "invalid" {
  const stored = node.metadata?.["quantity"];
  if (stored === undefined || stored === null) return "missing";
  const amount = isJsonObject(stored) ? amountOf(stored) : undefined;
  if (amount === undefined) return "invalid";
  const quote = node.metadata?.["evidence_quote"];
  const passage = typeof quote === "string" && quote.trim() !== "" ? quote : node.content;
  return groundQuantity(amount, { passage, object }) ?? "invalid";
}

function amountOf(stored: JsonObject): AmountText | undefined {
  if (stored["grounding"] !== QUANTITY_GROUNDING) return undefined;
  const value = amountPart(stored, "value");
  const unit = amountPart(stored, "unit");
  const sourceText = amountPart(stored, "source_text");
  if (value === undefined || unit === undefined || sourceText === undefined) return undefined;
  return { value, unit, sourceText };
}

/** A text of an amount, trimmed; undefined if blank or too long. */
export function amountPart(amount: JsonObject, name: keyof typeof MAX_CHARS): string | undefined {
  const value = amount[name];
  if (typeof value !== "string" || !value.isWellFormed()) return undefined;
  const text = value.trim();
  const max = MAX_CHARS[name];
  const fits = text.length <= max || (text.length <= 2 * max && [...text].length <= max);
  return text !== "" && fits ? text : undefined;
}

/**
 * The amount, if the texts state it in its own words, as exactly one number with its unit: not a range, limit, estimate, or part of a
 * longer number. The first occurrence in the passage decides. Undefined otherwise.
 */
export function groundQuantity(
  { value: valueText, unit, sourceText }: AmountText,
  { passage, object }: QuantityEvidence,
): Quantity | undefined {
  const number = onlyNumber(sourceText);
  const value = number && statedValue(valueText, number.text);
  if (number === undefined || value === undefined) return undefined;
  if (!isUnitOf(sourceText, number, unit)) return undefined;
  const words = withStraightQuotes(sourceText);
  if (occurrence(withStraightQuotes(object), words) === undefined) return undefined;
  const said = withStraightQuotes(passage);
  const at = occurrence(said, words);
  const isExact = at !== undefined && isUnqualified(said, at, at + words.length);
  return isExact ? { value, unit, sourceText } : undefined;
}

/** The only number in a phrase that names one exact amount, as written there. */
export function onlyNumberIn(phrase: string): string | undefined {
  return onlyNumber(phrase)?.text;
}

type NumberAt = { readonly text: string; readonly at: number };

/** The only number in a text without any other digit, cue or mark of doubt. */
function onlyNumber(text: string): NumberAt | undefined {
  if (UNCERTAIN_SIGN.test(text) || ANY_CUE.test(text)) return undefined;
  const [number, second] = text.match(NUMBER) ?? [];
  if (number === undefined || second !== undefined) return undefined;
  const at = text.indexOf(number);
  // Elsewhere, these characters are next to digits.
  const rest = text.slice(0, at) + text.slice(at + number.length);
  return DIGIT.test(rest) ? undefined : { text: number, at };
}

/** The value, if it equals the number in the text. */
function statedValue(value: string, number: string): Decimal | undefined {
  const stated = parseDecimal(value);
  if (stated === undefined || value === number) return stated;
  const read = parseDecimal(number.replaceAll(",", ""));
  return read !== undefined && compareDecimals(read, stated) === 0 ? stated : undefined;
}

function isUnitOf(text: string, number: NumberAt, unit: string): boolean {
  if (unit === "1") return number.text === text;
  // A blank replaces the number: `5kg` contains the unit, and the unit must not match inside the number.
  const around = `${text.slice(0, number.at)} ${text.slice(number.at + number.text.length)}`;
  if (!LETTER_OR_DIGIT.test(unit)) return around.includes(unit);
  const where = foldCase(around);
  const sought = foldCase(unit);
  for (let at = where.indexOf(sought); at !== -1; at = where.indexOf(sought, at + 1)) {
    if (!touchesLetter(where, at, at + sought.length)) return true;
  }
  return false;
}

function touchesLetter(text: string, from: number, to: number): boolean {
  return ENDS_IN_LETTER.test(tail(text, from)) || BEGINS_WITH_LETTER.test(text.slice(to, to + 2));
}

/** The characters directly before an offset: one or two, three with surrogates. */
function tail(text: string, to: number): string {
  return text.slice(Math.max(0, to - 3), to);
}

function withStraightQuotes(text: string): string {
  return CURLY.test(text) ? text.replace(/[‘’]/g, "'").replace(/[“”]/g, '"') : text;
}

/** The first occurrence of the words in a text where their number is not part of a longer one. */
function occurrence(text: string, words: string): number | undefined {
  let at = text.indexOf(words);
  for (let looks = 0; at !== -1 && looks < MAX_LOOKS; looks += 1) {
    const to = at + words.length;
    const cutsFront = /^[.\d]/.test(words) && PART_OF_NUMBER_BEFORE.test(tail(text, at));
    const cutsBack = /\d$/.test(words) && PART_OF_NUMBER_AFTER.test(text.slice(to, to + 2));
    if (!cutsFront && !cutsBack) return at;
    at = text.indexOf(words, at + 1);
  }
  return undefined;
}

function isUnqualified(passage: string, from: number, to: number): boolean {
  const before = lastClause(passage.slice(Math.max(0, from - BEFORE_CHARS), from));
  return !(
    ENDS_IN_CUE.test(before) ||
    ENDS_IN_RANGE.test(before) ||
    ENDS_IN_BETWEEN.test(before) ||
    BEGINS_RANGE.test(passage.slice(to, to + AFTER_CHARS))
  );
}

/** The text after the last clause boundary. A point or comma between digits is part of a number. */
function lastClause(text: string): string {
  for (let at = text.length - 1; at >= 0; at -= 1) {
    const ends =
      CLAUSE_ENDS.includes(text.charAt(at)) &&
      !INSIDE_NUMBER.test(text.slice(Math.max(0, at - 1), at + 2));
    if (ends) return text.slice(at + 1);
  }
  return text;
}

/** How a question about an amount was understood. */
type QuestionPlan =
  | {
      readonly status: "ready";
      readonly reason: "matched_amount_question" | "matched_count_question";
      /** The verb in lower case, as used in the question. */
      readonly action: string;
      readonly subject: "I" | "we";
      /** Every form with which a stored predicate may begin. */
      readonly predicatePrefixes: readonly string[];
      /** The unit of a count; empty for an amount: any. */
      readonly units: readonly string[];
    }
  | {
      readonly status: "unsupported";
      readonly reason: "unsupported_shape" | "unsupported_unit" | "unsupported_action";
      /** Undefined for an unsupported shape. */
      readonly action: string | undefined;
    };

export const PLAN_ASSUMPTIONS = [
  "owner_bound",
  "first_person_subject_exact",
  "positive_default_epistemic",
  "predicate_token_prefix_family",
  "unit_groups_are_never_converted",
] as const;

/** Present, past and participle of each verb, then further predicates with the same meaning. */
const VERBS = [
  ["complete", "completed", "completing"],
  ["consume", "consumed", "consuming"],
  ["donate", "donated", "donating"],
  ["drink", "drank", "drinking"],
  ["earn", "earned", "earning"],
  ["lift", "lifted", "lifting"],
  ["pay", "paid", "paying"],
  ["process", "processed", "processing"],
  ["raise", "raised", "raising", "help_raise", "helped_raise", "helping_raise"],
  ["run", "ran", "running"],
  ["ship", "shipped", "shipping"],
  ["spend", "spent", "spending"],
] as const;

const PREFIXES: ReadonlyMap<string, readonly string[]> = new Map(
  VERBS.flatMap((forms) => [
    [forms[0], forms],
    [forms[1], forms],
  ]),
);

const UNITS: ReadonlySet<string> = new Set(
  (
    "amps amperes bytes centimeters files gallons grams items kilograms kilometers liters meters miles milligrams " +
    "milliliters millimeters packages people records requests tasks tickets units users volts watts"
  ).split(" "),
);

/** Question patterns, in lower case, with single blanks. */
const QUESTION =
  /^(?:how much(?: money)? did|what(?: is|['’]s) the total(?: amount)?|how many (?<unit>\p{L}[\p{L}'’-]*) did) (?<subject>i|we) (?<action>\p{L}[\p{L}'’-]*)$/u;

/**
 * Parses a complete question about an amount in one of four patterns, without additional words. Anything else - a qualifier, a negation,
 * the future, a name - is unsupported: a sum over other records than the question means would look exact.
 */
export function planQuestion(question: string): QuestionPlan {
  const plain = question
    .trim()
    .replace(/[?!.]$/, "")
    .trimEnd()
    .toLowerCase();
  const { subject, unit, action } = QUESTION.exec(plain.replace(/\s+/g, " "))?.groups ?? {};
  if (action === undefined) {
    return { status: "unsupported", reason: "unsupported_shape", action: undefined };
  }
  if (unit !== undefined && !UNITS.has(unit)) {
    return { status: "unsupported", reason: "unsupported_unit", action };
  }
  const predicatePrefixes = PREFIXES.get(action);
  if (predicatePrefixes === undefined) {
    return { status: "unsupported", reason: "unsupported_action", action };
  }
  return {
    status: "ready",
    reason: unit === undefined ? "matched_amount_question" : "matched_count_question",
    action,
    subject: subject === "i" ? "I" : "we",
    predicatePrefixes,
    units: unit === undefined ? [] : [unit],
  };
}
