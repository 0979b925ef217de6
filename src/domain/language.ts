import { FUNCTION_WORDS, SIGN_WORDS } from "./function-words.ts";
import { analyse, ENGLISH_STOP_WORDS, isPlain } from "./lexical-analysis.ts";

/** The languages besides English whose words are compared by their stems. */
export const STEMMED_LANGUAGES = ["de", "fr", "es", "it", "pt", "nl", "ru"] as const;
export type StemmedLanguage = (typeof STEMMED_LANGUAGES)[number];
type Language = StemmedLanguage | "en";
const LANGUAGES: readonly Language[] = ["en", ...STEMMED_LANGUAGES];

/** Letters and signs that few languages have. */
const LETTERS: Readonly<Record<StemmedLanguage, RegExp>> = {
  de: /[äöüß]/i,
  fr: /[àâçèéêëîïôùûœ]/i,
  es: /[ñ¿¡áíóú]/i,
  it: /[àèìòù]/i,
  pt: /[ãõâêçáíóú]/i,
  nl: /[ëï]/i,
  ru: /[а-яё]/i,
};
/** Cyrillic letters that Russian lacks. */
const NOT_RUSSIAN = /[іїєґўјљњђћџќѓѕ]/i;
/**
 * What such a letter says, if a function word that only one language has says 1. Cyrillic without letters that Russian lacks is
 * stemmed as Russian, whatever else it may be.
 */
const LETTER_SAYS: Readonly<Record<StemmedLanguage, number>> = {
  ...{ de: 0.5, fr: 0.5, es: 0.5, it: 0.5, pt: 0.5, nl: 0.5 },
  ru: 1,
};
/** Words of a text that are looked at, */
const WORDS_READ = 1000;
/** and UTF-16 units in which its letters are. */
const CHARS_READ = 1000;
/** What must be known of a text before it is stemmed. */
const SURE_FROM = 1;
/** How much more must be known of its language than of English. */
const ABOVE_ENGLISH = 2;
/** A language for which this share of the best one's signs speaks is possible too: of a text, */
const ALSO_TEXT = 0.8;
/** and of a question, which costs less. */
const ALSO_QUESTION = 0.5;
/** Less than this about any language is nothing. */
const LEAST_KNOWN = 0.5;

type WordLists = {
  /** Function words of each language, folded. */
  readonly words: Readonly<Record<Language, ReadonlySet<string>>>;
  /** The languages that have each word. */
  readonly signs: ReadonlyMap<string, readonly Language[]>;
};

let lists: WordLists | undefined;

/** Made at the first text, since most commands read none. */
function wordLists(): WordLists {
  lists ??= foldLists();
  return lists;
}

function foldLists(): WordLists {
  const folded = (language: StemmedLanguage) => new Set(analyse(FUNCTION_WORDS[language]));
  const words = {
    ...{ en: ENGLISH_STOP_WORDS, de: folded("de"), fr: folded("fr"), es: folded("es") },
    ...{ it: folded("it"), pt: folded("pt"), nl: folded("nl"), ru: folded("ru") },
  };
  const signs = new Map<string, readonly Language[]>();
  for (const language of LANGUAGES) {
    for (const word of new Set([...words[language], ...analyse(SIGN_WORDS[language])])) {
      signs.set(word, [...(signs.get(word) ?? []), language]);
    }
  }
  return { words, signs };
}

/** Whether a word, folded, says nothing about the topic of a text in this language. */
export function isFunctionWord(language: StemmedLanguage, word: string): boolean {
  return wordLists().words[language].has(word);
}

type Known = Readonly<Record<Language, number>>;

/** How much speaks for each language. */
function known(text: string, terms: readonly string[]): Known {
  const found = { en: 0, de: 0, fr: 0, es: 0, it: 0, pt: 0, nl: 0, ru: 0 };
  const seen = new Set<string>();
  const { signs } = wordLists();
  for (let at = 0; at < terms.length && at < WORDS_READ; at += 1) {
    const term = terms[at] ?? "";
    const languages = signs.get(term);
    if (languages === undefined || seen.has(term)) continue;
    seen.add(term);
    for (const language of languages) found[language] += 1 / languages.length;
  }
  if (isPlain(text)) return found;
  const start = text.slice(0, CHARS_READ).normalize("NFKC");
  for (const language of STEMMED_LANGUAGES) {
    if (LETTERS[language].test(start)) found[language] += LETTER_SAYS[language];
  }
  if (NOT_RUSSIAN.test(start)) found.ru = 0;
  return found;
}

function most(found: Known): number {
  return LANGUAGES.reduce((best, language) => Math.max(best, found[language]), 0);
}

function above(found: Known, least: number): readonly StemmedLanguage[] {
  return STEMMED_LANGUAGES.filter((language) => found[language] >= least);
}

/**
 * The languages in which a text is stemmed besides as English: mostly one, two if both are likely, none if it is English or not
 * known. The same for ever for one version of the analyser.
 * @param terms of the text, as `analyse` returns them
 */
export function languagesOfText(
  text: string,
  terms: readonly string[],
): readonly StemmedLanguage[] {
  const found = known(text, terms);
  const best = most(found);
  const isEnglish = found.en * ABOVE_ENGLISH >= best;
  return best < SURE_FROM || isEnglish ? [] : above(found, best * ALSO_TEXT).slice(0, 2);
}

export type QuestionLanguages = {
  /** In which a question is stemmed besides as English: all that are possible. */
  readonly stemmed: readonly StemmedLanguage[];
  /** Whose function words it is asked with. */
  readonly asked: readonly Language[];
};

/** The languages of a question. Little is known of a short one: it is then stemmed in all languages. */
export function languagesOfQuestion(question: string, terms: readonly string[]): QuestionLanguages {
  const found = known(question, terms);
  const best = most(found);
  if (best < LEAST_KNOWN) return { stemmed: STEMMED_LANGUAGES, asked: ["en"] };
  const least = best * ALSO_QUESTION;
  const stemmed = above(found, least);
  if (found.en === best || best < SURE_FROM) return { stemmed, asked: ["en"] };
  return { stemmed, asked: [...(found.en >= least ? (["en"] as const) : []), ...stemmed] };
}

/**
 * The likeliest of some languages for a text.
 * @param otherwise the one of a text that does not tell
 */
export function likeliest<L extends Language>(text: string, among: readonly L[], otherwise: L): L {
  const found = known(text, analyse(text));
  return among.reduce(
    (best, language) => (found[language] > found[best] ? language : best),
    otherwise,
  );
}

const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** The languages other than English that a question surely is in, as two-letter codes: one, or a few that are alike. */
export function foreignLanguages(question: string): readonly string[] {
  if (KANA.test(question)) return ["ja"];
  const { asked } = languagesOfQuestion(question, analyse(question));
  return asked.filter((language) => language !== "en");
}
