/** Languages whose cues are known. */
export type CueLanguage = "en" | "de" | "es";

const LANGUAGES: readonly CueLanguage[] = ["en", "de", "es"];

/** Words that nearly every text of a language has, and that are no words of the others. */
const FREQUENT: Readonly<Record<CueLanguage, ReadonlySet<string>>> = {
  en: new Set(
    "the and is are of my i for with on it have has we you to that this do not but at from be she they his her".split(
      " ",
    ),
  ),
  de: new Set(
    `der die das den dem und ich ist sind nicht kein keine ein eine einen einem einer mit zu zum zur wir für auf habe hat mein meine
    meinen wohne arbeite bei im von wenn aber bin du sie auch noch nur seit vielleicht oder als jetzt nehme trinke`.split(
      /\s+/,
    ),
  ),
  es: new Set(
    `el la los las que y en un una es mi mis con por para como yo de del pero al voy todavía vivo trabajo tengo soy estoy si ya más desde
    hace muy lo su sus se te le uso prefiero fue era está ahora quizás tal quiero cambié compré vendí dejé necesito gano`.split(
      /\s+/,
    ),
  ),
};

/** Only one of the languages has these. */
const TELLTALE: Readonly<Partial<Record<CueLanguage, RegExp>>> = {
  de: /[äöüß]/iu,
  es: /[ñáíóú¿¡]/iu,
};

/** The language of a text, as far as its commonest words tell. @param around the language of what was said around it, for a text that does not tell */
export function languageOf(text: string, around: CueLanguage = "en"): CueLanguage {
  const tokens =
    text
      .slice(0, 4096)
      .toLowerCase()
      .match(/[\p{L}\p{M}]+/gu) ?? [];
  const scoreOf = (language: CueLanguage): number =>
    tokens.filter((token) => FREQUENT[language].has(token)).length +
    (TELLTALE[language]?.test(text) === true ? 1 : 0);
  let best = around;
  for (const language of LANGUAGES) if (scoreOf(language) > scoreOf(best)) best = language;
  return best;
}
