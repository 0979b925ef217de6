import { isEmptyWord, isNumber, type Statement } from "./replacement.ts";

/**
 * Whether two memories say the same thing with another value: `Ann lives in Leeds`, `Ann lives in Bath`; `Ann pays 450 euros of
 * rent`, `The rent of Ann was raised to 480 euros`. Often the later one is what is true now, but both may be: `I like tea`, `I like
 * coffee`. So this puts the later one first where a question asks for neither, and claims nothing about the earlier one.
 */

/** The least share of the longer sentence that both have. */
const FRAME_SHARE = 0.5;
/** Words of a sentence, at least and at most. */
const WORDS_MIN = 3;
const WORDS_MAX = 24;
/** Telling words that two statements share that differ in one, at least. */
const OTHER_WORDS_SHARED = 3;
/** Telling words that two statements of a measure share, at least. */
const MEASURE_SHARED = 2;

/** Whether the two say the same thing with another value, whichever is the newer one. */
export function saysTheSame(newer: Statement, older: Statement): boolean {
  return (
    isSameFrame(newer.words, older.words) ||
    isSameInOtherWords(newer, older) ||
    isSameMeasure(newer, older)
  );
}

/**
 * Whether a question asks for what only one of two memories says.
 * @param asked the words of the question, as the analyser gives them
 */
export function asksFor(
  asked: ReadonlySet<string>,
  { words }: Statement,
  { words: others }: Statement,
): boolean {
  return words.some((word) => asked.has(word) && !isEmptyWord(word) && !others.includes(word));
}

/** Whether two sentences begin with the same thing, and have most words in one order, and each has others. */
function isSameFrame(words: readonly string[], others: readonly string[]): boolean {
  const longest = Math.max(words.length, others.length);
  const shortest = Math.min(words.length, others.length);
  if (shortest < WORDS_MIN || longest > WORDS_MAX) return false;
  const first = words.find(isTelling);
  if (first === undefined || first !== others.find(isTelling)) return false;
  const common = commonInOrder(words, others);
  return common < shortest && common >= longest * FRAME_SHARE;
}

function isTelling(word: string): boolean {
  return !isEmptyWord(word) && !isNumber(word);
}

/** The number of words that two texts have in the same order. */
function commonInOrder(words: readonly string[], others: readonly string[]): number {
  const shortest = Math.min(words.length, others.length);
  let before = 0;
  while (before < shortest && words[before] === others[before]) before += 1;
  let behind = 0;
  while (behind < shortest - before && words.at(-1 - behind) === others.at(-1 - behind)) {
    behind += 1;
  }
  const middle = (all: readonly string[]) => all.slice(before, all.length - behind);
  return before + behind + longestInOrder(middle(words), middle(others));
}

/** The longest common subsequence of two texts of at most 32 words, a bit for each word of the other (Hyyrö 2004). */
function longestInOrder(words: readonly string[], others: readonly string[]): number {
  let row = -1;
  for (const word of words) {
    let matches = 0;
    for (let at = 0; at < others.length; at += 1) if (others[at] === word) matches |= 1 << at;
    const kept = row & matches;
    row = (row + kept) | (row - kept);
  }
  let length = 0;
  for (let at = 0; at < others.length; at += 1) length += (~row >>> at) & 1;
  return length;
}

/** Whether each has one telling word of its own, which is not what it is about. */
function isSameInOtherWords(newer: Statement, older: Statement): boolean {
  const shared = newer.stems.size - 1;
  if (shared < OTHER_WORDS_SHARED || older.stems.size !== newer.stems.size) return false;
  const [ours, ...more] = newer.stems.difference(older.stems);
  if (ours === undefined || more.length > 0 || ours === newer.subject) return false;
  const [theirs] = older.stems.difference(newer.stems);
  return theirs !== older.subject;
}

/** Whether both state one amount of one unit, and one says nothing else that the other does not say. */
function isSameMeasure(newer: Statement, older: Statement): boolean {
  const [one, other] = [amountOf(newer.words), amountOf(older.words)];
  if (one === undefined || other === undefined) return false;
  if (one.unit !== other.unit || one.number === other.number) return false;
  const least = Math.min(newer.stems.size, older.stems.size);
  const shared = newer.stems.intersection(older.stems).size;
  // The unit is among them.
  return shared === least && shared > MEASURE_SHARED;
}

/** The only number of a text, with the word that follows it. */
function amountOf(
  words: readonly string[],
): { readonly number: string; readonly unit: string } | undefined {
  const at = words.findIndex(isNumber);
  const [number, unit] = [words[at], words[at + 1]];
  if (number === undefined || unit === undefined || isEmptyWord(unit)) return undefined;
  return words.findLastIndex(isNumber) === at ? { number, unit } : undefined;
}
