import type { StemmedLanguage } from "../../domain/language.ts";
import type { Stem } from "../../domain/stemmed-words.ts";

type Stemmer = { readonly stemmer: (word: string) => string };

/**
 * Loads one stemmer each. A stem is needed within a transaction, which waits for nothing: `import()` would be too late, and
 * imports at the top would evaluate all seven at every start, for texts of which most users have none.
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

/** The Snowball stemmers. Another release of the package may be another version of the analyser: a test compares their stems. */
export const snowball: Stem = (language, word) => {
  loaded[language] ??= LOADERS[language]().stemmer;
  return loaded[language](word);
};
