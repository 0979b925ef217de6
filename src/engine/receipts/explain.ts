import {
  type AnyReceipt,
  type ExplainedExclusion,
  type ExplainedRecord,
  type Explanation,
  isLean,
  type KeptReceipt,
  type Reason,
  type ReceiptCandidate,
  type RetrievalReceipt,
} from "../../domain/records/receipt.ts";
import type {
  CandidatePath,
  NotPacked,
  ReceiptPacking,
  RetrievalRecord,
  SelectedOut,
} from "../../domain/records/retrieval-record.ts";
import type { Adjustment, ScoreProvenance, ScoreTrace } from "../../domain/records/score.ts";
import { adaptedShare } from "../../domain/score-replay.ts";
import { FACTORS, type FusionRecord, type ScoringWeights } from "../../domain/scoring.ts";

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

/** Candidates by id, with ranks from 1 and the reasons for their scores. */
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
  // A candidate excluded by one filter may return another way, and be excluded twice.
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

/** The restrictions of a request, one sentence each. */
function filterWords(receipt: AnyReceipt): readonly string[] {
  const { parameters } = receipt.execution;
  const { excludeNodeTypes: types, sourceTypes: sources } = parameters;
  const words: readonly (readonly [unknown, string])[] = [
    [receipt.scopes, `only of scope ${receipt.scopes?.join(", ")}`],
    [receipt.timeFrom, `only what was still valid after ${receipt.timeFrom}`],
    [receipt.timeTo, `only what was valid by ${receipt.timeTo}`],
    [parameters.knowledgeAt, `as of ${parameters.knowledgeAt}`],
    [parameters.eventTimeFrom, `only what happened at ${parameters.eventTimeFrom} or later`],
    [parameters.eventTimeTo, `only what happened at ${parameters.eventTimeTo} or earlier`],
    [types?.length ? types : undefined, `no memory of type ${types?.join(", ")}`],
    [sources, sources?.length ? `only from ${sources.join(", ")}` : "from no source at all"],
    [receipt.minScore ? receipt.minScore : undefined, floorWords(receipt)],
    [receipt.resultLimit, `at most ${results(receipt.resultLimit)}`],
    [
      parameters.maxPerSource,
      `at most ${results(parameters.maxPerSource)} of one source with one text`,
    ],
    [parameters.maxPerEvidence, `at most ${results(parameters.maxPerEvidence)} of one source`],
  ];
  const given = words.filter(([value]) => value !== undefined).map(([, text]) => text);
  return receipt.retrievalMode === "explicit"
    ? [...given, "also what is hypothetical, conditional, hardly sure or kept beyond its time"]
    : given;
}

function results(count: number | undefined): string {
  return count === 1 ? "1 result" : `${count} results`;
}

function floorWords(receipt: AnyReceipt): string {
  return `a ${gate(receipt)} of at least ${shortNumber(receipt.minScore ?? 0)}`;
}

function gate(receipt: AnyReceipt): string {
  const fusion = isLean(receipt) ? receipt.fusion : receipt.scoring.fusion.kind;
  return fusion === "weighted" ? "score" : "relevance";
}

/** Anything unusual, one sentence each. */
export function noteWords(
  receipt: Pick<AnyReceipt, "minScoreSkipped">,
  record: RetrievalRecord,
): readonly string[] {
  const notes: string[] = [];
  if (receipt.minScoreSkipped) {
    notes.push("The least relevance was not applied: without the vector search none is known.");
  }
  if (record.embeddingMismatch) {
    notes.push("The stored vectors are of another model, so they were not searched.");
  }
  if (record.reranker === "timeout") notes.push("The reranker was too slow and was left out.");
  if (record.reranker === "failed") notes.push("The reranker failed and was left out.");
  if (record.reformulation === "timeout") notes.push("Rewording the question took too long.");
  if (record.reformulation === "failed") notes.push("Rewording the question failed.");
  return notes;
}

/** Why a result did not get into the context. */
function packingWords(
  { reason, foldedInto }: NotPacked,
  tokensUsed: number,
  { tokenBudget, overheadTokens }: Pick<ReceiptPacking, "tokenBudget" | "overheadTokens">,
): Reason {
  const available = Math.max(0, tokenBudget - overheadTokens);
  switch (reason) {
    case "token_budget":
      return {
        text: `did not fit beside what came before it: ${tokensUsed} of ${available} tokens are used`,
        memory: undefined,
      };
    case "blank_text":
      return { text: "has no text", memory: undefined };
    case "weak":
      return { text: "is weak and far behind, and others are strong", memory: undefined };
    case "one_sided":
      return {
        text: "is contested or outdated, and the memory on the other side did not fit beside it",
        memory: undefined,
      };
    case "folded":
      return { text: "says nothing beyond memory", memory: foldedInto };
  }
}

/** A recorded reason of selection or of a filter in plain words; an unknown one unchanged. */
export function reasonWords(
  reason: string,
  receipt: AnyReceipt,
  scored: SelectedOut | undefined,
): string {
  const colon = reason.indexOf(":");
  const code = colon < 0 ? reason : reason.slice(0, colon);
  const detail = colon < 0 ? "" : reason.slice(colon + 1);
  return selectionWords(code, receipt, scored) ?? exclusionWords(code, detail) ?? reason;
}

