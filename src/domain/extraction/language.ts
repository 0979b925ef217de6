import { likeliest } from "../language.ts";

const LANGUAGES = ["en", "de", "es"] as const;

/** Languages whose cues are known. */
export type CueLanguage = (typeof LANGUAGES)[number];

/** The language of a text. @param around the language of what was said around it, for a text that does not tell */
export function languageOf(text: string, around: CueLanguage = "en"): CueLanguage {
  return likeliest(text, LANGUAGES, around);
}
