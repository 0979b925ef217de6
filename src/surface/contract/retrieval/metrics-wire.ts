import { z } from "zod";
import { QUERY_INTENTS } from "../../../domain/enums.ts";
import type { Coverage, HistoricalCoverage } from "../../../domain/records/coverage.ts";
import type { RetrievalMetadata } from "../../../engine/retrieve/api.ts";
import { count, instantOut, orNull, uuidOut } from "../core/fields.ts";
import { multipliersOut, toMultipliersWire } from "./score-wire.ts";

export const aggregationCoverageSchema = z
  .strictObject({
    status: z.enum(["semantic_candidates", "candidate_limited", "context_limited"]),
    exhaustive: z.literal(false),
    candidate_count: count,
    selected_count: count,
    context_count: count,
    limitations: z.array(
      z.enum([
        "semantic_matching",
        "candidate_limit",
        "backend_failure",
        "score_floor",
        "result_limit",
        "token_budget",
      ]),
    ),
    candidate_limit_paths: z.array(z.string()),
  })
  .meta({
    id: "AggregationCoverage",
    description: "Why the records may not be all of those that a count or a list needs.",
  });

export const historicalCoverageSchema = z
  .strictObject({
    knowledge_at: instantOut,
    semantics: z.literal("ingestion_cutoff"),
    exact_snapshot: z.literal(false),
    limitations: z.array(
      z.enum(["current_lifecycle_state", "current_derived_indexes", "mutations_not_replayed"]),
    ),
  })
  .meta({ id: "HistoricalCoverage", description: "What an answer for an earlier moment is not." });

const outcome = z.enum(["applied", "timeout", "failed"]).nullable();

export const metricsSchema = z
  .strictObject({
    request_id: uuidOut.meta({ description: "Names the receipt." }),
    receipt_persisted: z.boolean().meta({ description: "Whether a receipt is kept." }),
    reference_time: instantOut,
    intent: z.enum(QUERY_INTENTS),
    candidates_generated: z.record(z.string(), count),
    candidates_filtered: count,
    min_score: z.number().nullable(),
    result_limit: count.nullable(),
    max_per_source: count.nullable(),
    max_per_evidence: count.nullable(),
    candidates_included: count,
    scoring_config_version: z.string(),
    ranking_multipliers: orNull(multipliersOut),
    ranking_profile_id: z.string().nullable(),
    ranking_profile_status: z.enum(["none", "request_override"]),
    ranking_profile_reason: z.enum(["explicit_multipliers"]).nullable(),
    timing_ms: z.number(),
    stages: z.array(
      z.strictObject({ stage: z.string(), timing_ms: z.number(), input: count, output: count }),
    ),
    backends_used: z.array(z.string()),
    embedding_mismatch: z.boolean(),
    backend_failures: z.record(z.string(), z.string()),
    min_score_skipped: z.boolean(),
    reranker: outcome.meta({ description: "Null while it is off." }),
    reformulation: outcome.meta({ description: "Null while it is off." }),
    aggregation_coverage: orNull(aggregationCoverageSchema),
    historical_coverage: orNull(historicalCoverageSchema),
    temporal_relation: z.null(),
  })
  .meta({ id: "RetrievalMetrics" });

/** The wire form of what is told about a retrieval. */
export function toMetricsWire(metrics: RetrievalMetadata): z.infer<typeof metricsSchema> {
  const { rankingMultipliers: multipliers } = metrics;
  const isOverride = multipliers !== undefined;
  return {
    request_id: metrics.requestId,
    receipt_persisted: metrics.receiptPersisted,
    reference_time: metrics.referenceTime,
    intent: metrics.intent,
    candidates_generated: { ...metrics.candidatesGenerated },
    candidates_filtered: metrics.candidatesFiltered,
    min_score: metrics.minScore ?? null,
    result_limit: metrics.resultLimit ?? null,
    max_per_source: metrics.maxPerSource ?? null,
    max_per_evidence: metrics.maxPerEvidence ?? null,
    candidates_included: metrics.candidatesIncluded,
    scoring_config_version: metrics.scoringConfigVersion,
    ranking_multipliers: isOverride ? toMultipliersWire(multipliers) : null,
    ranking_profile_id: null,
    ranking_profile_status: isOverride ? "request_override" : "none",
    ranking_profile_reason: isOverride ? "explicit_multipliers" : null,
    timing_ms: Math.round(metrics.timingMs * 100) / 100,
    stages: metrics.stages.map((trace) => ({
      stage: trace.stage,
      timing_ms: trace.timingMs,
      input: trace.input,
      output: trace.output,
    })),
    backends_used: [...metrics.backendsUsed],
    embedding_mismatch: metrics.embeddingMismatch,
    backend_failures: { ...metrics.backendFailures },
    min_score_skipped: metrics.minScoreSkipped,
    reranker: metrics.reranker ?? null,
    reformulation: metrics.reformulation ?? null,
    aggregation_coverage: toCoverageWire(metrics.aggregationCoverage),
    historical_coverage: toHistoricalWire(metrics.historicalCoverage),
    temporal_relation: null,
  };
}

function toCoverageWire(
  coverage: Coverage | undefined,
): z.infer<typeof aggregationCoverageSchema> | null {
  if (coverage === undefined) return null;
  return {
    status: coverage.status,
    exhaustive: coverage.exhaustive,
    candidate_count: coverage.candidateCount,
    selected_count: coverage.selectedCount,
    context_count: coverage.contextCount,
    limitations: [...coverage.limitations],
    candidate_limit_paths: [...coverage.candidateLimitPaths],
  };
}

function toHistoricalWire(
  coverage: HistoricalCoverage | undefined,
): z.infer<typeof historicalCoverageSchema> | null {
  if (coverage === undefined) return null;
  return {
    knowledge_at: coverage.knowledgeAt,
    semantics: coverage.semantics,
    exact_snapshot: coverage.exactSnapshot,
    limitations: [...coverage.limitations],
  };
}
