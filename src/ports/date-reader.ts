import type { Instant } from "../lib/instant.ts";

/** A date or span that a question names. */
export type DateSignal = {
  /** ABSOLUTE if the matched text has a digit. */
  readonly type: "ABSOLUTE" | "RELATIVE";
  /** The matched text as written in the question. */
  readonly value: string;
  readonly resolved: Instant;
};

/**
 * Finds dates in a question.
 *
 * For callers: `read` is synchronous and pure in its arguments; it takes well below a millisecond for a usual question. Call
 * `ready` once before it: that loads the parser. For implementers: never throws; unreadable dates give no signal.
 */
export type DateReader = {
  /**
   * Loads what reading needs. Never rejects.
   * @param languages as of `read`; absent: those that the reader was made for
   */
  ready(languages?: readonly string[]): Promise<void>;
  /**
   * @param reference the moment that relative dates count from
   * @param languages two-letter codes; empty: all supported ones
   */
  read(text: string, reference: Instant, languages: readonly string[]): readonly DateSignal[];
};