function selectionWords(
  code: string,
  receipt: AnyReceipt,
  scored: SelectedOut | undefined,
): string | undefined {
  const { minScore, resultLimit, execution } = receipt;
  const { maxPerSource, maxPerEvidence } = execution.parameters;
  switch (code) {
    case "below_threshold": {
      const value = scored?.semanticRelevance ?? scored?.score ?? 0;
      return `its ${gate(receipt)} of ${shortNumber(value)} is below ${shortNumber(minScore ?? 0)}`;
    }
    case "source_limit":
      return `the same text of the same source is among the results ${times(maxPerSource)} already`;
    case "evidence_limit":
      return `its source is among the results ${times(maxPerEvidence)} already`;
    case "one_sided":
      return "it is contested or outdated, and the memory on the other side is not among the results";
    case "result_limit":
      return `no more than ${results(resultLimit)} were asked for, and others are better`;
    default:
      return undefined;
  }
}

function times(limit: number | undefined): string {
  return limit === 1 ? "once" : `${limit} times`;
}

function exclusionWords(code: string, detail: string): string | undefined {
  switch (code) {
    case "node_type_filtered":
      return `memories of type ${detail} were not wanted`;
    case "source_type_filtered":
      return `memories from ${detail} were not wanted`;
    case "lifecycle_filtered":
      return `it is ${detail}`;
    case "retention_filtered":
      return "it was to be kept for a time that is over";
    case "epistemic_filtered":
      return `it is ${detail}, which only the explicit mode shows`;
    case "condition_filtered":
      return `it holds under a condition that is ${detail === "unknown" ? "not known to be true" : detail}`;
    case "unverified_below_threshold": {
      const [confidence, threshold] = detail.split("<=");
      return `it is unverified, and its confidence of ${confidence} is below ${threshold}`;
    }
    default:
      return undefined;
  }
}

/** A number for display: at most four digits. */
function shortNumber(value: number): string {
  return String(Number(value.toPrecision(4)));
}

/** Why a candidate has its score: what found it, what raised or lowered it, where it was inherited from. */
export function scoreReasons(
  { nodeId }: Pick<ReceiptCandidate, "nodeId">,
  provenance: ScoreProvenance,
  paths: readonly CandidatePath[],
): readonly Reason[] {
  const isOwn = provenance.baseNodeId === nodeId;
  const found = isOwn ? ownSignals(provenance, paths) : ownPaths(paths);
  const claims = paths.includes("PINNED")
    ? ["it is pinned, of full salience from the start or an open task, which always is a candidate"]
    : [];
  const factors = isOwn ? factorWords(provenance) : [];
  return [
    ...[...found, ...claims, ...factors].map((text) => ({ text, memory: undefined })),
    ...provenance.adjustments.map(adjustmentReason),
  ];
}

/** The search results behind a candidate's own score. */
function ownSignals(
  { trace, weights, fusion }: ScoreProvenance,
  paths: readonly CandidatePath[],
): readonly string[] {
  const channels =
    fusion === undefined
      ? weightedWords(trace, weights)
      : [...fusedWords(fusion, trace, paths), ...coverageWords(fusion, weights)];
  const hops = HOPS.find(({ proximity }) => proximity === trace.graphProximity)?.text;
  return paths.includes("GRAPH") && hops !== undefined
    ? [...channels, `found in the graph, ${hops} from a name in the question`]
    : channels;
}

const HOPS = [
  { proximity: 1, text: "one step" },
  { proximity: 0.7, text: "two steps" },
  { proximity: 0.4, text: "three steps" },
] as const;

/** How a candidate with an inherited score was found. */
function ownPaths(paths: readonly CandidatePath[]): readonly string[] {
  const names = [
    paths.includes("VECTOR") ? "the vector search" : [],
    paths.includes("LEXICAL") ? "the word search" : [],
    paths.includes("GRAPH") ? "the graph" : [],
  ].flat();
  if (names.length === 0) return [];
  return [`found by ${names.join(" and ")} too, with a lower score of its own`];
}

function fusedWords(
  fusion: FusionRecord,
  trace: ScoreTrace,
  paths: readonly CandidatePath[],
): readonly string[] {
  const semantic = channelWords(fusion, {
    search: "vector search",
    signal: `cosine ${shortNumber(trace.semanticSimilarity)}`,
    rank: fusion.kind === "rrf" ? fusion.semanticRank : undefined,
    share: fusion.kind === "rrf" ? undefined : fusion.semantic,
    isListed: paths.includes("VECTOR"),
  });
  const lexical = channelWords(fusion, {
    search: "word search",
    signal: `relative BM25 ${shortNumber(trace.lexicalRelevance)}`,
    rank: fusion.kind === "rrf" ? fusion.lexicalRank : undefined,
    share: fusion.kind === "rrf" ? undefined : fusion.lexical,
    isListed: paths.includes("LEXICAL"),
  });
  return [...semantic, ...lexical];
}

