import { foldCase } from "../../../lib/text.ts";

/** A word or mark of a text. */
export type Token = {
  /** Case-folded, with straight apostrophes. */
  readonly word: string;
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
};

/** A word with what is joined to it by an apostrophe, a number or date, or one mark. */
const TOKEN =
  /[\p{L}\p{M}]+(?:['’][\p{L}\p{M}]+)*|\p{N}+(?:[-./:]\p{N}+)*\p{L}*|[^\s\p{L}\p{M}\p{N}]/gu;
/** Marks that may come and go. */
const IGNORED = /^[,"“”„«»'‘’]$/u;
const CONTRACTION = /^(?:i|we|you|he|she|they)'(?:m|re|ve|d|ll|s)$/;

/** The words and marks of a text in order, without commas and quotation marks. `Ana's` is two, `she's` is one. */
export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  for (const { index, 0: found } of text.matchAll(TOKEN)) {
    if (IGNORED.test(found)) continue;
    const word = foldCase(found).replaceAll("’", "'");
    const end = index + found.length;
    if (word.endsWith("'s") && !CONTRACTION.test(word)) {
      tokens.push({ word: word.slice(0, -2), from: index, to: end - 2 });
      tokens.push({ word: "s", from: end - 2, to: end });
    } else tokens.push({ word, from: index, to: end });
  }
  return tokens;
}

/** The words of a text, case-folded. */
export function wordsIn(text: string): ReadonlySet<string> {
  return new Set(tokensOf(text).map(({ word }) => word));
}

const SENTENCE_MARK = /^[.!?…:;]$/u;

/** Words that a text writes with a capital inside a sentence: names. */
export function namesIn(text: string): ReadonlySet<string> {
  const names = new Set<string>();
  let isInside = false;
  for (const { word, from } of tokensOf(text)) {
    if (isInside && /^\p{Lu}/u.test(text.slice(from))) names.add(word);
    isInside = !SENTENCE_MARK.test(word);
  }
  return names;
}
