/** How a question about an amount was understood. */
export type QuestionPlan =
  | {
      readonly status: "ready";
      readonly reason: "matched_amount_question" | "matched_count_question";
      /** The verb in lower case, as asked. */
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

/** Assumptions of a ready plan. */
export const PLAN_ASSUMPTIONS = [
  "owner_bound",
  "first_person_subject_exact",
  "positive_default_epistemic",
  "predicate_token_prefix_family",
  "unit_groups_are_never_converted",
] as const;

/** Present, past and participle of each verb, then further predicates of the same meaning. */
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

/** Words of a question; `I`, `UNIT` and `ACTION` stand for one word of that kind, `?` marks an optional one. */
const SHAPES = [
  "how much money? did I ACTION",
  "what is the total amount? I ACTION",
  "what's the total amount? I ACTION",
  "how many UNIT did I ACTION",
].map((shape) => shape.split(" "));

const LONGEST = Math.max(...SHAPES.map((shape) => shape.length));

const WORD = /^\p{L}[\p{L}'’-]*$/u;

type Slots = { subject?: "I" | "we"; unit?: string; action?: string };

/**
 * Understands a complete question about an amount in one of four shapes, with no additional word. Anything else - a qualifier, a
 * negation, the future, a name - is unsupported: a sum over other records than the question means would look exact.
 */
export function planQuestion(question: string): QuestionPlan {
  const slots = readSlots(wordsOf(question));
  if (slots?.subject === undefined || slots.action === undefined) {
    return { status: "unsupported", reason: "unsupported_shape", action: undefined };
  }
  const { subject, unit, action } = slots;
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
    subject,
    predicatePrefixes,
    units: unit === undefined ? [] : [unit],
  };
}

/** The words in lower case; of a longer question, one more than the longest shape has. */
function wordsOf(question: string): readonly string[] {
  const text = question.trim().replace(/[?!.]$/, "");
  return text
    .trimEnd()
    .toLowerCase()
    .split(/\s+/, LONGEST + 1);
}

function readSlots(words: readonly string[]): Slots | undefined {
  for (const shape of SHAPES) {
    const slots = matchShape(shape, words);
    if (slots !== undefined) return slots;
  }
  return undefined;
}

function matchShape(shape: readonly string[], words: readonly string[]): Slots | undefined {
  const slots: Slots = {};
  let at = 0;
  for (const part of shape) {
    const word = words[at] ?? "";
    if (part.endsWith("?")) {
      if (word === part.slice(0, -1)) at += 1;
      continue;
    }
    if (!takeWord(part, word, slots)) return undefined;
    at += 1;
  }
  return at === words.length ? slots : undefined;
}

/** Whether a word matches a part of a shape; records what it stands for. */
function takeWord(part: string, word: string, slots: Slots): boolean {
  switch (part) {
    case "I":
      if (word !== "i" && word !== "we") return false;
      slots.subject = word === "i" ? "I" : "we";
      return true;
    case "UNIT":
      slots.unit = word;
      return WORD.test(word);
    case "ACTION":
      slots.action = word;
      return WORD.test(word);
    default:
      return word.replace("’", "'") === part;
  }
}
