import { fromDate, type Instant, parseInstant } from "../lib/instant.ts";
import { invalid } from "./errors.ts";

/** What callers may pass for a moment: ISO 8601 text with an offset, or a Date. */
export type InstantInput = string | Date;

/**
 * Reads a moment.
 * @throws SvcError invalid_argument if it is malformed or has no offset
 */
export function parseInstantInput(value: unknown, field: string): Instant | undefined {
  if (value === undefined || value === null) return undefined;
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw invalid(field, "is an invalid date");
    const year = value.getUTCFullYear();
    if (year < 1 || year > 9999) throw invalid(field, `the year ${year} is not within 1 to 9999`);
    return fromDate(value);
  }
  if (typeof value !== "string") throw invalid(field, "must be ISO 8601 text");
  const parsed = parseInstant(value);
  if (parsed === "naive") {
    const text = value.trim();
    const example = `${text}${/\d:\d/.test(text) ? "" : "T00:00:00"}Z`;
    throw invalid(field, `${JSON.stringify(text)} has no time zone; write for example ${example}`);
  }
  if (parsed === "malformed") {
    throw invalid(field, `${JSON.stringify(value.slice(0, 80))} is not an ISO 8601 date and time`);
  }
  return parsed.instant;
}

/**
 * Checks a validity interval `[from, to)`: an end needs an explicit, strictly earlier start.
 * @throws SvcError invalid_argument
 */
export function requireInterval(from: Instant | undefined, to: Instant | undefined): void {
  if (to === undefined) return;
  if (from === undefined) throw invalid("valid_to", "needs an explicit valid_from");
  if (to <= from) throw invalid("valid_to", `${to} must be later than valid_from ${from}`);
}

/**
 * Reads the two ends of a window, each optional and inclusive; they may be the same moment.
 * @param field name of the ends without `_from` and `_to`
 * @throws SvcError invalid_argument if one is malformed, or the end lies before the start
 */
export function parseWindow(from: unknown, to: unknown, field: string) {
  const window = {
    from: parseInstantInput(from, `${field}_from`),
    to: parseInstantInput(to, `${field}_to`),
  };
  if (window.from !== undefined && window.to !== undefined && window.to < window.from) {
    throw invalid(`${field}_to`, `${window.to} is before ${field}_from ${window.from}`);
  }
  return window;
}
