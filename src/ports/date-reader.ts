import type { Instant } from "../lib/instant.ts";

/** A date or span that a question names. */
export type DateSignal = {
  /** ABSOLUTE when the matched text has a digit. */
  readonly type: "ABSOLUTE" | "RELATIVE";
  /** The matched text as it stands in the question. */
  readonly value: string;
  readonly resolved: Instant;
};

/**
 * Finds dates in a question.
 *
 * For callers: `read` is synchronous and pure in its arguments; it answers in well below a millisecond for a usual
 * question. Call `ready` once before: the parser is loaded by it.
 * For implementers: never throws; what cannot be read gives no signal.
 */
export type DateReader = {
  /** Loads what reading takes; given a text, only what that text takes. Never rejects. */
  ready(text?: string): Promise<void>;
  /**
   * @param reference the moment that relative dates count from
   * @param languages two-letter codes; empty: all that are known
   */
  read(text: string, reference: Instant, languages: readonly string[]): readonly DateSignal[];
};
