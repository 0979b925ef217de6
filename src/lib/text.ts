/** Compares texts by UTF-16 units: for ASCII, such as instants and identifiers, the order of their bytes. */
export function compareUnits(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Compares texts by code point; JavaScript's own `<` compares UTF-16 units, which sorts 😀 before ﬁ. */
export function compareCodePoints(a: string, b: string): number {
  return compareUnits(raised(a), raised(b));
}

/** A text mapped so that surrogates, which stand for code points above all other units, sort last. */
function raised(text: string): string {
  return text.replace(/[\ud800-\uffff]/g, (unit) =>
    String.fromCharCode(unit.charCodeAt(0) + (unit < "\ue000" ? 0x2000 : -0x800)),
  );
}

const ASCII = /^[\0-\x7f]*$/;

/**
 * Text for comparison that ignores case, by full folding: `Straße` equals `STRASSE` and `STRAẞE`, every form of sigma is the
 * same, and the dotless `ı` is not `i`.
 */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text.includes("ı") ? text.split("ı").map(fold).join("ı") : fold(text);
}

function fold(text: string): string {
  // Lower case first: the capital ẞ stays itself in upper case.
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll("ς", "σ");
}

/** Runs of combining marks, including those that half-width Japanese marks become. */
const LONG_RUN = /[\p{M}\uff9e\uff9f]{30}(?=[\p{M}\uff9e\uff9f])/gu;
const JOINER = "\u034f";
/** UTF-16 units up to which any text is normalised quickly. */
const SHORT = 500;

/**
 * A text whose combining marks can be sorted quickly: an invisible joiner follows each 30 in a row (Unicode's stream-safe form). Sorting a
 * run is quadratic: 100,000 marks in a row would block the thread for a minute.
 */
export function streamSafe(text: string): string {
  return text.length <= SHORT ? text : text.replace(LONG_RUN, `$&${JOINER}`);
}

/** The normal form of any text, in linear time. */
export function normalForm(form: "NFC" | "NFD" | "NFKC", text: string): string {
  return streamSafe(text).normalize(form);
}

/** The canonical form of a name that is compared exactly: names that look alike, apart from surrounding blanks, are equal. */
export function nameForm(name: string): string {
  return normalForm("NFC", name).trim();
}

const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

/** Text for comparison that ignores spelling variants: NFKC, trimmed, full case folding, each run of white space as one blank. */
export function normaliseText(text: string): string {
  // For plain words, which most texts are, lower case suffices.
  if (PLAIN.test(text)) return text.toLowerCase();
  return foldCase(normalForm("NFKC", text).trim()).replace(/\s+/g, " ");
}

export type CamelCase<S extends string> = S extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<CamelCase<Rest>>}`
  : S;

/** An object with its names in camel case. */
type Camel<T> = {
  [K in keyof T as K extends string ? CamelCase<K> : never]: T[K];
};

/** Without the members that are null or undefined. */
export function given<T extends object>(value: T): { [K in keyof T]?: NonNullable<T[K]> } {
  // SAFETY: the members are those of the value, without null and undefined ones.
  return Object.fromEntries(
    Object.entries(value).filter(([, inner]) => inner !== null && inner !== undefined),
  ) as { [K in keyof T]?: NonNullable<T[K]> };
}

/** The same members with names in camel case; values are unchanged. */
export function camelKeys<T extends object>(value: T): Camel<T> {
  // SAFETY: the names change as the type says.
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [camelCase(name), inner]),
  ) as Camel<T>;
}

export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

const PLAIN_NAME = /^[\w./@+:-]{1,100}$/;
const SHOWN_CHARS = 60;

/** A name in running text, on one line. Files from elsewhere may contain any name, so all but plain ones are quoted and cut. */
export function shownName(name: string): string {
  if (PLAIN_NAME.test(name)) return name;
  const start = name.slice(0, SHOWN_CHARS).replace(/[^ -~]/g, "?");
  return JSON.stringify(start.length < name.length ? `${start}...` : start);
}

/** A word quoted for a POSIX shell. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The edit distance of two texts. */
export function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1];
    for (let at = 0; at < to.length; at += 1) {
      const [replaced = 0, removed = 0, inserted = 0] = [row[at], row[at + 1], next[at]];
      next.push(Math.min(replaced + (to[at] === letter ? 0 : 1), removed + 1, inserted + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

/** Spellings of the home folder where no shell expands them. */
const HOME = /^(?:~|\$HOME|\$\{HOME\}|%USERPROFILE%)(?=$|[\\/])/;

/** The path with the home folder in place of `~`, `$HOME` or `${HOME}` at its start. @param home absolute */
export function withHome(path: string, home: string): string {
  return path.replace(HOME, () => home);
}
