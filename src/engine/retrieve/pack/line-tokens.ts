import type { Tokenizer } from "../../../ports/tokenizer.ts";
import type { RecordLine } from "./formats.ts";

/**
 * Counting with as few characters as possible. All of it rests on how cl100k_base cuts a text before it looks for
 * tokens: into runs of letters with at most one character before them, groups of up to three digits, and runs of blanks
 * or of everything else, where a run of everything else may take up the line breaks behind it. No token reaches
 * over such a cut, so what is counted on both sides of a cut is the count of the whole.
 */

export type LineTokens = {
  readonly alone: number;
  /** With the line break behind it. */
  readonly broken: number;
};

/**
 * The exact count of a line. Its head ends where a cut is: before a blank after a bracket or a dash, or between a digit
 * and a quote.
 */
export function countLine({ head, body }: RecordLine, tokenizer: Tokenizer): LineTokens {
  const alone = (head === "" ? 0 : tokenizer.count(head)) + tokenizer.count(body);
  const end = body.slice(lastCut(body));
  return { alone, broken: alone - tokenizer.count(end) + tokenizer.count(`${end}\n`) };
}

/**
 * A number of tokens that the line of a text has at the least, for a fraction of the price of writing and counting it:
 * the text's runs of ASCII letters and of ASCII digits, of which no token holds two, and two marks before it.
 * About four fifths of the count of an English text. Other characters neither begin nor end a run, since they may be
 * letters or digits themselves; escapes in the JSON string of the text only add runs.
 */
export function leastTokensOfLine(text: string): number {
  /** The mark that opens the line, and the quote before the text. */
  let runs = 2;
  let last = OTHER;
  for (let at = 0; at < text.length; at += 1) {
    const kind = KINDS[text.charCodeAt(at)] ?? BEYOND_ASCII;
    if (kind === BEYOND_ASCII) continue;
    if (kind !== OTHER && kind !== last) runs += 1;
    last = kind;
  }
  return runs;
}

const OTHER = 0;
const LETTER = 1;
const DIGIT = 2;
const BEYOND_ASCII = 3;

/** Of each ASCII character. */
const KINDS = Uint8Array.from({ length: 0x80 }, (_, unit) => {
  const character = String.fromCharCode(unit);
  if (/[A-Za-z]/.test(character)) return LETTER;
  return /[0-9]/.test(character) ? DIGIT : OTHER;
});

/** The last place where an ASCII letter or digit ends its run; 0 without one. */
function lastCut(text: string): number {
  let after = BEYOND_ASCII;
  for (let at = text.length - 1; at >= 0; at -= 1) {
    const kind = KINDS[text.charCodeAt(at)] ?? BEYOND_ASCII;
    if (after === OTHER && (kind === LETTER || kind === DIGIT)) return at + 1;
    after = kind;
  }
  return 0;
}
