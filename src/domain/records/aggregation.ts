import {
  constant,
  count,
  decimalText,
  dictionary,
  type Form,
  flag,
  instant,
  integer,
  list,
  member,
  named,
  noted,
  nullable,
  object,
  shownAs,
  text,
  unit,
  uuid,
  type ValueOf,
} from "../../lib/form.ts";
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
  subjects: list(text),
  predicates: list(text),
  objects: list(text),
  polarities: list(text),
  scopes: list(member(SCOPES)),
  nodeTypes: list(member(NODE_TYPES)),
  /** Undefined: by mode. */
  lifecycleStates: nullable(list(member(LIFECYCLE_STATES))),
  retrievalMode: member(RETRIEVAL_MODES),
  eventTimeFrom: nullable(instant),
  eventTimeTo: nullable(instant),
  validAt: nullable(instant),
  knowledgeAt: nullable(instant),
  groupLimit: integer,
  sampleLimit: integer,
};

const recordFilter = object(filter);
/** A checked filter with its defaults. Texts are as given. */
export type RecordFilter = ValueOf<typeof recordFilter>;

const assertionQuery = noted(object({ ...filter, groupBy: list(member(CLAIM_DIMENSIONS)) }), {
  id: "AssertionQuery",
  description: "The complete query, with its defaults.",
});
export type AssertionQuery = ValueOf<typeof assertionQuery>;

const quantityQuery = named("QuantityQuery", "The complete query, with its defaults.", {
  ...filter,
  predicatePrefixes: list(text),
  units: list(text),
  groupBy: list(member(QUANTITY_DIMENSIONS)),
});
export type QuantityQuery = ValueOf<typeof quantityQuery>;

/** The scope of an answer, and its limits. */
const coverage = {
  /** Every stored record was scanned, unless something was written meanwhile. */
  storedSetExhaustive: constant(true),
  sourceExtractionCoverage: constant("unknown"),
  realWorldCoverage: constant("unknown"),
  consistency: constant("complete_for_unchanged_store"),
};

const exclusions = noted(dictionary(count), {
  description: "How many records were left out, by reason; without zeroes.",
});
/** The number of records left out, by the first reason; ordered by name, without zeroes. */
export type ExclusionCounts = ValueOf<typeof exclusions>;

/** Texts by dimension. */
function spelled<D extends string>(names: string) {
  return noted(
    // SAFETY: no member is given as undefined.
    dictionary(text) as unknown as Form<Readonly<Partial<Record<D, string>>>>,
    { description: `By dimension: ${names}, as far as the query groups by them.` },
  );
}
const CLAIM_PARTS = "subject, predicate, object, polarity";
const differentEvents = noted(count, { description: "Different events." });
const allGroups = noted(count, { description: "Of all groups, also of those left out." });

const assertionGroup = named("AssertionGroup", {
  /** In the spelling of the first scanned record. */
  values: spelled<ClaimDimension>(CLAIM_PARTS),
  normalizedValues: spelled<ClaimDimension>(CLAIM_PARTS),
  occurrenceCount: count,
  evidenceCount: differentEvents,
  /** The first that were scanned, ascending. */
  sampleNodeIds: list(uuid),
  /** The smallest. */
  sampleEvidenceRefs: list(uuid),
  /** Either list is cut. */
  samplesTruncated: flag,
  earliestEventTime: nullable(instant),
  latestEventTime: nullable(instant),
});
export type AssertionGroup = ValueOf<typeof assertionGroup>;

export const assertionAggregationForm = named("AssertionAggregation", {
  schemaVersion: constant(1),
  userId: text,
  query: assertionQuery,
  scannedNodes: count,
  matchedRecords: count,
  distinctCount: allGroups,
  /** By normalised values in code-point order. */
  groups: list(assertionGroup),
  groupsTruncated: flag,
  ...coverage,
  semanticEquivalence: constant("normalized_exact_only"),
  exclusions,
});
export type AssertionAggregation = ValueOf<typeof assertionAggregationForm>;

const quantitySample = object({
  nodeId: uuid,
  value: decimalText,
  unit: text,
  sourceText: text,
  /** Ascending. */
  evidenceRefs: list(uuid),
});
export type QuantitySample = ValueOf<typeof quantitySample>;

const quantityGroup = named("QuantityGroup", {
  /** In the spelling of the first scanned record. */
  values: spelled<QuantityDimension>(`${CLAIM_PARTS}, unit`),
  normalizedValues: spelled<QuantityDimension>(`${CLAIM_PARTS}, unit`),
  valueCount: count,
  total: decimalText,
  minimum: decimalText,
  maximum: decimalText,
  evidenceCount: differentEvents,
  /** In scan order. */
  samples: list(quantitySample),
  samplesTruncated: flag,
  earliestEventTime: nullable(instant),
  latestEventTime: nullable(instant),
});
/** Decimals are exact, in plain notation. */
export type QuantityGroup = ValueOf<typeof quantityGroup>;

export const quantityAggregationForm = named("QuantityAggregation", {
  schemaVersion: constant(1),
  userId: text,
  query: quantityQuery,
  scannedNodes: count,
  matchedQuantityRecords: count,
  distinctCount: allGroups,
  /** By normalised values in code-point order. */
  groups: list(quantityGroup),
  groupsTruncated: flag,
  ...coverage,
  unitConversion: constant("none"),
  semanticEquivalence: member(["normalized_exact_only", "normalized_exact_and_predicate_prefix"]),
  exclusions,
});
export type QuantityAggregation = ValueOf<typeof quantityAggregationForm>;

