import { provenanceForm, type ScoreProvenance } from "../../../domain/records/score.ts";
import { type ScoreParts, scoreParts } from "../../../domain/score-parts.ts";
import { replayScore } from "../../../domain/score-replay.ts";
import type { Json } from "../../../lib/json.ts";
import type { RetrievalReceipt } from "../../client/types.gen.ts";
import { hexOf } from "../../data/hex.ts";

/** SHA-256 in 64 hex digits; undefined where the browser computes none, which is so on a network address without TLS. */
export async function sha256(text: string): Promise<string | undefined> {
  // The type says that it is always there.
  const subtle: SubtleCrypto | undefined = crypto.subtle;
  if (subtle === undefined) return undefined;
  const digest = await subtle.digest("SHA-256", new TextEncoder().encode(text));
  return hexOf(new Uint8Array(digest));
}

/** Whether a receipt is as it was written; undefined where that cannot be computed. */
export async function isChecksumRight({
  checksum,
  ...receipt
}: RetrievalReceipt): Promise<boolean | undefined> {
  const hash = await sha256(JSON.stringify(receipt));
  return hash === undefined ? undefined : hash === checksum;
}

/** The record of a score by memory, read as strictly as the engine reads it. @throws FormError */
export function provenancesOf(receipt: RetrievalReceipt): ReadonlyMap<string, ScoreProvenance> {
  return new Map(
    Object.entries(receipt.score_provenance).map(([id, wire]) => {
      // SAFETY: it came as JSON, so it is JSON.
      return [id, provenanceForm.read(wire as unknown as Json, id)];
    }),
  );
}

/** How many scores are not what their records give, computed again in this page; 0: all are equal, to the last bit. */
export function wrongScores(
  receipt: RetrievalReceipt,
  provenances: ReadonlyMap<string, ScoreProvenance>,
): number {
  return receipt.candidates.filter(({ node_id, score }) => {
    const provenance = provenances.get(node_id);
    return provenance === undefined || !Object.is(replayScore(provenance), score);
  }).length;
}

/** A score taken apart, for a bar: what remains of each signal, and what was taken off. */
export type ScoreBar = ScoreParts & {
  /** In the order of the signals; together the score. */
  readonly shares: readonly {
    readonly signal: string;
    readonly share: number;
    readonly isWeak: boolean;
  }[];
  readonly takenOff: number;
};

/** Below this a signal hardly says anything, whatever its rank pays. */
const WEAK = 0.1;

export function barOf(provenance: ScoreProvenance, isNearestOnly: boolean): ScoreBar {
  const taken = scoreParts(provenance);
  const sum = taken.parts.reduce((total, { amount }) => total + amount, 0);
  const scale = sum > 0 ? taken.score / sum : 0;
  return {
    ...taken,
    shares: taken.parts.map(({ signal, amount }) => ({
      signal,
      share: amount * scale,
      isWeak:
        (signal === "lexical" && provenance.trace.lexicalRelevance < WEAK) ||
        (signal === "semantic" && isNearestOnly),
    })),
    takenOff: Math.max(0, sum - taken.score),
  };
}
