import { z } from "zod";
import type {
  AssertionAggregation,
  AssertionGroup,
  QuantityAggregation,
  QuantityGroup,
  QuantityPlan,
  TextAggregation,
} from "../../../engine/aggregate/api.ts";
import { count, instantOut, orNull, uuidOut } from "../core/fields.ts";
import {
  assertionQuerySchema,
  quantityQuerySchema,
  toAssertionQueryWire,
  toQuantityQueryWire,
} from "./query-wire.ts";

/** What an answer covers, and what nobody can know. */
export const coverage = {
  stored_set_exhaustive: z.literal(true),
  source_extraction_coverage: z.literal("unknown"),
  real_world_coverage: z.literal("unknown"),
  consistency: z.literal("complete_for_unchanged_store"),
};
export const exclusions = z.record(z.string(), count).meta({
  description: "How many records were left out, by reason; without zeroes.",
});

const decimal = z.string().meta({
  format: "decimal",
  description: "Exact, in plain notation.",
});
const spelled = (names: string) =>
  z
    .record(z.string(), z.string())
    .meta({ description: `By dimension: ${names}, as far as the query groups by them.` });
const CLAIM_PARTS = "subject, predicate, object, polarity";

const assertionGroupSchema = z
  .strictObject({
    values: spelled(CLAIM_PARTS),
    normalized_values: spelled(CLAIM_PARTS),
    occurrence_count: count,
    evidence_count: count.meta({ description: "Different events." }),
    sample_node_ids: z.array(uuidOut),
    sample_evidence_refs: z.array(uuidOut),
    samples_truncated: z.boolean(),
    earliest_event_time: instantOut.nullable(),
    latest_event_time: instantOut.nullable(),
  })
  .meta({ id: "AssertionGroup" });

export const assertionAggregationSchema = z
  .strictObject({
    schema_version: z.literal(1),
    user_id: z.string(),
    query: assertionQuerySchema,
    scanned_nodes: count,
    matched_records: count,
    distinct_count: count.meta({ description: "Of all groups, also of those left out." }),
    groups: z.array(assertionGroupSchema),
    groups_truncated: z.boolean(),
    ...coverage,
    semantic_equivalence: z.literal("normalized_exact_only"),
    exclusions,
  })
  .meta({ id: "AssertionAggregation" });

const quantityGroupSchema = z
  .strictObject({
    values: spelled(`${CLAIM_PARTS}, unit`),
    normalized_values: spelled(`${CLAIM_PARTS}, unit`),
    value_count: count,
    total: decimal,
    minimum: decimal,
    maximum: decimal,
    evidence_count: count.meta({ description: "Different events." }),
    samples: z.array(
      z.strictObject({
        node_id: uuidOut,
        value: decimal,
        unit: z.string(),
        source_text: z.string(),
        evidence_refs: z.array(uuidOut),
      }),
    ),
    samples_truncated: z.boolean(),
    earliest_event_time: instantOut.nullable(),
    latest_event_time: instantOut.nullable(),
  })
  .meta({ id: "QuantityGroup" });

export const quantityAggregationSchema = z
  .strictObject({
    schema_version: z.literal(1),
    user_id: z.string(),
    query: quantityQuerySchema,
    scanned_nodes: count,
    matched_quantity_records: count,
    distinct_count: count.meta({ description: "Of all groups, also of those left out." }),
    groups: z.array(quantityGroupSchema),
    groups_truncated: z.boolean(),
    ...coverage,
    unit_conversion: z.literal("none"),
    semantic_equivalence: z.enum([
      "normalized_exact_only",
      "normalized_exact_and_predicate_prefix",
    ]),
    exclusions,
  })
  .meta({ id: "QuantityAggregation" });

export const textAggregationSchema = z
  .strictObject({
    schema_version: z.literal(1),
    plan: z
      .strictObject({
        schema_version: z.literal(1),
        question: z.string(),
        status: z.enum(["ready", "unsupported"]),
        reason: z.enum([
          "matched_amount_question",
          "matched_count_question",
          "unsupported_shape",
          "unsupported_unit",
          "unsupported_action",
        ]),
        action: z.string().nullable(),
        query: orNull(quantityQuerySchema),
        assumptions: z.array(z.string()),
      })
      .meta({ id: "QuantityPlan", description: "What the question was understood to ask." }),
    aggregation: orNull(quantityAggregationSchema).meta({
      description: "Null exactly when the question is unsupported.",
    }),
  })
  .meta({ id: "TextAggregation" });

