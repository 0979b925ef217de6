import type {
  EpistemicType,
  LifecycleState,
  NodeType,
  RetrievalMode,
  Scope,
  SourceType,
} from "../../domain/enums.ts";
import type { HistoricalCoverage } from "../../domain/records/coverage.ts";
import type { InstantInput } from "../../domain/validity.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";

/**
 * What callers pass to count and sum stored claims, and what they get. Members of a query may be left out; `null` means
 * absent only where the type says so. Unknown members are refused.
 */

/** By what claims are grouped. */
export const CLAIM_DIMENSIONS = ["subject", "predicate", "object", "polarity"] as const;
export type ClaimDimension = (typeof CLAIM_DIMENSIONS)[number];

/** By what amounts are grouped. */
export const QUANTITY_DIMENSIONS = [...CLAIM_DIMENSIONS, "unit"] as const;
export type QuantityDimension = (typeof QUANTITY_DIMENSIONS)[number];

/** Which records a scan takes in. */
type RecordFilterInput = {
  readonly userId: string;
  /** Any of these, compared after normalisation; none blank. Empty: any. Default empty. */
  readonly subjects?: readonly string[] | undefined;
  readonly predicates?: readonly string[] | undefined;
  readonly objects?: readonly string[] | undefined;
  /** Empty: any. Default `positive` alone. */
  readonly polarities?: readonly string[] | undefined;
  /** None twice. Empty: all. Default empty. */
  readonly scopes?: readonly Scope[] | undefined;
  /** At least one, none twice. Default fact, decision, preference. */
  readonly nodeTypes?: readonly NodeType[] | undefined;
  /** Absent: the active ones, in `explicit` mode all. Empty: nothing. */
  readonly lifecycleStates?: readonly LifecycleState[] | null | undefined;
  /** Default `default`, which leaves out hypothetical, conditional and doubtful memories. */
  readonly retrievalMode?: RetrievalMode | undefined;
  /** Bounds of when it happened, inclusive; memories without that time are left out. */
  readonly eventTimeFrom?: InstantInput | null | undefined;
  readonly eventTimeTo?: InstantInput | null | undefined;
  /** Keep what is valid at this moment. */
  readonly validAt?: InstantInput | null | undefined;
  /** Keep what was stored at or before this moment. */
  readonly knowledgeAt?: InstantInput | null | undefined;
  /** Groups of the answer, integer 0 to 10000. Default 1000. */
  readonly groupLimit?: number | undefined;
  /** Samples a group, integer 0 to 100. Default 10. */
  readonly sampleLimit?: number | undefined;
  /** Stops the scan between two pages when aborted. */
  readonly signal?: AbortSignal | undefined;
};

export type AssertionQueryInput = RecordFilterInput & {
  /** At least one, none twice. Default `object` alone. */
  readonly groupBy?: readonly ClaimDimension[] | undefined;
};

export type QuantityQueryInput = RecordFilterInput & {
  /** A prefix is itself, or itself and `_…`. Together with `predicates` a record passes on either. Default empty. */
  readonly predicatePrefixes?: readonly string[] | undefined;
  /** As `subjects`; `$` and `USD` are different units. */
  readonly units?: readonly string[] | undefined;
  /** Has `unit`, none twice. Default `unit` alone. */
  readonly groupBy?: readonly QuantityDimension[] | undefined;
};

export type QuantityQuestionInput = {
  readonly userId: string;
  /** Not blank. */
  readonly question: string;
  /** Stops the scan between two pages when aborted. */
  readonly signal?: AbortSignal | undefined;
};

export type StateQueryInput = {
  readonly userId: string;
  /** Not blank; compared after normalisation. */
  readonly subject: string;
  readonly predicate: string;
  readonly scope: Scope;
  readonly validAt: InstantInput;
  /** Leave out what was stored after this moment. */
  readonly knowledgeAt?: InstantInput | null | undefined;
  /** At least one, none twice. Default fact, decision, preference. */
  readonly nodeTypes?: readonly NodeType[] | undefined;
  /** Entries of each list of the answer, integer 1 to 10000. Default 1000. */
  readonly limit?: number | undefined;
  /** Stops the scan between two pages when aborted. */
  readonly signal?: AbortSignal | undefined;
};

