/** The variables that say which language this user's programs speak. A subset of `process.env`. */
export type LanguageEnvironment = Readonly<Record<string, string | undefined>>;

/** The variables of POSIX, the decisive one first. */
const VARIABLES = ["LC_ALL", "LC_MESSAGES", "LANG"] as const;

/**
 * The language of the system, two or three lower-case letters: `de` of `de_DE.UTF-8`. English where nothing is said, or the
 * neutral language of programs (`C`, `POSIX`).
 */
export function systemLanguage(environment: LanguageEnvironment): string {
  const value = VARIABLES.map((name) => environment[name]).find((text) => text) ?? "";
  const [, language] = /^([a-z]{2,3})(?:[_.@-]|$)/i.exec(value) ?? [];
  return language?.toLowerCase() ?? "en";
}
