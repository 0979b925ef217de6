import { normalForm } from "../lib/text.ts";
import {
  isFunctionWord,
  languagesOfQuestion,
  languagesOfText,
  type StemmedLanguage,
} from "./language.ts";
import {
  analyse,
  ENGLISH_STOP_WORDS,
  identifierParts,
  isPlain,
  questionTerms,
  type Term,
  typedPlainly,
  withoutAccents,
} from "./lexical-analysis.ts";

/**
 * Words of every language, on top of the analyser. A text in a language with a stemmer is indexed with its words and their stems. A stem
 * ends in a mark of its language, so that it matches stems of that language only, and no word: results for English do not depend on it. A
 * word of a question is searched for as it is and by its stem in each possible language; a text has the word if it has any of these.
 */

/** The stem of a word in lower case, composed. */
export type Stem = (language: StemmedLanguage, word: string) => string;

/** Marks at the end of stems: private-use characters, so that no text contains them. They must never change. */
const SIGNS: Readonly<Record<StemmedLanguage, string>> = {
  de: "\ue001",
  fr: "\ue002",
  es: "\ue003",
  it: "\ue004",
  pt: "\ue005",
  nl: "\ue006",
  ru: "\ue007",
};

/** The mark of a word typed without the letters that do not decompose. */
const PLAIN_SIGN = "\ue008";
/** Parts of identifiers that are searched for. */
const PARTS_MAX = 64;

/** Scripts have numerals and symbols of their own (ↀ, ꙳), which are not letters. */
const LATIN_WORD = /[[\p{Script=Latin}&&\p{L}]\p{M}]+/gv;
const CYRILLIC_WORD = /[[\p{Script=Cyrillic}&&\p{L}]\p{M}]+/gv;
/** UTF-16 units of the longest and the shortest word that is stemmed. */
const WORD_MAX = 40;
const WORD_MIN = 2;

/** The stems of a text's content words, repeats included. */
export function stemsOf(
  text: string,
  terms: readonly string[],
  stem: Stem,
  languages: readonly StemmedLanguage[] = languagesOfText(text, terms),
): readonly string[] {
  return languages.flatMap((language) =>
    wordsIn(text, language)
      .filter((word) => !isFunctionWord(language, withoutAccents(word)))
      .map((word) => signed(language, word, stem)),
  );
}

/**
 * What is indexed for a text besides its words: stems, plain spellings, and parts of identifiers.
 * @param languages of its words; default: those detected
 */
export function besideWords(
  text: string,
  terms: readonly string[],
  stem: Stem,
  languages?: readonly StemmedLanguage[],
): readonly string[] {
  const plain = isPlain(text)
    ? []
    : terms.flatMap((term) => {
        const typed = typedPlainly(term);
        return typed === undefined ? [] : [typed + PLAIN_SIGN];
      });
  return [...stemsOf(text, terms, stem, languages), ...plain, ...identifierParts(text)];
}

/** A form of a word of a question. */
export type Form = Term & {
  /** The weight of an occurrence: a different spelling counts less than the word itself. */
  readonly weight: number;
};

/** A word of a question with its forms, the word itself first; a text has the word if it has one of them. */
export type QuestionWord = { readonly forms: readonly Form[] };

const TYPED_OTHERWISE = 0.5;

/** Other spellings of a word that a text may have. */
function otherwiseTyped({ term, prefix }: Term): readonly Form[] {
  if (prefix) return [];
  const typed = typedPlainly(term);
  const forms = typed === undefined ? [term + PLAIN_SIGN] : [typed, typed + PLAIN_SIGN];
  return forms.map((form) => ({ term: form, prefix: false, weight: TYPED_OTHERWISE }));
}

/** The words to search for: distinct, without stop words of the question's language unless nothing else is left. */
export function questionWords(question: string, stem: Stem): readonly QuestionWord[] {
  const { stemmed, asked } = languagesOfQuestion(question, analyse(question));
  const isStopWord = (word: string): boolean =>
    asked.some((language) =>
      language === "en" ? ENGLISH_STOP_WORDS.has(word) : isFunctionWord(language, word),
    );
  const terms = questionTerms(question, isStopWord);
  const stems = new Map(terms.map(({ term }) => [term, new Set<string>()]));
  for (const language of stemmed) {
    for (const word of new Set(wordsIn(question, language))) {
      stems.get(withoutAccents(word))?.add(signed(language, word, stem));
    }
  }
  const known = new Set(terms.map(({ term }) => term));
  const parts = [...new Set(identifierParts(question))]
    .filter((part) => !known.has(part) && !isStopWord(part))
    .slice(-PARTS_MAX);
  return [...terms, ...parts.map((term) => ({ term, prefix: false }))].map((term) => ({
    forms: [
      { ...term, weight: 1 },
      ...[...(stems.get(term.term) ?? [])].map((form) => ({
        term: form,
        prefix: false,
        weight: 1,
      })),
      ...otherwiseTyped(term),
    ],
  }));
}

/** The words of a text that may belong to a language, in lower case, composed. */
function wordsIn(text: string, language: StemmedLanguage): readonly string[] {
  const composed = (isPlain(text) ? text : normalForm("NFKC", text)).toLowerCase();
  const words = composed.match(language === "ru" ? CYRILLIC_WORD : LATIN_WORD) ?? [];
  return words.filter(({ length }) => length >= WORD_MIN && length <= WORD_MAX);
}

const DIGRAPH = /(?<![aeouq])([aou])e/g;
const UMLAUTS: Readonly<Record<string, string>> = { a: "ä", o: "ö", u: "ü" };

function signed(language: StemmedLanguage, word: string, stem: Stem): string {
  // Some write ae for ä.
  const spelled =
    language === "de"
      ? word.replace(DIGRAPH, (found, vowel: string) => UMLAUTS[vowel] ?? found)
      : word;
  return `${withoutAccents(stem(language, spelled))}${SIGNS[language]}`;
}