/** A checked filter with its defaults. Texts are as they were given. */
export type RecordFilter = {
  readonly subjects: readonly string[];
  readonly predicates: readonly string[];
  readonly objects: readonly string[];
  readonly polarities: readonly string[];
  readonly scopes: readonly Scope[];
  readonly nodeTypes: readonly NodeType[];
  /** Undefined: by mode. */
  readonly lifecycleStates: readonly LifecycleState[] | undefined;
  readonly retrievalMode: RetrievalMode;
  readonly eventTimeFrom: Instant | undefined;
  readonly eventTimeTo: Instant | undefined;
  readonly validAt: Instant | undefined;
  readonly knowledgeAt: Instant | undefined;
  readonly groupLimit: number;
  readonly sampleLimit: number;
};

export type AssertionQuery = RecordFilter & { readonly groupBy: readonly ClaimDimension[] };

export type QuantityQuery = RecordFilter & {
  readonly predicatePrefixes: readonly string[];
  readonly units: readonly string[];
  readonly groupBy: readonly QuantityDimension[];
};

export type StateQuery = {
  readonly subject: string;
  readonly predicate: string;
  readonly scope: Scope;
  readonly validAt: Instant;
  readonly knowledgeAt: Instant | undefined;
  readonly nodeTypes: readonly NodeType[];
  readonly limit: number;
};

/** How many records were left out, by the first reason; by name, without zeroes. */
export type ExclusionCounts = Readonly<Record<string, number>>;

/** What an answer does and does not cover. */
type Coverage = {
  /** Every stored record was looked at, provided that nothing was written meanwhile. */
  readonly storedSetExhaustive: true;
  readonly sourceExtractionCoverage: "unknown";
  readonly realWorldCoverage: "unknown";
  readonly consistency: "complete_for_unchanged_store";
};

/** What the records of a group have in common. */
type GroupParts<D extends string> = {
  /** By dimension, as the first scanned record spells it. */
  readonly values: Readonly<Partial<Record<D, string>>>;
  readonly normalizedValues: Readonly<Partial<Record<D, string>>>;
  /** Different events. */
  readonly evidenceCount: number;
  readonly earliestEventTime: Instant | undefined;
  readonly latestEventTime: Instant | undefined;
};

export type AssertionGroup = GroupParts<ClaimDimension> & {
  readonly occurrenceCount: number;
  /** The first that were scanned, ascending. */
  readonly sampleNodeIds: readonly Uuid[];
  /** The smallest. */
  readonly sampleEvidenceRefs: readonly Uuid[];
  /** Either list is cut. */
  readonly samplesTruncated: boolean;
};

export type AssertionAggregation = Coverage & {
  readonly schemaVersion: 1;
  readonly userId: string;
  readonly query: AssertionQuery;
  readonly scannedNodes: number;
  readonly matchedRecords: number;
  /** Of all groups, also of those that the answer leaves out. */
  readonly distinctCount: number;
  /** By normalised values in code-point order. */
  readonly groups: readonly AssertionGroup[];
  readonly groupsTruncated: boolean;
  readonly semanticEquivalence: "normalized_exact_only";
  readonly exclusions: ExclusionCounts;
};

export type QuantitySample = {
  readonly nodeId: Uuid;
  /** Decimal. */
  readonly value: string;
  readonly unit: string;
  readonly sourceText: string;
  /** Ascending. */
  readonly evidenceRefs: readonly Uuid[];
};

/** Decimals are exact, in plain notation. */
export type QuantityGroup = GroupParts<QuantityDimension> & {
  readonly valueCount: number;
  readonly total: string;
  readonly minimum: string;
  readonly maximum: string;
  /** In the order of the scan. */
  readonly samples: readonly QuantitySample[];
  readonly samplesTruncated: boolean;
};

export type QuantityAggregation = Coverage & {
  readonly schemaVersion: 1;
  readonly userId: string;
  readonly query: QuantityQuery;
  readonly scannedNodes: number;
  readonly matchedQuantityRecords: number;
  /** Of all groups, also of those that the answer leaves out. */
  readonly distinctCount: number;
  /** By normalised values in code-point order. */
  readonly groups: readonly QuantityGroup[];
  readonly groupsTruncated: boolean;
  readonly unitConversion: "none";
  readonly semanticEquivalence: "normalized_exact_only" | "normalized_exact_and_predicate_prefix";
  readonly exclusions: ExclusionCounts;
};

