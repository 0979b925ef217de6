import { NODE_TYPES } from "../domain/enums.ts";
import { type Fusion, MAX_WEIGHT, type PackFusion } from "../domain/scoring.ts";
import {
  DEFAULT_FULL_COVERAGE,
  DEFAULT_RRF_K,
  DEFAULT_SCORING,
  DEFAULT_SEMANTIC_SHARE,
} from "../domain/scoring-defaults.ts";
import {
  decimal,
  mapNumber,
  mapOf,
  optionalDecimal,
  optionalInteger,
  optionalMember,
} from "./fields.ts";

/** Settings that only some fusions read, and which. */
export const FUSION_ONLY: Readonly<Record<string, readonly Fusion["kind"][]>> = {
  relative_semantic_share: ["relative"],
  adaptive_semantic_share: ["adaptive"],
  adaptive_full_coverage: ["adaptive"],
  rrf_k: ["rrf"],
  rrf_recency_boost: ["rrf", "relative", "adaptive"],
  rrf_tie_break: ["rrf", "relative", "adaptive"],
  recency_time: ["weighted"],
};

/** What a pack may use if no fusion is set. */
export const DEFAULT_FUSIONS: readonly Fusion["kind"][] = [
  "adaptive",
  "rrf",
] satisfies PackFusion[];

/** The weights that sum to 1. */
export const ADDITIVE_WEIGHTS = [
  "w_semantic",
  "w_lexical",
  "w_graph",
  "w_recency",
  "w_salience",
  "w_confidence",
] as const;

/** How candidates are scored. */
export const SCORING = {
  fusion: optionalMember(
    ["rrf", "weighted", "relative", "adaptive"],
    undefined,
    "How the signals of a candidate become one score. `rrf`: by its ranks in the vector and the word search. `relative`: by its cosine and its BM25, rescaled. `adaptive`: the same, where the words count by how much of the question they explain, and the cosine counts less if the words point to a few memories. `weighted`: by the sum of all signals. Unset: `adaptive`, but `rrf` in a pack of an earlier version until `svc rebuild` gives it another model.",
  ),
  rrf_k: optionalInteger(
    { default: DEFAULT_RRF_K, min: 1, max: 10_000 },
    "`rrf` only: a higher value makes the first ranks count less; unset: 60. Dropped with a warning under another fusion.",
  ),
  rrf_tie_break: optionalMember(
    ["event_time"],
    "event_time",
    "All but `weighted`: order of equal scores; `event_time` puts the newest first. Dropped with a warning under `weighted`.",
  ),
  rrf_recency_boost: optionalDecimal(
    { default: 0.25, above: 0, max: 4 },
    "All but `weighted`: what the newest memory gains on a question about the present; unset: nothing. Dropped with a warning under `weighted`.",
  ),
  relative_semantic_share: decimal(
    { default: DEFAULT_SEMANTIC_SHARE, min: 0, max: 1 },
    "`relative` only: share of the cosine in the score; BM25 has the rest. Dropped with a warning under another fusion.",
  ),
  adaptive_semantic_share: decimal(
    { default: DEFAULT_SEMANTIC_SHARE, min: 0, max: 1 },
    "`adaptive` only: share of the cosine in the score if the words explain the question; BM25 has the rest. Dropped with a warning under another fusion.",
  ),
  adaptive_full_coverage: decimal(
    { default: DEFAULT_FULL_COVERAGE, above: 0, max: 1 },
    "`adaptive` only: how much of the question, by the rarity of its words, the best hit of the word search must explain for BM25 to have its whole share. Dropped with a warning under another fusion.",
  ),
  node_type_boost: mapOf(
    mapNumber({ min: 0, max: MAX_WEIGHT }),
    {
      default: DEFAULT_SCORING.nodeTypeBoost,
      bounds: `keys: ${NODE_TYPES.join(", ")}; values 0 to ${MAX_WEIGHT}`,
    },
    "Factor on the score by type of memory; 1 for types that are left out.",
  ),
  w_semantic: additive(DEFAULT_SCORING.semantic, "the cosine"),
  w_lexical: additive(DEFAULT_SCORING.lexical, "the words in common"),
  w_graph: additive(DEFAULT_SCORING.graph, "the distance from an entity of the question"),
  w_recency: additive(DEFAULT_SCORING.recency, "how recent it is"),
  w_salience: additive(DEFAULT_SCORING.salience, "how salient it is"),
  w_confidence: additive(DEFAULT_SCORING.confidence, "how sure it is"),
  w_epistemic: decimal(
    { default: DEFAULT_SCORING.epistemic, min: -MAX_WEIGHT, max: MAX_WEIGHT },
    "Part of the scoring version; no formula reads it.",
  ),
  w_paths: decimal(
    { default: DEFAULT_SCORING.paths, min: -MAX_WEIGHT, max: MAX_WEIGHT },
    "Part of the scoring version; no formula reads it.",
  ),
  recency_lambda: decimal(
    { default: DEFAULT_SCORING.recencyLambda, min: 0, max: MAX_WEIGHT },
    "How fast recency fades, per day.",
  ),
  temporal_boost: decimal(
    { default: DEFAULT_SCORING.temporalBoost, min: -MAX_WEIGHT, max: MAX_WEIGHT },
    "What a memory of the requested time gains on a question about time; 0 or less: nothing.",
  ),
  relevance_floor: decimal(
    { default: DEFAULT_SCORING.relevanceFloor, min: -MAX_WEIGHT, max: MAX_WEIGHT },
    "A memory whose cosine and words together stay below it gains nothing from other signals; 0 turns this off.",
  ),
  current_update_multiplier: decimal(
    { default: DEFAULT_SCORING.currentUpdateMultiplier, min: 1, max: 2 },
    "Factor on the newest memory when it tells of a change and the question is about the present; 1 turns this off.",
  ),
  recency_time: optionalMember(
    ["event_time"],
    undefined,
    "`weighted` only: `event_time` measures recency from the stated time instead of the last change. Dropped with a warning under another fusion.",
  ),
};

function additive(value: number, signal: string) {
  const weights = ADDITIVE_WEIGHTS.map((name) => `\`${name}\``).join(", ");
  return decimal(
    { default: value, min: -MAX_WEIGHT, max: MAX_WEIGHT },
    `\`weighted\` only: weight of ${signal}. ${weights} sum to 1.`,
  );
}
