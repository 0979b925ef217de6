import type { StemmedLanguage } from "../../domain/language.ts";
import type { Stem } from "../../domain/stemmed-words.ts";

type Stemmer = { readonly stemmer: (word: string) => string };

/**
 * Loads one stemmer each. Stems are needed within synchronous transactions, so `import()` is too late, and imports at the top would
 * evaluate all seven at every start, mostly for languages the user does not have.
 */
const LOADERS: Readonly<Record<StemmedLanguage, () => Stemmer>> = {
  de: () => require("@orama/stemmers/german"),
  fr: () => require("@orama/stemmers/french"),
  es: () => require("@orama/stemmers/spanish"),
  it: () => require("@orama/stemmers/italian"),
  pt: () => require("@orama/stemmers/portuguese"),
  nl: () => require("@orama/stemmers/dutch"),
  ru: () => require("@orama/stemmers/russian"),
};

const loaded: Partial<Record<StemmedLanguage, Stemmer["stemmer"]>> = {};

/** The Snowball stemmers. Another release of the package may need another version of the analyser: a test compares their stems. */
export const snowball: Stem = (language, word) => {
  loaded[language] ??= LOADERS[language]().stemmer;
  return loaded[language](word);
};

/**
 * The stem of a word in lower case by Porter's algorithm of 1980, exactly as FTS5's tokenizer `porter` forms it: words are compared
 * byte by byte of UTF-8, and each byte beyond ASCII counts as a consonant.
 */
export function porterStem(word: string): string {
  // Every replaced ending is ASCII.
  const last = word.charCodeAt(word.length - 1);
  if (!(last >= LETTER_A && last <= LETTER_Z)) return word;
  if (!BEYOND_ASCII.test(word)) return stemBytes(word);
  return Buffer.from(stemBytes(Buffer.from(word).toString("latin1")), "latin1").toString();
}

const LETTER_A = 97;
const LETTER_Z = 122;
const BEYOND_ASCII = /[^\p{ASCII}]/u;
const BYTES_MIN = 3;
const BYTES_MAX = 64;

function stemBytes(word: string): string {
  if (word.length < BYTES_MIN || word.length > BYTES_MAX) return word;
  const present = withoutPast(withoutPlural(word));
  const early =
    present.endsWith("y") && hasVowel(present.slice(0, -1)) ? `${present.slice(0, -1)}i` : present;
  return withoutLast(shorten(shorten(shorten(early, DOUBLE, 0), SINGLE, 0), LAST, 1));
}

function withoutPlural(word: string): string {
  if (!word.endsWith("s") || word.endsWith("ss")) return word;
  const isLong =
    (word.endsWith("sses") && word.length > 4) || (word.endsWith("ies") && word.length > 3);
  return word.slice(0, isLong ? -2 : -1);
}

function withoutPast(word: string): string {
  if (word.length > 3 && word.endsWith("eed")) {
    return measure(word.slice(0, -3), 1) > 0 ? word.slice(0, -1) : word;
  }
  const stem = withoutEnding(word, "ed") ?? withoutEnding(word, "ing");
  if (stem === undefined || !hasVowel(stem)) return word;
  if (stem.length > 2 && /(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (/([^aeioulsz])\1$/s.test(stem)) return stem.slice(0, -1);
  return measure(stem, 2) === 1 && endsShort(stem) ? `${stem}e` : stem;
}

function withoutEnding(word: string, ending: string): string | undefined {
  const isLonger = word.length > ending.length && word.endsWith(ending);
  return isLonger ? word.slice(0, -ending.length) : undefined;
}

/** Whether a letter is a vowel; `y` is one after a consonant. */
function isVowel(letter: string, isBehindConsonant: boolean): boolean {
  return VOWELS.has(letter) || (isBehindConsonant && letter === "y");
}
const VOWELS: ReadonlySet<string> = new Set("aeiou");

/** How often consonants follow vowels, up to a limit. */
function measure(stem: string, most: number): number {
  let [count, isConsonant, wasVowel] = [0, false, false];
  for (let at = 0; at < stem.length && count < most; at += 1) {
    isConsonant = !isVowel(stem[at] ?? "", isConsonant);
    if (isConsonant && wasVowel) count += 1;
    wasVowel = !isConsonant;
  }
  return count;
}

/** Whether there is a vowel; every `y` but a leading one counts. */
function hasVowel(stem: string): boolean {
  return /[aeiou]|.y/s.test(stem);
}

/** Whether a stem ends in consonant, vowel and consonant, the last of which is not w, x or y. */
function endsShort(stem: string): boolean {
  if (/[wxy]$/.test(stem)) return false;
  let [isConsonant, last] = [false, ""];
  for (const letter of stem) {
    isConsonant = !isVowel(letter, isConsonant);
    last = `${last.slice(-2)}${isConsonant ? "c" : "v"}`;
  }
  return last === "cvc";
}

type Ending = readonly [ending: string, replacement: string];

/** Endings by their second to last letter. */
type Endings = ReadonlyMap<string, readonly Ending[]>;

function endingsOf(text: string): Endings {
  const pairs = text.split(/\s+/).map((pair): Ending => {
    const [ending = "", replacement = ""] = pair.split(">");
    return [ending, replacement];
  });
  return Map.groupBy(pairs, ([ending]) => ending.at(-2) ?? "");
}

const DOUBLE = endingsOf(
  `ational>ate tional>tion enci>ence anci>ance izer>ize logi>log bli>ble alli>al entli>ent eli>e ousli>ous
  ization>ize ation>ate ator>ate alism>al iveness>ive fulness>ful ousness>ous aliti>al iviti>ive biliti>ble`,
);
const SINGLE = endingsOf("icate>ic ative> alize>al iciti>ic ical>ic ful> ness>");
const LAST = endingsOf(
  "al> ance> ence> er> ic> able> ible> ant> ement> ment> ent> ion> ou> ism> ate> iti> ous> ive> ize>",
);

/** Replaces the first matching ending if the measure of the stem before it exceeds `least`. */
function shorten(word: string, endings: Endings, least: number): string {
  for (const [ending, replacement] of endings.get(word.at(-2) ?? "") ?? []) {
    const stem = withoutEnding(word, ending);
    if (stem === undefined) continue;
    const isAllowed = ending !== "ion" || /[st]$/.test(stem);
    return isAllowed && measure(stem, least + 1) > least ? stem + replacement : word;
  }
  return word;
}

function withoutLast(word: string): string {
  let stem = word;
  if (word.endsWith("e")) {
    const shorter = word.slice(0, -1);
    const size = measure(shorter, 2);
    if (size > 1 || (size === 1 && !endsShort(shorter))) stem = shorter;
  }
  return stem.endsWith("ll") && measure(stem.slice(0, -1), 2) > 1 ? stem.slice(0, -1) : stem;
}
