/** Dates, hours and numbers as the reader's browser writes them. */
const LOCALE = navigator.language;
const NUMBER = new Intl.NumberFormat(LOCALE);
const MEGABYTES = new Intl.NumberFormat(LOCALE, {
  style: "unit",
  unit: "megabyte",
  maximumFractionDigits: 1,
});
const ORDINAL = new Intl.PluralRules("en", { type: "ordinal" });
const ENDINGS: Readonly<Record<string, string>> = { one: "st", two: "nd", few: "rd" };

/** The time zone of this browser, as dates are shown and days are counted. */
export const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

export const number = (value: number): string => NUMBER.format(value);

/** `1 memory`, `2 memories`. @param many default: with an s */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}

export const memoryCount = (count: number): string => counted(count, "memory", "memories");

export const bytes = (value: number): string => MEGABYTES.format(value / 1e6);
export const share = (value: number): string => value.toFixed(2);

export function ordinal(value: number): string {
  return `${value}${ENDINGS[ORDINAL.select(value)] ?? "th"}`;
}

function dates(options: Intl.DateTimeFormatOptions) {
  const format = new Intl.DateTimeFormat(LOCALE, options);
  return (at: string | number | Date): string => format.format(new Date(at));
}

export const date = dates({ day: "numeric", month: "short", year: "numeric" });
const fullDate = dates({ dateStyle: "full" });
/** `Sunday 22 November 2026`, for a day as `YYYY-MM-DD` in this time zone. */
export const longDate = (day: string): string => fullDate(startOfDay(day));
/** `22 Nov 2026 to 1 Dec 2026`. @param open before the beginning of what has no end */
export function span(from: string, to: string | null, open = ""): string {
  return to === null ? `${open}${date(from)}` : `${date(from)} to ${date(to)}`;
}
export const time = dates({ hour: "2-digit", minute: "2-digit" });
/** `22 Nov 2026, 16:03`. */
export const dateTime = (instant: string): string => `${date(instant)}, ${time(instant)}`;
/** `16:03:24`. */
export const clockTime = dates({ timeStyle: "medium" });
/** With weekday, seconds and zone, for a date's tooltip. */
export const exactTime = dates({ dateStyle: "full", timeStyle: "long" });
export const monthName = dates({ month: "short" });

/** The first moment of `YYYY-MM-DD` in this time zone. @param plus days to add */
export function startOfDay(day: string, plus = 0): Date {
  const [year = 1970, month = 1, date = 1] = day.split("-").map(Number);
  const start = new Date(2000, 0, 1);
  // Years below 100 would otherwise be in the 20th century.
  start.setFullYear(year, month - 1, date + plus);
  return start;
}

/** The day of an instant in this time zone, as `YYYY-MM-DD`. */
export function dayOf(instant: string): string {
  const at = new Date(instant);
  const parts = [at.getMonth() + 1, at.getDate()].map((part) => String(part).padStart(2, "0"));
  return [String(at.getFullYear()).padStart(4, "0"), ...parts].join("-");
}

export const now = (): number => Date.now();

/** Runs after some milliseconds. @returns a function that cancels it */
export function later(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}

/** Plain words for codes of the interface; other codes are plain words themselves. */
export const words = {
  source: {
    user_stated: "said",
    user_demonstrated: "shown",
    system_inferred: "concluded",
    external_document: "a document",
    tool_output: "a tool",
  },
  state: {
    tentative: "new",
    stable: "settled",
    contested: "contested",
    superseded: "replaced",
    deprecated: "withdrawn",
    archived: "archived",
  },
  knowledge: {
    observed: "seen",
    asserted: "stated",
    inferred: "concluded",
    hypothetical: "perhaps",
    conditional: "under a condition",
    deprecated: "withdrawn",
    unverified: "not checked",
  },
  said: {
    user: "The user said it",
    human: "The user said it",
    participant: "A participant said it",
    assistant: "An assistant said it",
    tool: "A tool returned it",
    system: "The system said it",
  },
  done: {
    LIFECYCLE_CHANGED: "changed",
    SUPERSEDENCE_APPLIED: "replaced",
    CONTRADICTION_NOTED: "contradicted",
    CONTRADICTION_RESOLVED: "settled",
    EPISTEMIC_TRANSITION: "evaluated",
    REINFORCE: "reinforced",
    MEMORY_RESTORED: "brought back",
    PIN: "pinned",
    RELEASE: "released",
    ORGANIZER_MERGED: "merged",
    TOMBSTONE_SWEEP: "let go",
    DIRECT_STORE_REQUESTED: "stored",
    DERIVATION_COMMITTED: "extracted",
    FAST_INGEST_BATCH: "took in",
    PAIR_CHANGE_REQUESTED: "changed with another",
  },
  fading: { permanent: "never", slow: "slowly", medium: "medium", fast: "fast", rapid: "rapidly" },
};

/** What a record of the log did, as a participle; the name of one that is not known. */
export function doneWord(type: string): string {
  const done: Readonly<Record<string, string>> = words.done;
  return done[type] ?? type;
}

export function edgeWords(type: string): string {
  return type === "supersedes" ? "replaces" : type.replaceAll("_", " ");
}

/** Whether the data is encrypted, in words. @param encrypted null if unknown */
export function encryption(encrypted: boolean | null): string {
  if (encrypted === null) return "the server decides whether it is encrypted";
  return encrypted ? "encrypted" : "not encrypted";
}
