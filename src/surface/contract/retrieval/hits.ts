import type { ResultCandidate } from "../../../engine/retrieve/api.ts";
import { type FoldedHit, foldRepeats } from "./repeated-hits.ts";

/** Hits that are shown where nobody says how many. */
const SHOWN_HITS = 10;
/** Hits that are shown where none is strong: the answer may be among them, and mostly is not. */
const SHOWN_WEAK = 5;

/** What assistants and people are shown of an answer. Programs get all of it. */
export type ShownHits = {
  /** Each text once. */
  readonly hits: readonly FoldedHit[];
  /** False where something was found and none of it is strong: then it is not surely known. */
  readonly isKnown: boolean;
  /** Strong ones that are not shown. */
  readonly more: number;
};

/** The strong hits, or the best of the weak ones where none is strong. @param limit the most that the caller wants */
export function shownHits(results: readonly ResultCandidate[], limit?: number | null): ShownHits {
  const strong = results.filter(({ strength }) => strength !== "weak");
  const isKnown = strong.length > 0 || results.length === 0;
  const answer = isKnown ? foldRepeats(strong) : foldRepeats(results).slice(0, SHOWN_WEAK);
  const hits = answer.slice(0, limit ?? SHOWN_HITS);
  return { hits, isKnown, more: answer.length - hits.length };
}
