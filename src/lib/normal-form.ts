/** Combining marks in a row, those included that half-width marks of Japanese become. */
const LONG_RUN = /[\p{M}\uff9e\uff9f]{30}(?=[\p{M}\uff9e\uff9f])/gu;
const JOINER = "\u034f";
/** UTF-16 units up to which any text is normalised in a moment. */
const SHORT = 500;

/**
 * A text whose combining marks are quickly put in order: after each 30 in a row stands a joiner, which no reader sees (Unicode's
 * stream-safe form). Ordering a run takes the square of its length: 100,000 marks in a row would stop the thread for a minute.
 */
export function streamSafe(text: string): string {
  return text.length <= SHORT ? text : text.replace(LONG_RUN, `$&${JOINER}`);
}

/** The normal form of any text, in time that grows with its length alone. */
export function normalForm(form: "NFC" | "NFD" | "NFKC", text: string): string {
  return streamSafe(text).normalize(form);
}

/** The one form of a name that is compared exactly: names that look alike, but for blanks at their ends, are one. */
export function nameForm(name: string): string {
  return normalForm("NFC", name).trim();
}
