/** How a statement is meant, if not as a plain statement of fact. */
export const SPEECH_MODES = [
  "desire",
  "attempt",
  "plan",
  "advice",
  "uncertainty",
  "conditional",
  "unverified",
  "question",
] as const;
export type SpeechMode = (typeof SPEECH_MODES)[number];

/** English words and phrases that indicate each mode, in every inflection. */
const MODE_CUES: Readonly<Record<SpeechMode, RegExp>> = {
  desire:
    /\b(?:want(?:s|ed|ing)?|would like|wish(?:es|ed|ing)?|hop(?:e|es|ed|ing)|need(?:s|ed|ing)?|aim(?:s|ed|ing)?|seek(?:s|ing)?|sought)\b|'d like\b/iu,
  attempt: /\b(?:try|tries|tried|trying|attempt(?:s|ed|ing)?|work(?:s|ed|ing)? (?:on|to))\b/iu,
  plan: /\b(?:plan(?:s|ned|ning)?|intend(?:s|ed|ing)?|schedul(?:e|es|ed|ing)|consider(?:s|ed|ing)?|explor(?:e|es|ed|ing)|evaluat(?:e|es|ed|ing))\b/iu,
  advice:
    /\b(?:should(?:n't)?|ought|recommend(?:s|ed|ing)?|suggest(?:s|ed|ing)?|advis(?:e|es|ed|ing))\b/iu,
  uncertainty:
    /\b(?:might(?:n't)?|maybe|perhaps|possible|possibly|potentially|uncertain|whether)\b/iu,
  conditional: /\b(?:if|unless|provided that|in case)\b/iu,
  unverified: /\b(?:unverified|unconfirmed|reportedly|allegedly)\b/iu,
  question: /\?|\b(?:ask(?:s|ed|ing)?|question(?:s|ed|ing)?|wonder(?:s|ed|ing)?|whether)\b/iu,
};

const NEGATION = /\b(?:not|never|no longer|cannot|(?:ca|is|are|was|were|did|does|do|wo)n't)\b/giu;

/** Words other than negation that say that something is otherwise; searched for in claims only. */
const REPLACEMENT =
  /\b(?:no|neither|nor|without|instead|rather than|switched from|replaced|incorrect|false)\b/iu;

/** Where one clause ends and another begins. Coarse: an extra clause makes a check stricter, never laxer. */
const CLAUSE_BREAK =
  /[,;:()[\]"–—]|\b(?:and|or|but|although|though|because|while|whereas|however|yet|so)\b/iu;

/** Apostrophes and blanks in one form, so that cues are found however they were typed. */
export function plainText(text: string): string {
  return text.replaceAll(/[’ʼ]/gu, "'").replaceAll(/\s+/gu, " ");
}

/** The modes of a text; empty for a plain statement. */
export function speechModes(text: string): ReadonlySet<SpeechMode> {
  const plain = plainText(text);
  return new Set(SPEECH_MODES.filter((mode) => MODE_CUES[mode].test(plain)));
}

/** Whether a claim says that something is not, or is no longer, so. */
export function isNegatedClaim(claim: string): boolean {
  const plain = plainText(claim);
  return plain.search(NEGATION) >= 0 || REPLACEMENT.test(plain);
}

/** The clauses of one segment that are negated. */
export function negatedClauses(segment: string): readonly string[] {
  return plainText(segment)
    .split(CLAUSE_BREAK)
    .filter((clause) => clause.search(NEGATION) >= 0);
}

/** A text without its negating words. */
export function withoutNegation(text: string): string {
  return plainText(text).replaceAll(NEGATION, " ");
}

/**
 * The sentences of a text: it is split at line breaks, and after `.`, `!` and `?` before a capital or digit. Records of a context
 * contain their text as a JSON string, so an escaped `\n` is a line break too.
 */
export function segments(text: string): readonly string[] {
  return text
    .split(/(?:\r?\n|\\n)+|(?<=[.!?])\s+(?=[\p{Lu}\p{N}])/u)
    .map((segment) => segment.trim())
    .filter((segment) => segment !== "");
}
