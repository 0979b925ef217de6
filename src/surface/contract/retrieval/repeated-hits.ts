import { storedSpeaker } from "../../../domain/speaker.ts";
import type { ResultCandidate } from "../../../engine/retrieve/api.ts";

/** A hit that stands for all that say the same. */
export type FoldedHit = {
  readonly hit: ResultCandidate;
  /** Memories with this text among the results, itself included. */
  readonly repeats: number;
};

/**
 * Hits with each text once, where the best of them stands, by the newest memory that has it. Texts are the same but for
 * white space at their ends and composed characters (NFC); those of other scopes or speakers, or in a contradiction, stay.
 */
export function foldRepeats(results: readonly ResultCandidate[]): readonly FoldedHit[] {
  const folded = new Map<string, FoldedHit>();
  for (const hit of results) {
    const { node, contradictsId } = hit;
    const text = node.content.normalize("NFC").trim();
    const key = JSON.stringify([text, node.scope, storedSpeaker(node.metadata), contradictsId]);
    const known = folded.get(key);
    const repeats = (known?.repeats ?? 0) + 1;
    const isNewer = known === undefined || node.createdAt > known.hit.node.createdAt;
    // The score is that of the best, which gives the place.
    const newest = isNewer ? { ...hit, ...scoresOf(known?.hit ?? hit) } : known.hit;
    folded.set(key, { hit: newest, repeats });
  }
  return [...folded.values()];
}

function scoresOf({ compositeScore, semanticRelevance, provenance }: ResultCandidate) {
  return { compositeScore, semanticRelevance, provenance };
}
