import * as f from "../../lib/form.ts";
import {
  EPISTEMIC_TYPES,
  LIFECYCLE_STATES,
  NODE_TYPES,
  RETRIEVAL_MODES,
  SCOPES,
  SOURCE_TYPES,
} from "../enums.ts";
import { historical } from "./receipt.ts";

/** Results of counts and sums over stored claims. */

export const CLAIM_DIMENSIONS = ["subject", "predicate", "object", "polarity"] as const;
export type ClaimDimension = (typeof CLAIM_DIMENSIONS)[number];

/** Dimensions by which amounts are grouped. */
export const QUANTITY_DIMENSIONS = [...CLAIM_DIMENSIONS, "unit"] as const;
export type QuantityDimension = (typeof QUANTITY_DIMENSIONS)[number];

const filter = {
  subjects: f.list(f.text),
  predicates: f.list(f.text),
  objects: f.list(f.text),
  polarities: f.list(f.text),
  scopes: f.list(f.member(SCOPES)),
  nodeTypes: f.list(f.member(NODE_TYPES)),
  /** Undefined: by mode. */
  lifecycleStates: f.nullable(f.list(f.member(LIFECYCLE_STATES))),
  retrievalMode: f.member(RETRIEVAL_MODES),
  eventTimeFrom: f.nullable(f.instant),
  eventTimeTo: f.nullable(f.instant),
  validAt: f.nullable(f.instant),
  knowledgeAt: f.nullable(f.instant),
  groupLimit: f.integer,
  sampleLimit: f.integer,
};

const recordFilter = f.object(filter);
/** A checked filter with its defaults. Texts are as given. */
export type RecordFilter = f.ValueOf<typeof recordFilter>;

const assertionQuery = f.noted(
  f.object({ ...filter, groupBy: f.list(f.member(CLAIM_DIMENSIONS)) }),
  { id: "AssertionQuery", description: "The complete query, with its defaults." },
);
export type AssertionQuery = f.ValueOf<typeof assertionQuery>;

const quantityQuery = f.named("QuantityQuery", "The complete query, with its defaults.", {
  ...filter,
  predicatePrefixes: f.list(f.text),
  units: f.list(f.text),
  groupBy: f.list(f.member(QUANTITY_DIMENSIONS)),
});
export type QuantityQuery = f.ValueOf<typeof quantityQuery>;

/** The scope of an answer, and its limits. */
const coverage = {
  /** Every stored record was scanned, unless something was written meanwhile. */
  storedSetExhaustive: f.constant(true),
  sourceExtractionCoverage: f.constant("unknown"),
  realWorldCoverage: f.constant("unknown"),
  consistency: f.constant("complete_for_unchanged_store"),
};

const exclusions = f.noted(f.dictionary(f.count), {
  description: "How many records were left out, by reason; without zeroes.",
});
/** The number of records left out, by the first reason; ordered by name, without zeroes. */
export type ExclusionCounts = f.ValueOf<typeof exclusions>;

/** Texts by dimension. */
function spelled<D extends string>(names: string) {
  return f.noted(
    // SAFETY: no member is given as undefined.
    f.dictionary(f.text) as unknown as f.Form<Readonly<Partial<Record<D, string>>>>,
    { description: `By dimension: ${names}, as far as the query groups by them.` },
  );
}
const CLAIM_PARTS = "subject, predicate, object, polarity";
const differentEvents = f.noted(f.count, { description: "Different events." });
const allGroups = f.noted(f.count, { description: "Of all groups, also of those left out." });

const assertionGroup = f.named("AssertionGroup", {
  /** In the spelling of the first scanned record. */
  values: spelled<ClaimDimension>(CLAIM_PARTS),
  normalizedValues: spelled<ClaimDimension>(CLAIM_PARTS),
  occurrenceCount: f.count,
  evidenceCount: differentEvents,
  /** The first that were scanned, ascending. */
  sampleNodeIds: f.list(f.uuid),
  /** The smallest. */
  sampleEvidenceRefs: f.list(f.uuid),
  /** Either list is cut. */
  samplesTruncated: f.flag,
  earliestEventTime: f.nullable(f.instant),
  latestEventTime: f.nullable(f.instant),
});
export type AssertionGroup = f.ValueOf<typeof assertionGroup>;

