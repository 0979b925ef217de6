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
 * Words of every language, on top of the analyser. A text in a language with a stemmer is indexed with its words and, beside them,
 * with their stems. A stem ends in a sign of its language, so that it meets stems of the same language alone, and no word: what
 * English texts and questions find does not depend on it. A word of a question is searched for as it is and by its stem in each
 * language that the question may be in; whichever of these a text has, it has that word.
 */

/** The stem of a word in lower case, composed. */
export type Stem = (language: StemmedLanguage, word: string) => string;

/** Signs at the end of stems: of private use, so that no text has them. They never change. */
const SIGNS: Readonly<Record<StemmedLanguage, string>> = {
  de: "\ue001",
  fr: "\ue002",
  es: "\ue003",
  it: "\ue004",
  pt: "\ue005",
  nl: "\ue006",
  ru: "\ue007",
};

/** The sign of a word as it is typed without the letters that do not decompose. */
const PLAIN_SIGN = "\ue008";
/** Parts of identifiers that are searched for. */
const PARTS_MAX = 64;

/** Scripts have numerals and signs of their own (ↀ, ꙳), which are no letters. */
const LATIN_WORD = /[[\p{Script=Latin}&&\p{L}]\p{M}]+/gv;
const CYRILLIC_WORD = /[[\p{Script=Cyrillic}&&\p{L}]\p{M}]+/gv;
/** UTF-16 units of the longest word that is stemmed, and the shortest. */
const WORD_MAX = 40;
const WORD_MIN = 2;

/** The stems of the words of a text that say what it is about, repeats included. */
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
 * What is indexed of a text beside its words: their stems, as they are typed plainly, and the parts of identifiers.
 * @param languages of which its words may be; default: those detected
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
  /** What an occurrence counts: a word that was typed otherwise counts less than the word itself. */
  readonly weight: number;
};

/** A word of a question: a text has it that has one of its forms, the word itself first. */
export type QuestionWord = { readonly forms: readonly Form[] };

const TYPED_OTHERWISE = 0.5;

/** How a text may have a word that is typed with other letters. */
function otherwiseTyped({ term, prefix }: Term): readonly Form[] {
  if (prefix) return [];
  const typed = typedPlainly(term);
  const forms = typed === undefined ? [term + PLAIN_SIGN] : [typed, typed + PLAIN_SIGN];
  return forms.map((form) => ({ term: form, prefix: false, weight: TYPED_OTHERWISE }));
}

/** The words to search for: distinct, without stop words of the question's language unless there is nothing else. */
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

/** The words of a text that may be of a language, in lower case, composed. */
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
