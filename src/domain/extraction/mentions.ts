import type { CueLanguage } from "./language.ts";
import { isFirstPerson, isImpliedWe, mentionsFirstPerson } from "./personal.ts";

const WORD_CHARACTER = /[\p{L}\p{M}\p{N}_]/u;
/** Scripts that put no blanks between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Places that are looked at. */
const MAX_LOOKS = 1000;

/** Whether a text has a value as whole words, in any case: `Zoë` is not in `Zoës`, `$500` is in `$500 for`. */
export function isMentioned(value: string, text: string): boolean {
  return placesOf(value, text).next().done === false;
}

/** Where a text, in lower case, has a value as whole words. */
export function* placesOf(value: string, text: string): Generator<number> {
  const sought = value.trim().toLowerCase();
  const where = text.toLowerCase();
  if (sought === "") return;
  let at = where.indexOf(sought);
  for (let looks = 0; at !== -1 && looks < MAX_LOOKS; looks += 1) {
    const end = at + sought.length;
    const isWhole =
      !isJoined(lastPoint(where.slice(Math.max(0, at - 2), at)), firstPoint(sought)) &&
      !isJoined(lastPoint(sought.slice(-2)), firstPoint(where.slice(end, end + 2)));
    if (isWhole) yield at;
    at = where.indexOf(sought, at + 1);
  }
}

/** Whether a text has a subject or object: as whole words, or, for the first person, in any of its forms. */
export function isNamed(value: string, text: string, language: CueLanguage): boolean {
  if (isFirstPerson(value)) return mentionsFirstPerson(text, language);
  return isMentioned(value, text) || isImpliedWe(value, text, language);
}

/** Whether two neighbouring characters belong to one word. */
function isJoined(before: string, after: string): boolean {
  if (!WORD_CHARACTER.test(before) || !WORD_CHARACTER.test(after)) return false;
  return !UNSPACED.test(before) && !UNSPACED.test(after);
}

function firstPoint(text: string): string {
  return [...text][0] ?? "";
}

function lastPoint(text: string): string {
  return [...text].at(-1) ?? "";
}