export const assertionAggregationForm = f.named("AssertionAggregation", {
  schemaVersion: f.constant(1),
  userId: f.text,
  query: assertionQuery,
  scannedNodes: f.count,
  matchedRecords: f.count,
  distinctCount: allGroups,
  /** By normalised values in code-point order. */
  groups: f.list(assertionGroup),
  groupsTruncated: f.flag,
  ...coverage,
  semanticEquivalence: f.constant("normalized_exact_only"),
  exclusions,
});
export type AssertionAggregation = f.ValueOf<typeof assertionAggregationForm>;

const quantitySample = f.object({
  nodeId: f.uuid,
  value: f.decimalText,
  unit: f.text,
  sourceText: f.text,
  /** Ascending. */
  evidenceRefs: f.list(f.uuid),
});
export type QuantitySample = f.ValueOf<typeof quantitySample>;

const quantityGroup = f.named("QuantityGroup", {
  /** In the spelling of the first scanned record. */
  values: spelled<QuantityDimension>(`${CLAIM_PARTS}, unit`),
  normalizedValues: spelled<QuantityDimension>(`${CLAIM_PARTS}, unit`),
  valueCount: f.count,
  total: f.decimalText,
  minimum: f.decimalText,
  maximum: f.decimalText,
  evidenceCount: differentEvents,
  /** In scan order. */
  samples: f.list(quantitySample),
  samplesTruncated: f.flag,
  earliestEventTime: f.nullable(f.instant),
  latestEventTime: f.nullable(f.instant),
});
/** Decimals are exact, in plain notation. */
export type QuantityGroup = f.ValueOf<typeof quantityGroup>;

export const quantityAggregationForm = f.named("QuantityAggregation", {
  schemaVersion: f.constant(1),
  userId: f.text,
  query: quantityQuery,
  scannedNodes: f.count,
  matchedQuantityRecords: f.count,
  distinctCount: allGroups,
  /** By normalised values in code-point order. */
  groups: f.list(quantityGroup),
  groupsTruncated: f.flag,
  ...coverage,
  unitConversion: f.constant("none"),
  semanticEquivalence: f.member(["normalized_exact_only", "normalized_exact_and_predicate_prefix"]),
  exclusions,
});
export type QuantityAggregation = f.ValueOf<typeof quantityAggregationForm>;

const quantityPlan = f.named("QuantityPlan", "What the question was understood to ask.", {
  schemaVersion: f.constant(1),
  question: f.text,
  status: f.member(["ready", "unsupported"]),
  reason: f.member([
    "matched_amount_question",
    "matched_count_question",
    "unsupported_shape",
    "unsupported_unit",
    "unsupported_action",
  ]),
  /** The verb of the question in lower case. Undefined for an unsupported shape. */
  action: f.nullable(f.text),
  query: f.nullable(quantityQuery),
  assumptions: f.list(f.text),
});
/** How a question was understood; `query` is set exactly when it is `ready`. */
export type QuantityPlan = f.ValueOf<typeof quantityPlan>;

export const textAggregationForm = f.named("TextAggregation", {
  schemaVersion: f.constant(1),
  plan: quantityPlan,
  aggregation: f.noted(f.nullable(quantityAggregationForm), {
    description: "Null exactly when the question is unsupported.",
  }),
});
export type TextAggregation = f.ValueOf<typeof textAggregationForm>;

/** What is claimed about a subject. */

const stateQuery = f.named("StateQuery", "The complete query, with its defaults.", {
  subject: f.text,
  predicate: f.text,
  scope: f.member(SCOPES),
  validAt: f.instant,
  knowledgeAt: f.nullable(f.instant),
  nodeTypes: f.list(f.member(NODE_TYPES)),
  limit: f.integer,
});
export type StateQuery = f.ValueOf<typeof stateQuery>;

