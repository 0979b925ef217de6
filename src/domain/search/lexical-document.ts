import type { Instant } from "../../lib/instant.ts";
import { nextTurn } from "../../lib/pause.ts";
import { languagesOfText } from "../language.ts";
import { analyse, dateWords } from "../lexical-analysis.ts";
import { LIMITS } from "../limits.ts";
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

/** Words of long texts that are about to be written. */
const readAhead = new Map<string, readonly string[]>();
const joined = new WeakMap<readonly string[], string>();

/** A memory's own words, and the date on which it happened as a person would say it. */
export function ownWords(
  content: string,
  eventTime: Instant | undefined,
  stem: Stem,
): readonly string[] {
  const words = readAhead.get(content) ?? wordsAndStems(content, stem);
  if (eventTime === undefined) return words;
  const dated = [...words, ...dateWords(eventTime)];
  const text = joined.get(words);
  if (text !== undefined) joined.set(dated, `${text} ${dateWords(eventTime).join(" ")}`);
  return dated;
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

/** Words as the text of a column. */
export function columnText(words: readonly string[]): string {
  return joined.get(words) ?? words.join(" ");
}

/** Writes memories; the words of long ones are read piece by piece beforehand, so that others are served in between. */
export async function withWordsOf<T>(
  items: readonly { readonly node: { readonly content: string } }[],
  stem: Stem,
  write: () => Promise<T>,
): Promise<T> {
  const long = items
    .map(({ node }) => node.content)
    .filter((content) => content.length > LIMITS.wordingChars);
  if (long.length === 0) return await write();
  try {
    for (const content of long) {
      const words = await readInPieces(content, stem);
      readAhead.set(content, words);
    }
    return await write();
  } finally {
    for (const content of long) readAhead.delete(content);
  }
}

async function readInPieces(text: string, stem: Stem): Promise<readonly string[]> {
  const pieces: { readonly piece: string; readonly words: readonly string[] }[] = [];
  for (const piece of piecesOf(text)) {
    pieces.push({ piece, words: analyse(piece) });
    await nextTurn();
  }
  const words = pieces.flatMap((piece) => piece.words);
  const languages = languagesOfText(text, words);
  const texts = [];
  for (const { piece, words: own } of pieces) {
    const beside = besideWords(piece, own, stem, languages);
    texts.push(own.join(" "), beside.join(" "));
    for (const word of beside) words.push(word);
    await nextTurn();
  }
  joined.set(words, texts.filter((part) => part !== "").join(" "));
  return words;
}

/** What ends a word in every script, and belongs to none. */
const BETWEEN_WORDS = /[\s。、]/g;

function* piecesOf(text: string): Generator<string> {
  for (let from = 0, to = 0; from < text.length; from = to) {
    BETWEEN_WORDS.lastIndex = from + LIMITS.wordingChars;
    to = BETWEEN_WORDS.exec(text)?.index ?? text.length;
    yield text.slice(from, to);
  }
}
