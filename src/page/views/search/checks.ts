import { provenanceForm, type ScoreProvenance } from "../../../domain/records/score.ts";
import { type ScoreParts, scoreParts } from "../../../domain/score-parts.ts";
import { replayScore } from "../../../domain/score-replay.ts";
import { FormError } from "../../../lib/form.ts";
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

/** What was computed again from a receipt. */
export type Checked = {
  /** Whether the receipt is as it was written; undefined where that cannot be computed. */
  readonly isChecksumRight: boolean | undefined;
  /** Scores that are not what their records give; 0: all are equal, to the last bit. */
  readonly wrongScores: number;
};

/** Scores computed again before other work gets a turn. */
const SLICE = 50;

/** Computes the checksum and all scores again, a few at a time: the answer is on the screen meanwhile. */
export async function check({ checksum, ...receipt }: RetrievalReceipt): Promise<Checked> {
  const { candidates } = receipt;
  let wrongScores = 0;
  for (let from = 0; from < candidates.length; from += SLICE) {
    await new Promise((resolve) => setTimeout(resolve));
    wrongScores += candidates.slice(from, from + SLICE).filter(({ node_id, score }) => {
      const provenance = provenanceOf(receipt, node_id);
      return provenance === undefined || !Object.is(replayScore(provenance), score);
    }).length;
  }
  const hash = await sha256(JSON.stringify(receipt));
  return { isChecksumRight: hash === undefined ? undefined : hash === checksum, wrongScores };
}

/** The record of a memory's score, read as strictly as the engine reads it; undefined if it cannot be read. */
export function provenanceOf(
  { score_provenance }: Pick<RetrievalReceipt, "score_provenance">,
  id: string,
): ScoreProvenance | undefined {
  try {
    // SAFETY: it came as JSON, so it is JSON.
    return provenanceForm.read(score_provenance[id] as unknown as Json, id);
  } catch (error) {
    if (error instanceof FormError) return undefined;
    throw error;
  }
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
