import type { Instant } from "../../lib/instant.ts";
import { analyse, dateWords } from "../lexical-analysis.ts";
import { besideWords, type Stem } from "../stemmed-words.ts";

/**
 * What the word index holds for a memory, in three columns: its own words; for a turn of a conversation also the beginnings of
 * the turns before and after it, which count less, because a question often uses the words of the turn before the answer. In all
 * columns and in questions a word matches every word with the same Porter stem. Stems of other languages, words as they are
 * typed plainly, and parts of identifiers follow the words of each text.
 */

/** Turns on either side whose beginnings a document contains. */
export const DOCUMENT_REACH = 2;
/** UTF-16 units of each of these turns that it contains. */
const NEIGHBOUR_CHARS = 240;

/** A memory's own words, and the date on which it happened as a person would say it. */
export function ownWords(
  content: string,
  eventTime: Instant | undefined,
  stem: Stem,
): readonly string[] {
  const words = wordsAndStems(content, stem);
  return eventTime === undefined ? words : [...words, ...dateWords(eventTime)];
}

/** The words of the turns on one side, nearest turn first. */
export function neighbourWords(contents: readonly string[], stem: Stem): readonly string[] {
  return contents.flatMap((content) => wordsAndStems(content.slice(0, NEIGHBOUR_CHARS), stem));
}

function wordsAndStems(text: string, stem: Stem): readonly string[] {
  const words = analyse(text);
  const others = besideWords(text, words, stem);
  return others.length === 0 ? words : [...words, ...others];
}
