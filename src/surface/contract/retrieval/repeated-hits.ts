import { wholeOf } from "../../../domain/beginning.ts";
import { storedSpeaker } from "../../../domain/speaker.ts";
import type { ResultCandidate } from "../../../engine/retrieve/api.ts";
import { normalForm } from "../../../lib/text.ts";

/** A hit that represents all with the same text. */
export type FoldedHit = {
  readonly hit: ResultCandidate;
  /** Number of results with this text, itself included. */
  readonly repeats: number;
};

/**
 * Hits with each text once, at the place of the best, as the newest memory that has it. Texts are the same apart from white space
 * at their ends and composed characters (NFC). Texts of different scopes or speakers, or in a contradiction, stay separate.
 */
export function foldRepeats(results: readonly ResultCandidate[]): readonly FoldedHit[] {
  const folded = new Map<string, FoldedHit>();
  for (const hit of results) {
    const { node, contradictsId } = hit;
    // A cut text does not say whether the rest is the same.
    const isCut = wholeOf(node).content !== undefined;
    const text = isCut ? node.id : normalForm("NFC", node.content).trim();
    const key = JSON.stringify([text, node.scope, storedSpeaker(node.metadata), contradictsId]);
    const known = folded.get(key);
    const repeats = (known?.repeats ?? 0) + 1;
    const isNewer = known === undefined || node.createdAt > known.hit.node.createdAt;
    // With the score of the best, which determines the place.
    const newest = isNewer ? { ...hit, ...scoresOf(known?.hit ?? hit) } : known.hit;
    folded.set(key, { hit: newest, repeats });
  }
  return [...folded.values()];
}

function scoresOf({ compositeScore, semanticRelevance, provenance }: ResultCandidate) {
  return { compositeScore, semanticRelevance, provenance };
}
