import type { RetrievalResponse } from "../../../engine/retrieve/api.ts";
import { type FoldedHit, foldRepeats } from "./repeated-hits.ts";

/** Default number of hits to show. */
const SHOWN_HITS = 10;
/** Hits to show if none is strong: the answer may be among them, but mostly is not. */
const SHOWN_WEAK = 5;

/** Said of an answer without a strong hit. */
export const UNKNOWN = "Nothing is known about this for certain.";

/** What assistants and people see of an answer. Programs get all of it. */
export type ShownHits = {
  /** Each text once. */
  readonly hits: readonly FoldedHit[];
  /** False if something was found but none of it is strong: then it is not known for certain. */
  readonly isKnown: boolean;
  /** Number of strong hits that are not shown. */
  readonly more: number;
};

/**
 * The strong hits, or the best of the weak ones if none is strong; all that reach it where the caller named a floor.
 * @param limit the caller's maximum
 */
export function shownHits(
  { results, metadata }: Pick<RetrievalResponse, "results" | "metadata">,
  limit?: number | null,
): ShownHits {
  const strong = results.filter(({ strength }) => strength !== "weak");
  const isKnown = strong.length > 0 || results.length === 0;
  const answer =
    metadata.minScore !== undefined
      ? foldRepeats(results)
      : isKnown
        ? foldRepeats(strong)
        : foldRepeats(results).slice(0, SHOWN_WEAK);
  const hits = answer.slice(0, limit ?? SHOWN_HITS);
  return { hits, isKnown, more: answer.length - hits.length };
}
