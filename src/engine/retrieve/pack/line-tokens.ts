import type { Tokenizer } from "../../../ports/tokenizer.ts";
import type { RecordLine } from "./formats.ts";

/**
 * Counts tokens with as few characters as possible. This rests on how cl100k_base splits a text before it looks for tokens: into
 * runs of letters with at most one character before them, groups of up to three digits, and runs of blanks or of everything else,
 * where a run of everything else may include the line breaks after it. No token spans such a split, so counting both sides of a
 * split separately gives the count of the whole.
 */

export type LineTokens = {
  readonly alone: number;
  /** With the line break after it. */
  readonly broken: number;
};

/** Counts lines exactly. */
export type LineCounter = (line: RecordLine) => LineTokens;

/**
 * A counter that remembers the short parts that lines share. The head of a line ends at a split: before a blank after a bracket
 * or a dash, or between a digit and a quote. What a line break adds depends only on the characters after the last split.
 */
export function createLineCounter(tokenizer: Tokenizer): LineCounter {
  const heads = new Map<string, number>([["", 0]]);
  const breaks = new Map<string, number>();
  return ({ head, body }) => {
    const alone = remembered(heads, head, () => tokenizer.count(head)) + tokenizer.count(body);
    const end = body.slice(lastCut(body));
    const added = remembered(breaks, end, () => tokenizer.count(`${end}\n`) - tokenizer.count(end));
    return { alone, broken: alone + added };
  };
}

function remembered(known: Map<string, number>, text: string, count: () => number): number {
  const found = known.get(text);
  if (found !== undefined) return found;
  const counted = count();
  known.set(text, counted);
  return counted;
}

/**
 * A lower bound of the tokens of a text, wherever it appears, for a fraction of the cost of counting: its runs of ASCII letters
 * and of ASCII digits, of which no token contains two. About three quarters of the count of an English text. Other characters
 * neither begin nor end a run, since they may be letters or digits themselves; a text written as a JSON string has no fewer runs.
 * @param enough above this the bound may be any larger number that is still one
 */
export function leastTokens(text: string, enough = Number.POSITIVE_INFINITY): number {
  // The first and the last may be shared with what is around the text.
  const byLength = Math.ceil(text.length / TOKEN_MAX_CHARS) - 2;
  if (byLength > enough) return byLength;
  let runs = 0;
  let last = OTHER;
  for (let end = 0; end < text.length && runs <= enough; ) {
    let at = end;
    end = Math.min(text.length, end + BLOCK_CHARS);
    for (; at < end; at += 1) {
      const unit = text.charCodeAt(at);
      const kind = unit > 0x7f ? last : (KINDS[unit] ?? OTHER);
      // Branch-free: no processor predicts where words end, and mispredictions would take half of the time.
      runs += Number(kind !== last) & Number(kind !== OTHER);
      last = kind;
    }
  }
  return Math.max(runs, byLength);
}

/** The longest token of cl100k_base: 128 blanks. */
const TOKEN_MAX_CHARS = 128;
const BLOCK_CHARS = 4096;

const OTHER = 0;
const LETTER = 1;
const DIGIT = 2;

/** For each ASCII character. */
const KINDS = Uint8Array.from({ length: 0x80 }, (_, unit) => {
  const character = String.fromCharCode(unit);
  if (/[A-Za-z]/.test(character)) return LETTER;
  return /[0-9]/.test(character) ? DIGIT : OTHER;
});

/** The last place where an ASCII letter or digit ends its run; 0 if there is none. */
function lastCut(text: string): number {
  for (let at = text.length - 2; at >= 0; at -= 1) {
    const kind = KINDS[text.charCodeAt(at)];
    const isAfterRun = kind === LETTER || kind === DIGIT;
    if (isAfterRun && KINDS[text.charCodeAt(at + 1)] === OTHER) return at + 1;
  }
  return 0;
}
