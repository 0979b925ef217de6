import type { Instant } from "../lib/instant.ts";
import { normalForm } from "../lib/text.ts";

/**
 * The one analyser of the lexical index, for every backend: documents and questions pass through it, so that equal words match. It folds
 * case, width and accents, splits text into words, and scripts without spaces into pairs.
 */

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/gu;
const ACCENT = /[\u0300-\u036f]/g;
/** Bytes of UTF-8 above which a run of letters is not a word (keys, hashes, encoded data). */
const WORD_MAX_BYTES = 40;

/** Words that nearly every English text contains: useless for search and the most expensive. Questions only. */
export const ENGLISH_STOP_WORDS: ReadonlySet<string> = new Set(
  `a about an and any are as at be been being but by can could did do does for from had has have having he her hers
  him his how i if in into is it its ll me my no nor not of on or our ours re s shall she should so some such t than
  that the their theirs them then there these they this those to too ve was we were what when where which who whom
  whose why will with would you your yours d m`.split(/\s+/),
);

const BEYOND_ASCII = /[^\p{ASCII}]/u;

/** Whether a text needs only case folding. Such texts are read several times as fast. */
export function isPlain(text: string): boolean {
  return !BEYOND_ASCII.test(text);
}

/** Leading characters that are compared when inflection should not matter. */
export const STEM_CHARS = 5;

/** The start of a word: what follows is mostly inflection. */
export function stem(word: string): string {
  return word.slice(0, STEM_CHARS);
}

/** The words of a text in order, repeats included. */
export function analyse(text: string): string[] {
  if (isPlain(text)) {
    const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
    return words.filter((word) => word.length <= WORD_MAX_BYTES);
  }
  const folded = withoutAccents(normalForm("NFKC", text).toLowerCase());
  const terms: string[] = [];
  for (const [word] of folded.matchAll(WORD)) {
    let spacedFrom = 0;
    for (const run of word.matchAll(UNSPACED)) {
      pushWord(terms, word.slice(spacedFrom, run.index));
      pushPairs(terms, run[0]);
      spacedFrom = run.index + run[0].length;
    }
    pushWord(terms, word.slice(spacedFrom));
  }
  return terms;
}

/** Folds accents; é and e are one letter to the index. */
export function withoutAccents(text: string): string {
  return normalForm("NFC", normalForm("NFD", text).replace(ACCENT, ""));
}

/** Letters without a Unicode decomposition, in their plain spelling. */
const UNDECOMPOSED: Readonly<Record<string, string>> = {
  ...{ ł: "l", đ: "d", ø: "o", ß: "ss", æ: "ae", œ: "oe", þ: "th", ð: "d" },
  ...{ ħ: "h", ı: "i", ŋ: "n", ŧ: "t" },
};
const UNDECOMPOSED_LETTER = new RegExp(`[${Object.keys(UNDECOMPOSED).join("")}]`, "g");

/** A word as analysed, typed with the letters a to z only; undefined if unchanged. */
export function typedPlainly(word: string): string | undefined {
  const plain = word.replace(UNDECOMPOSED_LETTER, (letter) => UNDECOMPOSED[letter] ?? letter);
  return plain === word ? undefined : plain;
}

