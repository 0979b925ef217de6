import { toEngineSettings } from "../../../src/app/engine-settings.ts";
import { CONFIG_SCHEMA } from "../../../src/config/schema.ts";
import { everythingOf } from "../../../src/domain/candidate-filter.ts";
import { EPISTEMIC_WEIGHTS } from "../../../src/domain/epistemics.ts";
import type { MemoryNode } from "../../../src/domain/node.ts";
import type { PackingSettings, SectionName } from "../../../src/domain/records/retrieval-record.ts";
import type { ScoringWeights } from "../../../src/domain/scoring.ts";
import { scoringVersionId } from "../../../src/domain/scoring-version.ts";
import type { ReceiptMaterial } from "../../../src/engine/receipts/api.ts";
import type { ReceiptSurroundings } from "../../../src/engine/receipts/build.ts";
import { type BuiltReceipt, buildReceipt } from "../../../src/engine/receipts/build.ts";
import type {
  MemoryBundle,
  PackedRecord,
  ResultCandidate,
} from "../../../src/engine/retrieve/api.ts";
import type { Candidate } from "../../../src/engine/retrieve/candidates.ts";
import { adjusted, adjustment, byScore, score } from "../../../src/engine/retrieve/score/score.ts";
import { fromEpochMicros, type Instant } from "../../../src/lib/instant.ts";
import { asUuid, type Uuid } from "../../../src/lib/uuid.ts";
import { aNode, anEvent } from "../../contract/samples.ts";
import { nodeKey } from "../../node-keys.ts";
import { RANK_FUSION } from "../retrieve/pool.ts";

/** Numbers that look random and are the same in every run. */
export type Chance = {
  /** 0 to below 1, with all the digits of a double. */
  unit(): number;
  /** Both ends included. */
  whole(min: number, max: number): number;
};

export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  const word = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  const unit = () => (word() * 2 ** 21 + (word() >>> 11)) / 2 ** 53;
  return { unit, whole: (min, max) => min + Math.floor(unit() * (max - min + 1)) };
}

/** What a fresh installation packs with. */
export const DEFAULT_PACKING: PackingSettings = toEngineSettings(
  CONFIG_SCHEMA.parse({ scoring: { fusion: "rrf" } }),
).packing;

export const SURROUNDINGS: ReceiptSurroundings = {
  settings: {
    epistemicWeights: EPISTEMIC_WEIGHTS,
    unverifiedConfidenceThreshold: 0.3,
    temporalLanguages: ["en"],
    queryIntentOrder: "entity_first",
    reranker: undefined,
    reformulation: undefined,
  },
  languageModel: undefined,
  features: {
    svc: "0.2.0",
    runtime: "bun 1.4.5",
    embedding_model: "BAAI/bge-small-en-v1.5",
    embedding_version: "q8-cls-l2-1",
    embedding_dimension: "384",
    vector_search: "exact cosine",
    lexical_search: "bm25, fts5",
  },
};

/** Cosine and BM25 rescaled, with everything that such a fusion can have. */
export const RELATIVE_FUSION: ScoringWeights = {
  ...RANK_FUSION,
  fusion: { kind: "relative", semanticShare: 0.6, recencyBoost: 0.25, tieBreak: "event_time" },
};

/** The same, with words that count by what they explain. */
export const ADAPTIVE_FUSION: ScoringWeights = {
  ...RANK_FUSION,
  fusion: {
    kind: "adaptive",
    semanticShare: 0.6,
    fullCoverage: 0.5,
    recencyBoost: 0.25,
    tieBreak: "event_time",
  },
};

export type RetrievalShape = {
  readonly seed: number;
  /** Candidates that the searches found. */
  readonly found: number;
  /** Neighbours that the best twenty pulled in. */
  readonly neighbours: number;
  readonly weights?: ScoringWeights;
  readonly packing?: Partial<PackingSettings>;
  readonly query?: string;
  readonly intent?: "temporal" | "factual";
  /** Candidates that fit into the context, best first. */
  readonly packed?: number;
  /** Milliseconds over which the memories were stored. */
  readonly spanMs?: number;
};

const HALF_A_YEAR = 180 * 86_400_000;

/** What a retrieval over memories of random content hands over, scored by the very rules of the engine. */
export function aRetrieval(shape: RetrievalShape): ReceiptMaterial {
  const chance = chanceOf(shape.seed);
  const weights = shape.weights ?? RANK_FUSION;
  const packing = { ...DEFAULT_PACKING, ...shape.packing };
  const query = shape.query ?? "When did Caroline go to the support group with Melanie?";
  const intent = shape.intent ?? "factual";
  const results = ranked(chance, { ...shape, weights, query, intent });
  const bundle = bundleOf(chance, results, packing, shape.packed ?? 75);
  return {
    userId: "conv-26",
    query,
    filter: OPEN_FILTER,
    retrievalMode: "default",
    explain: false,
    includeCrossScope: true,
    queryTimeFrom: undefined,
    queryTimeTo: undefined,
    scoring: weights,
    packing,
    rankingPolicy: "score_id",
    results,
    bundle,
    excluded: [],
    crossScopeHintCount: 0,
    temporalRelation: undefined,
    metadata: {
      requestId: randomId(chance, NOW_MS),
      referenceTime: fromEpochMicros(NOW_MS * 1000 + 123_456),
      intent,
      candidatesGenerated: { GRAPH: 12, VECTOR: 50, LEXICAL: 50, PINNED: 0 },
      candidatesFiltered: 0,
      candidatesIncluded: bundle.includedCount,
      scoringConfigVersion: scoringVersionId(weights),
      backendsUsed: ["GRAPH", "VECTOR", "LEXICAL", "PINNED"],
      embeddingMismatch: false,
      backendFailures: {},
      minScore: undefined,
      minScoreSkipped: false,
      resultLimit: undefined,
      maxPerSource: undefined,
      maxPerEvidence: undefined,
      rankingMultipliers: undefined,
      aggregationCoverage: undefined,
      historicalCoverage: undefined,
      reranker: undefined,
      reformulation: undefined,
    },
  };
}