const stateValue = f.named("StateValue", {
  /** In the spelling of the first scanned candidate. */
  object: f.text,
  polarity: f.text,
  normalizedObject: f.text,
  normalizedPolarity: f.text,
  candidateCount: f.count,
  /** Different events. */
  evidenceCount: f.count,
  /** The first ten that were scanned, ascending. */
  sampleNodeIds: f.list(f.uuid),
  /** The smallest ten. */
  sampleEvidenceRefs: f.list(f.uuid),
  samplesTruncated: f.flag,
});
/** One value that current candidates claim. */
export type StateValue = f.ValueOf<typeof stateValue>;

const stateEntry = f.named("StateEntry", {
  nodeId: f.uuid,
  nodeType: f.member(NODE_TYPES),
  content: f.text,
  subject: f.text,
  predicate: f.text,
  object: f.text,
  polarity: f.text,
  epistemicType: f.member(EPISTEMIC_TYPES),
  sourceType: f.member(SOURCE_TYPES),
  lifecycleState: f.member(LIFECYCLE_STATES),
  /** As stored. */
  confidence: f.unit,
  eventTime: f.nullable(f.instant),
  createdAt: f.instant,
  updatedAt: f.instant,
  validFrom: f.instant,
  validTo: f.nullable(f.instant),
  supersededBy: f.nullable(f.uuid),
  evidenceRefs: f.list(f.uuid),
  /** The other ends of its conflicts, ascending. */
  contradictionNodeIds: f.list(f.uuid),
  currentCandidate: f.flag,
  /** Why it is not a current candidate; empty if it is one. */
  exclusionReasons: f.list(f.text),
});
/** One stored claim about the subject. */
export type StateEntry = f.ValueOf<typeof stateEntry>;

const stateConflict = f.named("StateConflict", {
  edgeId: f.uuid,
  sourceNodeId: f.uuid,
  targetNodeId: f.uuid,
  confidence: f.unit,
  evidenceRef: f.nullable(f.uuid),
  createdAt: f.instant,
  validFrom: f.instant,
  validTo: f.nullable(f.instant),
  activeBetweenCurrentCandidates: f.flag,
});
/** A `contradicts` edge between two claims about the subject. */
export type StateConflict = f.ValueOf<typeof stateConflict>;

export const assertionStateForm = f.named(
  "AssertionState",
  "What is claimed about a subject, never which claim is true.",
  {
    schemaVersion: f.constant(1),
    userId: f.text,
    query: stateQuery,
    normalizedSubject: f.text,
    normalizedPredicate: f.text,
    status: f.member(["unknown", "single", "consistent", "multiple", "contested"]),
    scannedNodes: f.count,
    /** Including those stored after the cutoff. */
    matchedRecords: f.count,
    currentCandidateCount: f.count,
    /** By normalised object, then polarity. */
    currentValues: f.list(stateValue),
    currentValuesTruncated: f.flag,
    /** By confidence and time of storage, both descending, then id. */
    currentCandidates: f.list(stateEntry),
    currentCandidatesTruncated: f.flag,
    /** By start of validity, time of storage and id. */
    timeline: f.list(stateEntry),
    timelineTruncated: f.flag,
    /** By time of storage, then id. */
    conflicts: f.list(stateConflict),
    conflictCount: f.count,
    conflictsTruncated: f.flag,
    exclusions,
    ...coverage,
    semanticEquivalence: f.constant("normalized_exact_only"),
    validitySemantics: f.constant("valid_from_inclusive_valid_to_exclusive"),
    lifecycleSemantics: f.constant("current_graph_state"),
    stateSemantics: f.constant("eligible_claims_not_verified_truth"),
    currentCandidateOrder: f.constant("confidence_then_ingestion_desc"),
    timelineOrder: f.constant("validity_then_ingestion_ascending"),
    historicalCoverage: f.noted(
      f.nullable(
        f.object({ ...historical, limitations: f.shownAs(historical.limitations, f.list(f.text)) }),
      ),
      { description: "With knowledge_at: what the cutoff does not undo." },
    ),
  },
);
/** Lists hold at most `limit` entries: values and candidates the first, timeline and conflicts the last. */
export type AssertionState = f.ValueOf<typeof assertionStateForm>;
export type StateStatus = AssertionState["status"];