/** Where a new part of an identifier begins: parse|Config, V2|Token, HTTP|Server; but not API|s. */
const PART = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll}{2})/u;
/** The same for ASCII text, which is scanned several times as fast. */
const PLAIN_PART = /[a-z0-9][A-Z]|[A-Z][A-Z][a-z]{2}/;
const SINGLE_LETTER = /^\p{L}$/u;
/** A part that is a word; keys and hashes have few. */
const TELLING_PART = /\p{L}{3}/u;
const FINAL_DIGITS = /\p{N}+$/u;
/** Names with special characters, and the word under which each is indexed. */
const SIGNED_NAME =
  /(?<![\p{L}\p{N}])(?:([cf])(\+\+|#)|(\.net)|([a-z]{2,20})\.js)(?![\p{L}\p{N}])/giu;

const HAS_SIGN = /[+#]|\.(?:net|js)/i;

/**
 * The parts of identifiers in a text (`parseConfig`, `HTTPServer`, `OAuth2Token`) and names with special characters (`C++`, `.NET`),
 * folded.
 */
export function identifierParts(text: string): readonly string[] {
  const parts: string[] = [];
  const [word, part] = isPlain(text) ? [/[A-Za-z0-9]+/g, PLAIN_PART] : [WORD, PART];
  const words = part.test(text) ? (text.match(word) ?? []) : [];
  for (const each of words) {
    if (each.length <= WORD_MAX_BYTES && part.test(each)) parts.push(...partsOf(each));
  }
  const named = HAS_SIGN.test(text) ? text.matchAll(SIGNED_NAME) : [];
  for (const [, letter, sign, dotNet, script] of named) {
    const language = letter && `${letter}${sign === "#" ? "sharp" : "plusplus"}`;
    parts.push(language ?? (dotNet ? "dotnet" : `${script}js`));
  }
  return parts.flatMap(analyse);
}

function partsOf(word: string): readonly string[] {
  const parts: string[] = [];
  let isOpen = false;
  for (const part of word.split(PART)) {
    const isSingle = SINGLE_LETTER.test(part);
    // O|Auth and 3|D are one.
    if (isOpen || (isSingle && parts.length > 0)) parts.push(`${parts.pop() ?? ""}${part}`);
    else parts.push(part);
    isOpen = isSingle && parts.length === 1 && parts[0] === part;
  }
  const telling = parts.filter((part) => TELLING_PART.test(part));
  if (parts.length < 2 || 2 * telling.length < parts.length) return [];
  return parts.flatMap((part) => {
    const bare = part.replace(FINAL_DIGITS, "");
    return bare !== part && TELLING_PART.test(bare) ? [part, bare] : [part];
  });
}

function pushWord(terms: string[], word: string): void {
  if (word === "" || (word.length * 3 > WORD_MAX_BYTES && Buffer.byteLength(word) > WORD_MAX_BYTES))
    return;
  terms.push(word);
}

/** Overlapping pairs, then the last character alone, so that a question of one character finds it by prefix. */
function pushPairs(terms: string[], run: string): void {
  const characters = [...run];
  for (let index = 0; index + 1 < characters.length; index += 1) {
    terms.push(`${characters[index]}${characters[index + 1]}`);
  }
  const last = characters.at(-1);
  if (last !== undefined) terms.push(last);
}

export type Term = {
  readonly term: string;
  /** Whether it is one unspaced character, a prefix of pairs. */
  readonly prefix: boolean;
};

/** Words of a question that are searched for: half from its beginning, half from its end. */
const QUESTION_WORDS_MAX = 512;

/**
 * The words to search for: distinct, without stop words unless nothing else is left; of a long question the first and last ones, since the
 * actual question precedes or follows pasted text.
 */
export function questionTerms(
  question: string,
  isStopWord: (word: string) => boolean = (word) => ENGLISH_STOP_WORDS.has(word),
): Term[] {
  const words = analyse(question);
  const terms = [...new Set(words)];
  const telling = terms.filter((term) => !isStopWord(term));
  const chosen = atEnds(telling.length > 0 ? telling : terms, words);
  const pairs = chosen.filter((term) => isUnspaced(term) && [...term].length === 2);
  return chosen
    .filter(
      (term) =>
        !(isUnspaced(term) && [...term].length === 1 && pairs.some((pair) => pair.includes(term))),
    )
    .map((term) => ({ term, prefix: isUnspaced(term) && [...term].length === 1 }));
}

function atEnds(terms: readonly string[], words: readonly string[]): readonly string[] {
  if (terms.length <= QUESTION_WORDS_MAX) return terms;
  const kept = new Set(terms.slice(0, QUESTION_WORDS_MAX / 2));
  const wanted = new Set(terms);
  for (const word of words.toReversed()) {
    if (kept.size === QUESTION_WORDS_MAX) break;
    if (wanted.has(word)) kept.add(word);
  }
  return terms.filter((term) => kept.has(term));
}

function isUnspaced(term: string): boolean {
  return term.match(UNSPACED)?.[0] === term;
}

const MONTHS =
  "january february march april may june july august september october november december".split(
    " ",
  );

/** The day of an instant (UTC) in the words that a question would use: month, day, year. */
export function dateWords(instant: Instant): readonly string[] {
  const [year = "", month, day] = instant.slice(0, 10).split("-");
  return [MONTHS[Number(month) - 1] ?? "", String(Number(day)), year];
}

/** Stop words for keywords. Independent of the stop words of the text index, which serve questions. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  `a an the is are was were be been being have has had do does did will would could should may might shall can need must
  i me my we our you your he she it they them their his her its and or but if then so for to of in on at by with from as
  into about that this these those not no all any some very just also too much more most`.split(
    /\s+/,
  ),
);

/** Whether a lower-case word carries no topic. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}

/** Keywords of a text: its words of ASCII letters and digits in lower case, without stop words. */
export function keywords(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return new Set(words.filter((word) => !isStopWord(word)));
}

/** Jaccard overlap of two sets, 0 to 1; 0 for empty ones. */
export function jaccard(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const common = one.intersection(other).size;
  return common === 0 ? 0 : common / (one.size + other.size - common);
}