/** A share of the score that nobody notices. */
const LEAST_SHARE = 0.0005;

/** The weight of words under adaptive fusion, the same for all candidates. */
function coverageWords(record: FusionRecord, { fusion }: ScoringWeights): readonly string[] {
  if (record.kind !== "adaptive" || fusion.kind !== "adaptive") return [];
  const weight = 1 - adaptedShare(record, fusion);
  if (weight < LEAST_SHARE) {
    return ["the words of the question hardly tell memories apart here, so only meaning counts"];
  }
  const share = shortNumber(weight);
  const explained = shortNumber(record.coverage);
  const pointed =
    record.certainty === 0
      ? ""
      : ` and its words point to a few memories (certainty ${shortNumber(record.certainty)})`;
  return [
    `the best hit of the word search explains ${explained} of the question${pointed}, so words count ${share} of the score`,
  ];
}

type Channel = {
  readonly search: string;
  readonly signal: string;
  readonly rank: number | undefined;
  readonly share: number | undefined;
  /** Whether the search itself found the memory; else its signal was computed for comparison. */
  readonly isListed: boolean;
};

function channelWords({ kind }: FusionRecord, channel: Channel): readonly string[] {
  const { search, signal, rank, share, isListed } = channel;
  if (rank === undefined && share === undefined) return [];
  const where = isListed ? search : `compared with the ${search}`;
  return kind === "rrf"
    ? [`${where}: rank ${rank} (${signal})`]
    : [`${where}: ${shortNumber(share ?? 0)} of the best (${signal})`];
}

const SIGNALS = [
  { name: "cosine", trace: "semanticSimilarity", weight: "semantic" },
  { name: "relative BM25", trace: "lexicalRelevance", weight: "lexical" },
  { name: "nearness in the graph", trace: "graphProximity", weight: "graph" },
  { name: "recency", trace: "recencyFactor", weight: "recency" },
  { name: "salience", trace: "salience", weight: "salience" },
  { name: "confidence", trace: "confidence", weight: "confidence" },
] as const;

function weightedWords(trace: ScoreTrace, weights: ScoringWeights): readonly string[] {
  return SIGNALS.filter((signal) => trace[signal.trace] * weights[signal.weight] !== 0).map(
    (signal) => {
      const value = trace[signal.trace];
      const weight = weights[signal.weight];
      return `${signal.name} ${shortNumber(value)}, weighed ${shortNumber(weight)}: ${shortNumber(value * weight)}`;
    },
  );
}

/** What raised or lowered a candidate's own score. */
function factorWords({ trace, weights, fusion }: ScoreProvenance): readonly string[] {
  if (fusion !== undefined) {
    return FACTORS.flatMap(({ name, explain }) => {
      const value = fusion[name] ?? 1;
      const factor = value === 1 ? "1" : shortNumber(value);
      return factor === "1" ? [] : [`times ${factor}: ${explain}`];
    });
  }
  const words: string[] = [];
  if (trace.epistemicWeight !== 1) {
    words.push(`times ${shortNumber(trace.epistemicWeight)} for how it is known`);
  }
  const gain = weights.temporalBoost * trace.temporalAffinity;
  if (gain > 0) words.push(`plus ${shortNumber(gain)} for fitting the time of the question`);
  if (trace.nodeTypeBoost !== 1) {
    words.push(`times ${shortNumber(trace.nodeTypeBoost)} for its type`);
  }
  const relevance = trace.semanticSimilarity + trace.lexicalRelevance;
  if (weights.relevanceFloor > 0 && relevance < weights.relevanceFloor) {
    words.push(
      `no more than ${shortNumber(relevance)}: cosine and words together stay below ${shortNumber(weights.relevanceFloor)}`,
    );
  }
  return words;
}

function adjustmentReason(step: Adjustment): Reason {
  return { text: adjustmentWords(step), memory: step.sourceNodeId };
}

const OLDER = "older than, and perhaps no longer true because of, memory";

function adjustmentWords({ kind, coefficient, neuralScore, sourceNodeId }: Adjustment): string {
  const factor = shortNumber(coefficient);
  const of = sourceNodeId === undefined ? "another memory" : "memory";
  switch (kind) {
    case "neural_blend":
      return `the reranker gave ${shortNumber(neuralScore ?? 0)}, and the former score counts ${factor}`;
    case "neural_rank_assignment":
      return `the reranker decided its place, and so its score of ${factor}`;
    case "current_update":
      return `times ${factor}: the newest memory, and it speaks of a change`;
    case "evidence_projection":
      return `stands for what was made of it, with ${factor} of the score of ${of}`;
    case "evidence_augmentation":
      return `source of what was found, with ${factor} of the score of ${of}`;
    case "newer_first":
      return coefficient > 1 ? "put before what it makes outdated, or may replace: memory" : OLDER;
    case "behind_newer":
      return OLDER;
    case "session_decay":
      return `neighbour in the conversation, with ${factor} of the score of ${of}`;
    case "episode_decay":
      return `of a conversation that fits as a whole, with ${factor} of the score of ${of}`;
  }
}
