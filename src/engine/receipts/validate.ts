import {
  type AnyReceipt,
  isLean,
  type LeanReceipt,
  type RankingPolicy,
  type ReceiptCandidate,
  type RetrievalReceipt,
} from "../../domain/records/receipt.ts";
import type { RetrievalRecord } from "../../domain/records/retrieval-record.ts";
import type { Adjustment, ScoreProvenance } from "../../domain/records/score.ts";
import { provenanceProblems, replayScore } from "../../domain/score-replay.ts";
import { compareUnits } from "../../lib/text.ts";
import type { Uuid } from "../../lib/uuid.ts";
import {
  type BuiltReceipt,
  CONTENT_LEVELS,
  marksOlder,
  receiptVersion,
  statesCitations,
} from "./build.ts";

type Scored = { readonly candidate: ReceiptCandidate; readonly provenance: ScoreProvenance };

/**
 * Recomputes a receipt from itself: every score, the order, the relevances, the version. Also checks that the index record covers the same
 * candidates.
 * @returns the inconsistencies, one sentence each; empty if none
 */
export function receiptProblems({ receipt, record }: BuiltReceipt<AnyReceipt>): readonly string[] {
  const ids = receipt.candidates.map(({ nodeId }) => nodeId);
  if (new Set(ids).size !== ids.length) return ["a candidate stands twice"];
  if (isLean(receipt)) return leanProblems(receipt, record);
  const { candidates, scoreProvenance } = receipt;
  if (!isSame([...scoreProvenance.keys()], ids)) {
    return ["the score provenance is not that of the candidates, in their order"];
  }
  const scored = candidates.flatMap((candidate) => {
    const provenance = scoreProvenance.get(candidate.nodeId);
    return provenance === undefined ? [] : [{ candidate, provenance }];
  });
  return [
    ...settingProblems(receipt),
    ...scored.flatMap(scoreProblems(checkedOnce(provenanceProblems))),
    ...scored.flatMap((one) => fusionProblems(receipt, one)),
    ...orderProblems(receipt),
    ...ageProblems(receipt),
    ...skipProblems(receipt),
    ...candidates.flatMap(packingProblems),
    ...recordProblems(record, candidates),
  ];
}

/** What can be checked in a lean receipt: its order, and that it covers the context. */
function leanProblems({ candidates }: LeanReceipt, { context }: RetrievalRecord): string[] {
  const at = candidates.findIndex(({ rank }, index) => rank <= (candidates[index - 1]?.rank ?? 0));
  return [
    ...(at < 0 ? [] : [`${candidates[at]?.nodeId}: stands too low for its rank`]),
    ...candidates.flatMap(packingProblems),
    ...contextProblems(context, candidates),
  ];
}

/** What the version guarantees about the settings. */
function settingProblems(receipt: RetrievalReceipt): string[] {
  const { schemaVersion, packing } = receipt;
  const problems: string[] = [];
  // The reranker's policy distinguishes two versions and is recorded nowhere else.
  const policy = schemaVersion === 13 ? "score_envelope" : undefined;
  const expected = receiptVersion({
    ...receipt,
    rerankerPolicy: policy,
    marksOlder: marksOlder(receipt.scoreProvenance.values()),
  });
  if (schemaVersion !== expected) {
    problems.push(`the version is ${schemaVersion}, the settings are those of ${expected}`);
  }
  if ((packing.contextCitations !== undefined) !== statesCitations(schemaVersion)) {
    problems.push("context_citations does not belong to the version");
  }
  if (packing.foldRepeatedText !== undefined && packing.contextFormat !== "reader") {
    problems.push("fold_repeated_text belongs to the reader format");
  }
  if (
    packing.sessionContextPacking !== undefined &&
    (packing.sessionContextWindow <= 0 || packing.sessionContextTopK === 0)
  ) {
    problems.push("session_context_packing belongs to session expansion");
  }
  const isWeighted = receipt.scoring.fusion.kind === "weighted";
  if (isWeighted && packing.sessionContextRankFusionScoreDecay !== undefined) {
    problems.push("session_context_rank_fusion_score_decay belongs to fused scores");
  }
  return problems;
}

function scoreProblems(recordProblemsOf: typeof provenanceProblems): (one: Scored) => string[] {
  return ({ candidate, provenance }) => {
    const { nodeId, score, rerankerScore, trace } = candidate;
    const problems = recordProblemsOf(provenance).map((problem) => `${nodeId}: ${problem}`);
    if (problems.length > 0) return problems;
    const replayed = replayScore(provenance);
    if (replayed !== score) problems.push(`${nodeId}: the score is ${score}, replayed ${replayed}`);
    if (rerankerScore !== undefined && !(rerankerScore >= 0 && rerankerScore <= 1)) {
      problems.push(`${nodeId}: the reranker's score is ${rerankerScore}, not 0 to 1`);
    }
    for (const [name, value] of Object.entries(trace ?? {})) {
      if (!Number.isFinite(value)) problems.push(`${nodeId}: trace.${name} is ${value}`);
    }
    return problems;
  };
}

