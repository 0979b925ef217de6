import {
  type AnyReceipt,
  isLean,
  type LeanReceipt,
  type RankingPolicy,
  type ReceiptCandidate,
  type RetrievalReceipt,
} from "../../domain/records/receipt.ts";
import type { RetrievalRecord } from "../../domain/records/retrieval-record.ts";
import { baseScore, replayScore } from "../../domain/score-replay.ts";
import { compareUnits } from "../../lib/text.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { BuiltReceipt } from "./build.ts";

/**
 * Recomputes a receipt from itself: every score and the order. Also checks that the index record covers the same context.
 * @returns the inconsistencies, one sentence each; empty if none
 */
export function receiptProblems({ receipt, record }: BuiltReceipt<AnyReceipt>): readonly string[] {
  const ids = receipt.candidates.map(({ nodeId }) => nodeId);
  if (new Set(ids).size !== ids.length) return ["a candidate stands twice"];
  const shown = contextProblems(record.context, receipt.candidates);
  if (isLean(receipt)) return [...rankProblems(receipt), ...shown];
  if (!isSame([...receipt.scoreProvenance.keys()], ids)) {
    return ["the score provenance is not that of the candidates, in their order"];
  }
  return [...scoreProblems(receipt), ...orderProblems(receipt), ...ageProblems(receipt), ...shown];
}

function rankProblems({ candidates }: LeanReceipt): string[] {
  const at = candidates.findIndex(({ rank }, index) => rank <= (candidates[index - 1]?.rank ?? 0));
  return at < 0 ? [] : [`${candidates[at]?.nodeId}: stands too low for its rank`];
}

function scoreProblems({ candidates, scoreProvenance }: RetrievalReceipt): string[] {
  return candidates.flatMap(({ nodeId, score }) => {
    const provenance = scoreProvenance.get(nodeId);
    if (provenance === undefined) return [];
    const [base, told] = [baseScore(provenance), provenance.trace.compositeScore];
    if (base !== told) return [`${nodeId}: the base score is ${base}, the trace says ${told}`];
    const replayed = replayScore(provenance);
    return replayed === score ? [] : [`${nodeId}: the score is ${score}, replayed ${replayed}`];
  });
}

function orderProblems({ candidates, rankingPolicy }: RetrievalReceipt): string[] {
  const order = rankingOrder(rankingPolicy);
  const at = candidates.findIndex((candidate, index) => {
    const before = candidates[index - 1];
    return before !== undefined && order(before, candidate) > 0;
  });
  if (at < 0) return [];
  return [`${candidates[at]?.nodeId}: stands too low for ${rankingPolicy}`];
}

/** A memory moved behind a newer one must follow it, unless selection excluded the newer one. */
function ageProblems({ candidates, scoreProvenance }: RetrievalReceipt): string[] {
  const places = new Map(candidates.map(({ nodeId }, index) => [nodeId, index]));
  return [...scoreProvenance].flatMap(([nodeId, { adjustments }], place) =>
    adjustments.flatMap(({ kind, coefficient, sourceNodeId }) => {
      if (kind !== "newer_first" && kind !== "behind_newer") return [];
      if (sourceNodeId === undefined) return [`${nodeId}: ${kind} without the other memory`];
      // Above 1: it was itself raised, to the rank of the memory it outdates.
      const isOlder = kind === "behind_newer" || coefficient <= 1;
      const newer = places.get(sourceNodeId) ?? -1;
      return isOlder && newer >= place
        ? [`${nodeId}: stands before ${sourceNodeId}, which makes it outdated`]
        : [];
    }),
  );
}

function contextProblems(
  context: RetrievalRecord["context"],
  candidates: AnyReceipt["candidates"],
): string[] {
  const inside = candidates.filter(({ inContext }) => inContext).map(({ nodeId }) => nodeId);
  const shown = context.map(({ nodeId }) => nodeId);
  const isCovered = isSame(shown.toSorted(), inside.toSorted());
  return isCovered ? [] : ["the context is not that of the candidates"];
}

function isSame(one: readonly Uuid[], other: readonly Uuid[]): boolean {
  return one.length === other.length && one.every((id, index) => id === other[index]);
}

type Ranked = Pick<ReceiptCandidate, "nodeId" | "score" | "trace" | "rerankerScore">;

/** The order of the results under each policy; it has no ties. */
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
function byId(a: { readonly nodeId: string }, b: { readonly nodeId: string }): number {
  return compareUnits(a.nodeId, b.nodeId);
}