const quantityPlan = named("QuantityPlan", "What the question was understood to ask.", {
  schemaVersion: constant(1),
  question: text,
  status: member(["ready", "unsupported"]),
  reason: member([
    "matched_amount_question",
    "matched_count_question",
    "unsupported_shape",
    "unsupported_unit",
    "unsupported_action",
  ]),
  /** The verb of the question in lower case. Undefined for an unsupported shape. */
  action: nullable(text),
  query: nullable(quantityQuery),
  assumptions: list(text),
});
/** How a question was understood; `query` is set exactly when it is `ready`. */
export type QuantityPlan = ValueOf<typeof quantityPlan>;

export const textAggregationForm = named("TextAggregation", {
  schemaVersion: constant(1),
  plan: quantityPlan,
  aggregation: noted(nullable(quantityAggregationForm), {
    description: "Null exactly when the question is unsupported.",
  }),
});
export type TextAggregation = ValueOf<typeof textAggregationForm>;

/** What is claimed about a subject. */

const stateQuery = named("StateQuery", "The complete query, with its defaults.", {
  subject: text,
  predicate: text,
  scope: member(SCOPES),
  validAt: instant,
  knowledgeAt: nullable(instant),
  nodeTypes: list(member(NODE_TYPES)),
  limit: integer,
});
export type StateQuery = ValueOf<typeof stateQuery>;

const stateValue = named("StateValue", {
  /** In the spelling of the first scanned candidate. */
  object: text,
  polarity: text,
  normalizedObject: text,
  normalizedPolarity: text,
  candidateCount: count,
  /** Different events. */
  evidenceCount: count,
  /** The first ten that were scanned, ascending. */
  sampleNodeIds: list(uuid),
  /** The smallest ten. */
  sampleEvidenceRefs: list(uuid),
  samplesTruncated: flag,
});
/** One value that current candidates claim. */
export type StateValue = ValueOf<typeof stateValue>;

const stateEntry = named("StateEntry", {
  nodeId: uuid,
  nodeType: member(NODE_TYPES),
  content: text,
  subject: text,
  predicate: text,
  object: text,
  polarity: text,
  epistemicType: member(EPISTEMIC_TYPES),
  sourceType: member(SOURCE_TYPES),
  lifecycleState: member(LIFECYCLE_STATES),
  /** As stored. */
  confidence: unit,
  eventTime: nullable(instant),
  createdAt: instant,
  updatedAt: instant,
  validFrom: instant,
  validTo: nullable(instant),
  supersededBy: nullable(uuid),
  evidenceRefs: list(uuid),
  /** The other ends of its conflicts, ascending. */
  contradictionNodeIds: list(uuid),
  currentCandidate: flag,
  /** Why it is not a current candidate; empty if it is one. */
  exclusionReasons: list(text),
});
/** One stored claim about the subject. */
export type StateEntry = ValueOf<typeof stateEntry>;

const stateConflict = named("StateConflict", {
  edgeId: uuid,
  sourceNodeId: uuid,
  targetNodeId: uuid,
  confidence: unit,
  evidenceRef: nullable(uuid),
  createdAt: instant,
  validFrom: instant,
  validTo: nullable(instant),
  activeBetweenCurrentCandidates: flag,
});
/** A `contradicts` edge between two claims about the subject. */
export type StateConflict = ValueOf<typeof stateConflict>;

export const assertionStateForm = named(
  "AssertionState",
  "What is claimed about a subject, never which claim is true.",
  {
    schemaVersion: constant(1),
    userId: text,
    query: stateQuery,
    normalizedSubject: text,
    normalizedPredicate: text,
    status: member(["unknown", "single", "consistent", "multiple", "contested"]),
    scannedNodes: count,
    /** Including those stored after the cutoff. */
    matchedRecords: count,
    currentCandidateCount: count,
    /** By normalised object, then polarity. */
    currentValues: list(stateValue),
    currentValuesTruncated: flag,
    /** By confidence and time of storage, both descending, then id. */
    currentCandidates: list(stateEntry),
    currentCandidatesTruncated: flag,
    /** By start of validity, time of storage and id. */
    timeline: list(stateEntry),
    timelineTruncated: flag,
    /** By time of storage, then id. */
    conflicts: list(stateConflict),
    conflictCount: count,
    conflictsTruncated: flag,
    exclusions,
    ...coverage,
    semanticEquivalence: constant("normalized_exact_only"),
    validitySemantics: constant("valid_from_inclusive_valid_to_exclusive"),
    lifecycleSemantics: constant("current_graph_state"),
    stateSemantics: constant("eligible_claims_not_verified_truth"),
    currentCandidateOrder: constant("confidence_then_ingestion_desc"),
    timelineOrder: constant("validity_then_ingestion_ascending"),
    historicalCoverage: noted(
      nullable(object({ ...historical, limitations: shownAs(historical.limitations, list(text)) })),
      { description: "With knowledge_at: what the cutoff does not undo." },
    ),
  },
);
/** Lists hold at most `limit` entries: values and candidates the first, timeline and conflicts the last. */
export type AssertionState = ValueOf<typeof assertionStateForm>;
export type StateStatus = AssertionState["status"];