/** What a question was understood to ask; `query` is there exactly when it is `ready`. */
export type QuantityPlan = {
  readonly schemaVersion: 1;
  readonly question: string;
  readonly status: "ready" | "unsupported";
  readonly reason:
    | "matched_amount_question"
    | "matched_count_question"
    | "unsupported_shape"
    | "unsupported_unit"
    | "unsupported_action";
  /** The verb of the question in lower case. Undefined for an unsupported shape. */
  readonly action: string | undefined;
  readonly query: QuantityQuery | undefined;
  readonly assumptions: readonly string[];
};

export type TextAggregation = {
  readonly schemaVersion: 1;
  readonly plan: QuantityPlan;
  /** Undefined exactly when the plan is unsupported. */
  readonly aggregation: QuantityAggregation | undefined;
};

export type StateStatus = "unknown" | "single" | "consistent" | "multiple" | "contested";

/** One stored claim about the subject. */
export type StateEntry = {
  readonly nodeId: Uuid;
  readonly nodeType: NodeType;
  readonly content: string;
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  readonly polarity: string;
  readonly epistemicType: EpistemicType;
  readonly sourceType: SourceType;
  readonly lifecycleState: LifecycleState;
  /** As stored. */
  readonly confidence: number;
  readonly eventTime: Instant | undefined;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly validFrom: Instant;
  readonly validTo: Instant | undefined;
  readonly supersededBy: Uuid | undefined;
  readonly evidenceRefs: readonly Uuid[];
  /** The other ends of its conflicts, ascending. */
  readonly contradictionNodeIds: readonly Uuid[];
  readonly currentCandidate: boolean;
  /** Why it is no current candidate; empty when it is one. */
  readonly exclusionReasons: readonly string[];
};

/** One thing that current candidates claim. */
export type StateValue = {
  /** As the first scanned candidate spells it. */
  readonly object: string;
  readonly polarity: string;
  readonly normalizedObject: string;
  readonly normalizedPolarity: string;
  readonly candidateCount: number;
  /** Different events. */
  readonly evidenceCount: number;
  /** The first ten that were scanned, ascending. */
  readonly sampleNodeIds: readonly Uuid[];
  /** The smallest ten. */
  readonly sampleEvidenceRefs: readonly Uuid[];
  readonly samplesTruncated: boolean;
};

/** A `contradicts` edge between two claims about the subject. */
export type StateConflict = {
  readonly edgeId: Uuid;
  readonly sourceNodeId: Uuid;
  readonly targetNodeId: Uuid;
  readonly confidence: number;
  readonly evidenceRef: Uuid | undefined;
  readonly createdAt: Instant;
  readonly validFrom: Instant;
  readonly validTo: Instant | undefined;
  readonly activeBetweenCurrentCandidates: boolean;
};

/** Lists hold at most `limit` entries: values and candidates the first, timeline and conflicts the last. */
export type AssertionState = Coverage & {
  readonly schemaVersion: 1;
  readonly userId: string;
  readonly query: StateQuery;
  readonly normalizedSubject: string;
  readonly normalizedPredicate: string;
  readonly status: StateStatus;
  readonly scannedNodes: number;
  /** Also those stored after the cutoff. */
  readonly matchedRecords: number;
  readonly currentCandidateCount: number;
  /** By normalised object, then polarity. */
  readonly currentValues: readonly StateValue[];
  readonly currentValuesTruncated: boolean;
  /** By confidence and time of storage, both descending, then id. */
  readonly currentCandidates: readonly StateEntry[];
  readonly currentCandidatesTruncated: boolean;
  /** By begin of validity, time of storage and id. */
  readonly timeline: readonly StateEntry[];
  readonly timelineTruncated: boolean;
  /** By time of storage, then id. */
  readonly conflicts: readonly StateConflict[];
  readonly conflictCount: number;
  readonly conflictsTruncated: boolean;
  readonly exclusions: ExclusionCounts;
  readonly semanticEquivalence: "normalized_exact_only";
  readonly validitySemantics: "valid_from_inclusive_valid_to_exclusive";
  readonly lifecycleSemantics: "current_graph_state";
  readonly stateSemantics: "eligible_claims_not_verified_truth";
  readonly currentCandidateOrder: "confidence_then_ingestion_desc";
  readonly timelineOrder: "validity_then_ingestion_ascending";
  readonly historicalCoverage: HistoricalCoverage | undefined;
};
