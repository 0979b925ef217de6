import { stemmer as dutch } from "@orama/stemmers/dutch";
import { stemmer as french } from "@orama/stemmers/french";
import { stemmer as german } from "@orama/stemmers/german";
import { stemmer as italian } from "@orama/stemmers/italian";
import { stemmer as portuguese } from "@orama/stemmers/portuguese";
import { stemmer as russian } from "@orama/stemmers/russian";
import { stemmer as spanish } from "@orama/stemmers/spanish";
import type { StemmedLanguage } from "../../domain/language.ts";
import type { Stem } from "../../domain/stemmed-words.ts";

const STEMMERS: Readonly<Record<StemmedLanguage, (word: string) => string>> = {
  de: german,
  fr: french,
  es: spanish,
  it: italian,
  pt: portuguese,
  nl: dutch,
  ru: russian,
};

/** The Snowball stemmers. Another release of the package may be another version of the analyser: a test compares their stems. */
export const snowball: Stem = (language, word) => STEMMERS[language](word);
