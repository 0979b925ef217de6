import { z } from "zod";
import { RETRIEVAL_MODES } from "../../../domain/enums.ts";
import type { KeptReceipt } from "../../../engine/receipts/api.ts";
import {
  count,
  fidelity,
  instantOut,
  nodeType,
  orNull,
  scope,
  sourceType,
  uuidOut,
} from "../core/fields.ts";
import { aggregationCoverageSchema, historicalCoverageSchema } from "../retrieval/metrics-wire.ts";
import {
  multipliersOut,
  provenanceSchema,
  traceSchema,
  weightsSchema,
} from "../retrieval/score-wire.ts";

const sha256 = z.string().meta({ pattern: "^[0-9a-f]{64}$" });

const packingSchema = z.strictObject({
  multipath_ordering: z.string(),
  context_guidance_mode: z.string(),
  context_format: z.string(),
  context_citations: z.boolean().optional(),
  token_budget: count,
  tokenizer: z.string(),
  min_fidelity: fidelity,
  overhead_tokens: count,
  chars_per_token: z.number(),
  graph_max_candidates: count,
  vector_k: count,
  lexical_k: count,
  graph_max_hops: count,
  cross_scope_top_n: count,
  cross_scope_token_budget: count,
  session_context_window: count,
  session_context_top_k: count,
  session_context_score_decay: z.number(),
  session_context_rank_fusion_score_decay: z.number().optional(),
  session_context_packing: z.enum(["trigger_tier", "adjacent"]).optional(),
  fold_repeated_text: z.literal(true).optional(),
  episode_context_top_k: count,
  episode_context_local_k: count,
  episode_context_score_decay: z.number(),
  evidence_projection_top_k: count,
  evidence_projection_max_sources: count,
  evidence_projection_score_decay: z.number(),
  evidence_augmentation_top_k: count,
  evidence_augmentation_max_sources: count,
  evidence_augmentation_score_decay: z.number(),
  evidence_augmentation_anchor_policy: z.string(),
  aggregation_k_multiplier: z.number(),
  aggregation_k_max: count,
});

const candidateSchema = z.strictObject({
  node_id: uuidOut,
  scope,
  content_sha256: sha256,
  score: z.number(),
  trace: orNull(traceSchema).meta({ description: "Null for a score that was inherited." }),
  reranker_score: z.number().nullable(),
  semantic_relevance: z.number().optional(),
  representation: fidelity.nullable(),
  token_cost: count,
  in_context: z.boolean(),
  has_content: z.boolean().meta({ description: "In the context with text of its own." }),
});

const parametersSchema = z.strictObject({
  ranking_multipliers: orNull(multipliersOut),
  ranking_profile: z.strictObject({
    status: z.string(),
    profile_id: z.string().nullable(),
    reason: z.string().nullable(),
  }),
  max_per_source: count.nullable(),
  max_per_evidence: count.nullable(),
  time_from: instantOut.nullable(),
  time_to: instantOut.nullable(),
  knowledge_at: instantOut.nullable(),
  event_time_from: instantOut.nullable(),
  event_time_to: instantOut.nullable(),
  include_cross_scope: z.boolean(),
  exclude_node_types: z.array(nodeType).optional(),
  source_types: z.array(sourceType).optional(),
  epistemic_weights: z.record(z.string(), z.number()),
  unverified_confidence_threshold: z.number(),
  aggregation_coverage: orNull(aggregationCoverageSchema),
  historical_coverage: orNull(historicalCoverageSchema),
  temporal_relation: z.record(z.string(), z.unknown()).nullable(),
  temporal_languages: z.array(z.string()),
  query_intent_order: z.literal("temporal_first").optional(),
  reranker_top_k: count.nullable(),
  reranker_prior_weight: z.number().optional(),
  query_reformulation: z.strictObject({
    enabled: z.boolean(),
    count: count.nullable(),
    provider: z.string().nullable(),
    model: z.string().nullable(),
    merge_policy: z.literal("max_signals").optional(),
  }),
});

/** A receipt and the checksum of its canonical text. */
export const receiptAnswerSchema = z
  .strictObject({
    schema_version: count,
    request_id: uuidOut,
    user_id: z.string(),
    query: z.string(),
    reference_time: instantOut,
    scopes: z.array(scope).nullable(),
    scoring: weightsSchema,
    packing: packingSchema,
    context_sha256: sha256,
    min_score: z.number().nullable(),
    min_score_skipped: z.literal(true).optional(),
    result_limit: count.nullable(),
    retrieval_mode: z.enum(RETRIEVAL_MODES),
    time_from: instantOut.nullable(),
    time_to: instantOut.nullable(),
    candidates: z.array(candidateSchema).meta({ description: "The results, in rank order." }),
    score_provenance: z.record(z.string(), provenanceSchema),
    ranking_policy: z.enum(["score_path_id", "reranked_prefix", "score_id"]),
    execution: z.strictObject({
      schema_version: z.literal(1),
      parameters: parametersSchema,
      features: z
        .record(z.string(), z.string())
        .meta({ description: "Names and versions of what ran." }),
    }),
    checksum: sha256.meta({
      description:
        "SHA-256 of the object without this key: UTF-8, no blanks, keys in this order, shortest numbers.",
    }),
  })
  .meta({
    id: "RetrievalReceipt",
    description: "Everything that decided an answer; no part of it holds the text of a memory.",
  });

/** The wire form of a receipt: the keys of its canonical text in their order, then the checksum of that text. */
export function toReceiptWire({ text, checksum }: KeptReceipt): object {
  return { ...JSON.parse(text), checksum };
}