/** The same check, done once for the neighbours of one memory: they share its trace. */
function checkedOnce(check: typeof provenanceProblems): typeof provenanceProblems {
  const sound = new Map<ScoreProvenance["trace"], ScoreProvenance[]>();
  return (provenance) => {
    const { trace, weights, fusion, formulaVersion } = provenance;
    const known = sound.get(trace) ?? [];
    const isKnown = known.some(
      (other) =>
        other.weights === weights &&
        other.fusion === fusion &&
        other.formulaVersion === formulaVersion &&
        isSameSteps(other.adjustments, provenance.adjustments),
    );
    if (isKnown) return [];
    const problems = check(provenance);
    if (problems.length === 0) sound.set(trace, [...known, provenance]);
    return problems;
  };
}

function isSameSteps(one: readonly Adjustment[], other: readonly Adjustment[]): boolean {
  return (
    one.length === other.length &&
    one.every((step, index) => {
      const { kind, coefficient, neuralScore } = step;
      const twin = other[index];
      return (
        twin?.kind === kind && twin.coefficient === coefficient && twin.neuralScore === neuralScore
      );
    })
  );
}

/** What the candidate's score must share with the settings of the retrieval. */
function fusionProblems(receipt: RetrievalReceipt, { candidate, provenance }: Scored): string[] {
  const { nodeId, semanticRelevance: relevance } = candidate;
  const recorded = receipt.scoring.fusion;
  const problems: string[] = [];
  if (!isSameFusion(provenance.weights.fusion, recorded)) {
    problems.push(`${nodeId}: the score is of another fusion than the settings`);
  }
  if (recorded.kind === "weighted") {
    if (relevance !== undefined) problems.push(`${nodeId}: a weighted score with a relevance`);
    return problems;
  }
  const own = Math.max(
    provenance.trace.semanticSimilarity,
    candidate.trace?.semanticSimilarity ?? 0,
  );
  const floor = receipt.minScoreSkipped ? 0 : (receipt.minScore ?? 0);
  if (relevance === undefined || !(relevance >= Math.max(own, floor))) {
    problems.push(`${nodeId}: the relevance is ${relevance}, below ${Math.max(own, floor)}`);
  }
  const decay = receipt.packing.sessionContextRankFusionScoreDecay;
  const isOther = ({ kind, coefficient }: Adjustment) =>
    kind === "session_decay" && decay !== undefined && coefficient !== decay;
  if (provenance.adjustments.some(isOther)) {
    problems.push(`${nodeId}: a session decay that is not ${decay}`);
  }
  return problems;
}

type Fusion = RetrievalReceipt["scoring"]["fusion"];

function isSameFusion(one: Fusion, other: Fusion): boolean {
  if (one === other) return true;
  if (one.kind === "weighted" || other.kind === "weighted") {
    return (
      one.kind === "weighted" && other.kind === "weighted" && one.recencyTime === other.recencyTime
    );
  }
  const shares = one.recencyBoost === other.recencyBoost && one.tieBreak === other.tieBreak;
  if (one.kind === "rrf") return other.kind === "rrf" && one.k === other.k && shares;
  if (other.kind === "rrf" || one.semanticShare !== other.semanticShare) return false;
  if (one.kind === "relative") return other.kind === "relative" && shares;
  return other.kind === "adaptive" && one.fullCoverage === other.fullCoverage && shares;
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

function skipProblems({ minScore, minScoreSkipped, scoring, candidates }: RetrievalReceipt) {
  if (!minScoreSkipped) return [];
  const problems: string[] = [];
  if (scoring.fusion.kind === "weighted") problems.push("a weighted floor is never skipped");
  if (minScore === undefined || minScore <= 0) problems.push("no floor, but it was skipped");
  if (candidates.some(({ semanticRelevance }) => (semanticRelevance ?? 0) > 0)) {
    problems.push("the floor was skipped although a relevance is known");
  }
  return problems;
}

type Packed = LeanReceipt["candidates"][number] | ReceiptCandidate;

function packingProblems(candidate: Packed): string[] {
  const { nodeId, representation: level, tokenCost, inContext, hasContent } = candidate;
  const problems: string[] = [];
  if (inContext !== (level !== undefined)) {
    problems.push(`${nodeId}: a level stands exactly where a candidate is in the context`);
  }
  if (!inContext && tokenCost !== 0) problems.push(`${nodeId}: tokens outside of the context`);
  if (hasContent && (level === undefined || !CONTENT_LEVELS.has(level))) {
    problems.push(`${nodeId}: content at a level without text`);
  }
  return problems;
}

/** Whether the index record covers all candidates of a receipt, each once. */
function recordProblems(
  { paths, context, notPacked }: RetrievalRecord,
  candidates: readonly ReceiptCandidate[],
): string[] {
  const problems: string[] = [];
  if (paths.length !== candidates.length)
    problems.push("the paths are not those of the candidates");
  problems.push(...contextProblems(context, candidates));
  const outside = candidates.filter(({ inContext }) => !inContext).map(({ nodeId }) => nodeId);
  const left = notPacked.map(({ nodeId }) => nodeId);
  if (!isSame(left, outside))
    problems.push("not every candidate outside of the context has a reason");
  return problems;
}

function contextProblems(
  context: RetrievalRecord["context"],
  candidates: readonly Packed[],
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
