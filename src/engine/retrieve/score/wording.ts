import { phrase } from "../analysis/phrases.ts";

/*
 * What the wording of questions and memories says about time. Every pattern takes time linear in the length of its text:
 * unbounded repeats are separated by what they cannot contain, and gaps are bounded.
 */

/** What a question says about the time that it asks for. */
export type QuestionTime = {
  /** It explicitly asks for the present state. */
  readonly explicitCurrent: boolean;
  /** It asks in the present tense who or what something is or does. */
  readonly implicitCurrent: boolean;
  /** It names a class and asks which member of it somebody does something with: "what tool does". Implies `implicitCurrent`. */
  readonly answerClass: boolean;
  /** It asks for something that happened recently. */
  readonly episodic: boolean;
  /** It asks for a count, a duration or an earlier state. */
  readonly neverCurrent: boolean;
};

const WORD = String.raw`[\p{L}\p{N}_]+`;

/** A pattern of alternatives for questions. */
function anyOf(...alternatives: readonly string[]): RegExp {
  return new RegExp(alternatives.join("|"), "iu");
}

/** A phrase with which a question begins. */
function opening(alternatives: string): string {
  return String.raw`^\s*${phrase(alternatives)}`;
}

const EXPLICIT_CURRENT = anyOf(
  phrase("current|currently|now|latest|today|at the moment|these days|presently|so far"),
  phrase("usually|typically|normally|most recently|right now"),
  opening("(?:do|does|am|are|have|has) I"),
  phrase("do I (?:go|have|use|own|keep|play|attend|work)"),
);
const IMPLICIT_CURRENT = anyOf(opening(`who (?:is|are)|what(?: ${WORD}){1,4} (?:does|is|has)`));
const WHAT_DOES = anyOf(opening(`what(?: ${WORD}){1,4} does`));
const EPISODIC = anyOf(
  phrase("recently|last time|the other day|earlier today|yesterday|remember when"),
  phrase("this (?:morning|afternoon|evening|week)|just (?:now|told|said|mentioned|asked)"),
  phrase("did (?:I|we) (?:talk|discuss|mention|say)"),
);
const NEVER_CURRENT = anyOf(
  phrase("how long|since when|when did|elapsed time"),
  phrase("before|after|previously|formerly|originally|used to"),
);

/** Reads the wording of a question. Pure. */
export function questionTime(query: string, isAggregation: boolean): QuestionTime {
  return {
    explicitCurrent: EXPLICIT_CURRENT.test(query),
    implicitCurrent: IMPLICIT_CURRENT.test(query),
    answerClass: WHAT_DOES.test(query) && !joinsQuestions(query),
    episodic: EPISODIC.test(query),
    neverCurrent: isAggregation || NEVER_CURRENT.test(query),
  };
}

const JOINT = anyOf(phrase("and|or"));
const DOES = anyOf(phrase("does"));

/** Whether a "does" follows an "and" or "or" on the line of the question. */
function joinsQuestions(query: string): boolean {
  const line = query.trimStart().split("\n", 1)[0] ?? "";
  const joint = JOINT.exec(line);
  return joint !== null && DOES.test(line.slice(joint.index));
}

/**
 * A pattern of alternatives for memories; a blank stands for any run of whitespace, any case. One question may read a thousand
 * long texts, hence ASCII word boundaries: they are several times as fast, and the words are English.
 */
function pattern(...alternatives: readonly string[]): RegExp {
  return new RegExp(alternatives.join("|").replaceAll(" ", "\\s+"), "i");
}

const UPDATE = pattern(
  "(?:changed to|switched to|migrated from|migrated to|moved to|replaced|updated to)\\b",
  "(?:now uses|no longer|rewritten|upgraded to|new \\S+ is|effective immediately)\\b",
  "\\b(?:changed|moved)\\b[^.!?\\n]{0,80}\\bnow\\b",
  "\\bupdated\\b",
);

/** Whether a text says that something is no longer what it was. Pure. */
export function hasUpdateWording(text: string): boolean {
  return UPDATE.test(text);
}

const MONTHS = [
  "january|february|march|april|may|june|july|august|september|october|november|december",
  "jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec",
].join("|");
const DATE = pattern(
  `\\b(?:${MONTHS})\\b`,
  "\\b\\d{4}[-/]\\d{1,2}[-/]\\d{1,2}\\b",
  "\\b\\d{1,2}[-/]\\d{1,2}[-/]\\d{2}(?:\\d{2})?\\b",
  "\\b(?:19|20)\\d{2}\\b",
);

/** Whether a text names a month, a date in digits or a year from 1900 to 2099. Pure. */
export function namesDate(text: string): boolean {
  return DATE.test(text);
}
