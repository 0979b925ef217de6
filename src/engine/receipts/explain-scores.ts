import type { Reason, ReceiptCandidate } from "../../domain/records/receipt.ts";
import type { CandidatePath } from "../../domain/records/retrieval-record.ts";
import type { Adjustment, ScoreProvenance, ScoreTrace } from "../../domain/records/score.ts";
import { adaptedShare } from "../../domain/score-replay.ts";
import { FACTORS, type FusionRecord, type ScoringWeights } from "../../domain/scoring.ts";

/** A number for display: at most four digits. */
export function shortNumber(value: number): string {
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

/** The weight of words under adaptive fusion, the same for all candidates. */
function coverageWords(record: FusionRecord, { fusion }: ScoringWeights): readonly string[] {
  if (record.kind !== "adaptive" || fusion.kind !== "adaptive") return [];
  const share = shortNumber(1 - adaptedShare(record, fusion));
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
      const factor = shortNumber(fusion[name] ?? 1);
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
