import {
  constant,
  count,
  flag,
  instant,
  integer,
  list,
  member,
  named,
  nullable,
  object,
  text,
  unit,
  uuid,
} from "../../lib/form.ts";
import { noted, shownAs, type ValueOf } from "../../lib/view.ts";
import { EPISTEMIC_TYPES, LIFECYCLE_STATES, NODE_TYPES, SCOPES, SOURCE_TYPES } from "../enums.ts";
import { coverage, exclusions } from "./aggregation.ts";
import { historical } from "./coverage.ts";

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
  /** As the first scanned candidate spells it. */
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
/** One thing that current candidates claim. */
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
  /** Why it is no current candidate; empty when it is one. */
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
    /** Also those stored after the cutoff. */
    matchedRecords: count,
    currentCandidateCount: count,
    /** By normalised object, then polarity. */
    currentValues: list(stateValue),
    currentValuesTruncated: flag,
    /** By confidence and time of storage, both descending, then id. */
    currentCandidates: list(stateEntry),
    currentCandidatesTruncated: flag,
    /** By begin of validity, time of storage and id. */
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
