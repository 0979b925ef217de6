import type {
  ExplainedExclusion,
  ExplainedRecord,
  Explanation,
  KeptReceipt,
} from "../../domain/records/explanation.ts";
import { filterWords, noteWords, packingWords, reasonWords } from "./explain-exclusions.ts";
import { scoreReasons } from "./explain-scores.ts";

/** Explains from a receipt alone why each candidate was or was not in the context. Pure. */
export function explainReceipt(kept: KeptReceipt): Explanation {
  const { receipt, record, createdAt } = kept;
  const { packing } = receipt;
  return {
    requestId: receipt.requestId,
    userId: receipt.userId,
    query: receipt.query,
    intent: record.intent,
    referenceTime: receipt.referenceTime,
    createdAt,
    filters: filterWords(receipt),
    searches: searchesOf(kept),
    notes: noteWords(receipt, record),
    tokensUsed: record.tokensUsed,
    tokensAvailable: Math.max(0, packing.tokenBudget - packing.overheadTokens),
    inContext: explainedRecords(kept),
    notInContext: explainedExclusions(kept),
  };
}

function searchesOf({ record }: KeptReceipt): Explanation["searches"] {
  const { candidatesGenerated, backendFailures } = record;
  const names = new Set([...Object.keys(candidatesGenerated), ...Object.keys(backendFailures)]);
  return [...names].map((name) => ({
    name,
    found: candidatesGenerated[name] ?? 0,
    failure: backendFailures[name],
  }));
}

function explainedRecords({ receipt, record }: KeptReceipt): readonly ExplainedRecord[] {
  const ranks = new Map(receipt.candidates.map(({ nodeId }, index) => [nodeId, index]));
  return record.context.flatMap(({ nodeId, section }, index) => {
    const at = ranks.get(nodeId) ?? -1;
    const candidate = receipt.candidates[at];
    const provenance = receipt.scoreProvenance.get(nodeId);
    if (candidate?.representation === undefined || provenance === undefined) return [];
    return [
      {
        place: index + 1,
        nodeId,
        section,
        rank: at + 1,
        score: candidate.score,
        representation: candidate.representation,
        tokenCost: candidate.tokenCost,
        reasons: scoreReasons(candidate, provenance, record.paths[at] ?? []),
      },
    ];
  });
}

function explainedExclusions({ receipt, record }: KeptReceipt): readonly ExplainedExclusion[] {
  const ranks = new Map(receipt.candidates.map(({ nodeId }, index) => [nodeId, index + 1]));
  const packing = record.notPacked.map((item): ExplainedExclusion => {
    const rank = ranks.get(item.nodeId);
    return {
      nodeId: item.nodeId,
      stage: "packing",
      code: item.reason,
      rank,
      score: rank === undefined ? undefined : receipt.candidates[rank - 1]?.score,
      reason: packingWords(item, record.tokensUsed, receipt.packing),
    };
  });
  const selection = record.selectedOut.map(
    (item): ExplainedExclusion => ({
      nodeId: item.nodeId,
      stage: "selection",
      code: item.reason,
      rank: undefined,
      score: item.score,
      reason: { text: reasonWords(item.reason, receipt, item), memory: undefined },
    }),
  );
  // A candidate excluded by one filter may have come back another way, and be excluded twice.
  const left = new Map(record.filteredOut.map((item) => [item.nodeId, item]));
  const filters = [...left.values()]
    .filter(({ nodeId }) => !ranks.has(nodeId))
    .map(
      (item): ExplainedExclusion => ({
        nodeId: item.nodeId,
        stage: "filter",
        code: item.reason,
        rank: undefined,
        score: undefined,
        reason: { text: reasonWords(item.reason, receipt, undefined), memory: undefined },
      }),
    );
  return [...packing, ...selection, ...filters];
}