/** The receipt of such a retrieval. */
export function aReceipt(shape: RetrievalShape): BuiltReceipt {
  return buildReceipt(aRetrieval(shape), SURROUNDINGS);
}

export const OPEN_FILTER = everythingOf("conv-26");

const NOW_MS = Date.UTC(2026, 2, 18, 12);
const WORDS =
  "support group painting clay pottery beach sunset adoption agency counselling race charity camping trip guitar".split(
    " ",
  );

function ranked(
  chance: Chance,
  shape: RetrievalShape & {
    weights: ScoringWeights;
    query: string;
    intent: "temporal" | "factual";
  },
): ResultCandidate[] {
  const span = shape.spanMs ?? HALF_A_YEAR;
  const node = (): MemoryNode => {
    const ms = NOW_MS - chance.whole(0, span);
    const stored: Instant = fromEpochMicros(ms * 1000 + chance.whole(0, 999));
    const words = Array.from({ length: chance.whole(8, 30) }, () => WORDS[chance.whole(0, 14)]);
    const content = `Caroline: ${words.join(" ")} ${chance.whole(0, 1e9)}`;
    const event = anEvent({ userId: "conv-26", content, timestamp: stored });
    return aNode(event, { id: randomId(chance, ms) });
  };
  const candidates = Array.from({ length: shape.found }, (_, index): Candidate => {
    // What the vector search answers is one less a distance of single precision.
    const semantic = 1 - Math.fround(0.2 + 0.5 * chance.unit());
    const lexical = chance.unit() < 0.8 ? chance.unit() : undefined;
    const paths: Candidate["paths"] =
      lexical === undefined ? ["VECTOR"] : index % 3 === 0 ? ["LEXICAL"] : ["VECTOR", "LEXICAL"];
    const coverage = lexical === undefined ? undefined : Math.fround(lexical * 0.4);
    const certainty = coverage === undefined ? undefined : 0.5;
    const signals = { semantic, lexical, coverage, certainty, graph: 0 };
    return { key: nodeKey(index), node: node(), paths, ...signals };
  });
  const scored = score(candidates, {
    weights: shape.weights,
    epistemicWeights: EPISTEMIC_WEIGHTS,
    analysis: {
      query: shape.query,
      intent: shape.intent,
      isAggregation: false,
      timeFrom: undefined,
      timeTo: undefined,
    },
    referenceTime: fromEpochMicros(NOW_MS * 1000),
    multipliers: undefined,
  });
  const triggers = scored.slice(0, 20);
  const decay = shape.weights.fusion.kind === "weighted" ? 0.85 : 0.6;
  const neighbours = Array.from({ length: shape.neighbours }, (_, index): ResultCandidate => {
    const trigger = triggers[index % triggers.length]!;
    const step = adjustment("session_decay", decay, { sourceNodeId: trigger.node.id });
    return {
      ...trigger,
      ...adjusted(trigger, step),
      key: nodeKey(10_000 + index),
      node: node(),
      paths: ["SESSION_CONTEXT"],
      pathCount: 1,
      semanticScore: undefined,
      lexicalScore: undefined,
      trace: undefined,
    };
  });
  return [...scored, ...neighbours].sort(byScore);
}

function randomId(chance: Chance, ms: number): Uuid {
  const hex = (digits: number) =>
    chance
      .whole(0, 16 ** digits - 1)
      .toString(16)
      .padStart(digits, "0");
  const time = ms.toString(16).padStart(12, "0");
  const variant = (8 + chance.whole(0, 3)).toString(16);
  return asUuid(
    `${time.slice(0, 8)}-${time.slice(8)}-7${hex(3)}-${variant}${hex(3)}-${hex(6)}${hex(6)}`,
  );
}

/** A context of the first results, in sections. */
export function bundleOf(
  chance: Chance,
  results: readonly ResultCandidate[],
  packing: PackingSettings,
  size: number,
): MemoryBundle {
  const records = results.slice(0, size).map(
    (candidate): PackedRecord => ({
      candidate,
      representation: "full",
      tokenCost: chance.whole(20, 90),
      renderedText: `- ${JSON.stringify(candidate.node.content)}`,
      text: candidate.node.content,
      reference: undefined,
    }),
  );
  const sections = new Map<SectionName, readonly PackedRecord[]>([["stable_facts", records]]);
  const tokens = records.reduce((sum, { tokenCost }) => sum + tokenCost, 0);
  return {
    sections,
    includedCount: records.length,
    excludedIds: results.slice(size).map(({ node }) => node.id),
    blankIds: [],
    oneSidedIds: [],
    weakIds: [],
    folded: new Map(),
    tokensUsed: tokens,
    tokenBudget: packing.tokenBudget,
    budgetRemaining: packing.tokenBudget - packing.overheadTokens - tokens,
    minFidelity: packing.minFidelity,
    renderedContext: records.map(({ renderedText }) => renderedText).join("\n"),
    tokenizer: "cl100k_base",
    contextFormat: packing.contextFormat,
    header: undefined,
    coverageNotice: undefined,
    contextGuidance: undefined,
    contextReferences: new Map(),
  };
}
