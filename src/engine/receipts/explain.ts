import {
  type ExplainedExclusion,
  type ExplainedRecord,
  type Explanation,
  isLean,
  type KeptReceipt,
  type Reason,
  type RetrievalReceipt,
} from "../../domain/records/receipt.ts";
import { filterWords, noteWords, packingWords, reasonWords } from "./explain-exclusions.ts";
import { scoreReasons } from "./explain-scores.ts";

const LEAN =
  "The receipt is lean: of results beyond the first 20 no reasons were kept, and nothing of what was found beside them. SVC_RECEIPTS__DETAIL=full keeps all.";

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
    detail: isLean(receipt) ? "lean" : "full",
    filters: filterWords(receipt),
    searches: searchesOf(kept),
    notes: [...noteWords(receipt, record), ...(isLean(receipt) ? [LEAN] : [])],
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

/** The candidates by id, with their ranks from 1 and what is known of why they have their scores. */
function ranked({ receipt, record }: KeptReceipt) {
  if (isLean(receipt)) return new Map(receipt.candidates.map((one) => [one.nodeId, one]));
  return new Map(
    receipt.candidates.map((one, index) => [
      one.nodeId,
      { ...one, rank: index + 1, reasons: reasonsOf(receipt, record, index) },
    ]),
  );
}

function reasonsOf(
  { candidates, scoreProvenance }: RetrievalReceipt,
  { paths }: KeptReceipt["record"],
  index: number,
): readonly Reason[] {
  const candidate = candidates[index];
  const provenance = candidate && scoreProvenance.get(candidate.nodeId);
  return provenance ? scoreReasons(candidate, provenance, paths[index] ?? []) : [];
}

function explainedRecords(kept: KeptReceipt): readonly ExplainedRecord[] {
  const candidates = ranked(kept);
  return kept.record.context.flatMap(({ nodeId, section }, index) => {
    const candidate = candidates.get(nodeId);
    if (candidate?.representation === undefined) return [];
    const { rank, score, representation, tokenCost, reasons = [] } = candidate;
    return [{ place: index + 1, nodeId, section, rank, score, representation, tokenCost, reasons }];
  });
}

function explainedExclusions(kept: KeptReceipt): readonly ExplainedExclusion[] {
  const { receipt, record } = kept;
  const candidates = ranked(kept);
  const packing = record.notPacked.map((item): ExplainedExclusion => {
    const candidate = candidates.get(item.nodeId);
    return {
      nodeId: item.nodeId,
      stage: "packing",
      code: item.reason,
      rank: candidate?.rank,
      score: candidate?.score,
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
    .filter(({ nodeId }) => !candidates.has(nodeId))
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
