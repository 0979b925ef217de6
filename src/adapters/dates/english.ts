import { AMOUNTS, isSingle, readAmounts, unitOf } from "./amounts.ts";
import { type Amount, type Moment, shift } from "./calendar.ts";
import { DAY_RULES } from "./english-days.ts";
import { BARE_YEAR, DAY_OF_MONTH_RULES, MONTH_RULES } from "./english-months.ts";
import {
  direction,
  FUTURE,
  type Match,
  moment,
  one,
  PAST,
  type Rule,
  readRules,
  rule,
} from "./english-rule.ts";
import type { Expression, Meaning } from "./expressions.ts";

const UNIT_WORD = "week|fortnight|month|quarter|year|decade|century";

const SPAN_RULES: readonly Rule[] = [
  rule(
    String.raw`(?:the\s+)?(?<unit>${UNIT_WORD})\s+(?<which>before\s+last|after\s+next)`,
    ({ word }, reference) => {
      const sign = word("which").startsWith("before") ? -1 : 1;
      return moment(shift(reference, one(unitOf(word("unit")), 2), sign));
    },
  ),
  rule(
    String.raw`(?:(?<prefix>in|for|within|over|during|since)\s+)?(?:(?:the\s+)?(?<which>${PAST}|${FUTURE})\s+)?(?<amounts>${AMOUNTS})(?:\s+(?<suffix>ago|earlier|previously|back|later|hence|from\s+(?:now|today)|before|prior\s+to|prior|after|following|from))?`,
    readAmount,
  ),
  rule(
    String.raw`the\s+(?<unit>day|night|week|month|quarter|year)\s+(?<suffix>before|prior\s+to|after|following)`,
    ({ word }) =>
      moving(
        one(unitOf(word("unit"))),
        /^(?:before|prior)/.test(word("suffix")) ? -1 : 1,
        undefined,
      ),
  ),
  rule(
    String.raw`(?:(?:in|during|over|for|since|within|by)\s+)?(?:the\s+)?(?:this\s+)?(?<which>${PAST}|this|current|${FUTURE})\s+(?<unit>${UNIT_WORD}|hour|day)`,
    ({ word }, reference) => {
      const sign = direction(word("which"));
      // "This day" refers to a day mentioned before.
      if (sign === 0) return /^(?:hour|day)$/.test(word("unit")) ? undefined : moment(reference);
      return moment(shift(reference, one(unitOf(word("unit"))), sign));
    },
  ),
];

const AGO = /^(?:ago|earlier|previously|back|prior)$/;
const LATER = /^(?:later|hence|from\s+(?:now|today))$/;

function readAmount(match: Match, reference: Moment): Meaning | undefined {
  const { word, raw, after } = match;
  const amounts = readAmounts(raw("amounts"));
  const suffix = word("suffix");
  const past = shift(reference, amounts, -1);
  const future = shift(reference, amounts, 1);
  const isDay = amounts.every(({ unit }) => !/second|minute|hour/.test(unit));
  if (AGO.test(suffix)) return moment(past, isDay);
  if (LATER.test(suffix)) return moment(future, isDay);
  if (suffix === "before" || suffix.startsWith("prior")) {
    return moving(amounts, -1, past);
  }
  if (suffix !== "") {
    return moving(amounts, 1, suffix === "from" ? undefined : future);
  }
  const sign = direction(word("which"));
  if (sign !== 0) return moment(sign === -1 ? past : future);
  if (word("prefix") === "in") return moment(future);
  // "once a day" and "five years old" name no moment.
  if (word("prefix") === "" && isSingle(raw("amounts"))) return undefined;
  return /^(?:\s+|-)old\b/i.test(after) ? undefined : moment(past);
}

/** Moves the date that follows it. */
function moving(amounts: readonly Amount[], sign: 1 | -1, alone: Moment | undefined): Meaning {
  return {
    kind: "shift",
    move: (anchor) => shift(anchor, amounts, sign),
    needsDate: false,
    alone,
  };
}

const RULES: readonly Rule[] = [...DAY_OF_MONTH_RULES, ...DAY_RULES, ...SPAN_RULES, ...MONTH_RULES];

/** The expressions in words, and months and decades, in an English text. */
export function readWords(text: string, reference: Moment): Expression[] {
  return readRules(text, reference, RULES);
}

/** Years by themselves, in a text whose other dates are masked already. */
export function readYears(text: string, reference: Moment): Expression[] {
  return readRules(text, reference, [BARE_YEAR]);
}
