import type { RankingPolicy, ReceiptCandidate } from "../../domain/records/receipt.ts";
import { compareUnits } from "../../lib/text.ts";

type Ranked = Pick<ReceiptCandidate, "nodeId" | "score" | "trace" | "rerankerScore">;

/** The order of the results under each policy; no two candidates are equal in it. */
export function rankingOrder(policy: RankingPolicy): (a: Ranked, b: Ranked) => number {
  switch (policy) {
    case "score_path_id":
      return (a, b) => b.score - a.score || pathOf(b) - pathOf(a) || byId(a, b);
    case "reranked_prefix":
      return (a, b) => {
        const isFirst = a.rerankerScore !== undefined;
        if (isFirst !== (b.rerankerScore !== undefined)) return isFirst ? -1 : 1;
        return b.score - a.score || (isFirst ? 0 : pathOf(b) - pathOf(a)) || byId(a, b);
      };
    case "score_id":
      return (a, b) => b.score - a.score || byId(a, b);
  }
}

function pathOf({ trace }: Ranked): number {
  return trace?.pathScore ?? 0;
}

/** By id, ascending. */
export function byId(a: { readonly nodeId: string }, b: { readonly nodeId: string }): number {
  return compareUnits(a.nodeId, b.nodeId);
}