type Covered = Pick<
  AssertionAggregation,
  "storedSetExhaustive" | "sourceExtractionCoverage" | "realWorldCoverage" | "consistency"
>;

export function toCoverageWire(answer: Covered) {
  return {
    stored_set_exhaustive: answer.storedSetExhaustive,
    source_extraction_coverage: answer.sourceExtractionCoverage,
    real_world_coverage: answer.realWorldCoverage,
    consistency: answer.consistency,
  };
}

/** The wire form of an aggregation of claims. */
export function toAssertionAggregationWire(
  answer: AssertionAggregation,
): z.infer<typeof assertionAggregationSchema> {
  return {
    schema_version: answer.schemaVersion,
    user_id: answer.userId,
    query: toAssertionQueryWire(answer.query),
    scanned_nodes: answer.scannedNodes,
    matched_records: answer.matchedRecords,
    distinct_count: answer.distinctCount,
    groups: answer.groups.map(toAssertionGroupWire),
    groups_truncated: answer.groupsTruncated,
    ...toCoverageWire(answer),
    semantic_equivalence: answer.semanticEquivalence,
    exclusions: { ...answer.exclusions },
  };
}

function toAssertionGroupWire(group: AssertionGroup): z.infer<typeof assertionGroupSchema> {
  return {
    values: { ...group.values },
    normalized_values: { ...group.normalizedValues },
    occurrence_count: group.occurrenceCount,
    evidence_count: group.evidenceCount,
    sample_node_ids: [...group.sampleNodeIds],
    sample_evidence_refs: [...group.sampleEvidenceRefs],
    samples_truncated: group.samplesTruncated,
    earliest_event_time: group.earliestEventTime ?? null,
    latest_event_time: group.latestEventTime ?? null,
  };
}

/** The wire form of an aggregation of amounts. */
export function toQuantityAggregationWire(
  answer: QuantityAggregation,
): z.infer<typeof quantityAggregationSchema> {
  return {
    schema_version: answer.schemaVersion,
    user_id: answer.userId,
    query: toQuantityQueryWire(answer.query),
    scanned_nodes: answer.scannedNodes,
    matched_quantity_records: answer.matchedQuantityRecords,
    distinct_count: answer.distinctCount,
    groups: answer.groups.map(toQuantityGroupWire),
    groups_truncated: answer.groupsTruncated,
    ...toCoverageWire(answer),
    unit_conversion: answer.unitConversion,
    semantic_equivalence: answer.semanticEquivalence,
    exclusions: { ...answer.exclusions },
  };
}

function toQuantityGroupWire(group: QuantityGroup): z.infer<typeof quantityGroupSchema> {
  return {
    values: { ...group.values },
    normalized_values: { ...group.normalizedValues },
    value_count: group.valueCount,
    total: group.total,
    minimum: group.minimum,
    maximum: group.maximum,
    evidence_count: group.evidenceCount,
    samples: group.samples.map((sample) => ({
      node_id: sample.nodeId,
      value: sample.value,
      unit: sample.unit,
      source_text: sample.sourceText,
      evidence_refs: [...sample.evidenceRefs],
    })),
    samples_truncated: group.samplesTruncated,
    earliest_event_time: group.earliestEventTime ?? null,
    latest_event_time: group.latestEventTime ?? null,
  };
}

/** The wire form of an answer to a question. */
export function toTextAggregationWire({
  schemaVersion,
  plan,
  aggregation,
}: TextAggregation): z.infer<typeof textAggregationSchema> {
  return {
    schema_version: schemaVersion,
    plan: toPlanWire(plan),
    aggregation: aggregation === undefined ? null : toQuantityAggregationWire(aggregation),
  };
}

function toPlanWire(plan: QuantityPlan): z.infer<typeof textAggregationSchema>["plan"] {
  return {
    schema_version: plan.schemaVersion,
    question: plan.question,
    status: plan.status,
    reason: plan.reason,
    action: plan.action ?? null,
    query: plan.query === undefined ? null : toQuantityQueryWire(plan.query),
    assumptions: [...plan.assumptions],
  };
}
