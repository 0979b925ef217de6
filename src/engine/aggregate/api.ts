import type { LifecycleState, NodeType, RetrievalMode, Scope } from "../../domain/enums.ts";
import type { InstantInput } from "../../domain/lifecycle.ts";
import type {
  AssertionAggregation,
  AssertionState,
  ClaimDimension,
  QuantityAggregation,
  QuantityDimension,
  TextAggregation,
} from "../../domain/records/aggregation.ts";

/** Queries over stored claims. `null` means absent only where the type says so; unknown members are refused. */

/** The records that a scan covers. */
type RecordFilterInput = {
  readonly userId: string;
  /** Any of these, compared after normalisation; none blank. Empty: all. Default: empty. */
  readonly subjects?: readonly string[] | undefined;
  readonly predicates?: readonly string[] | undefined;
  readonly objects?: readonly string[] | undefined;
  /** Empty: all. Default: only `positive`. */
  readonly polarities?: readonly string[] | undefined;
  /** No duplicates. Empty: all. Default: empty. */
  readonly scopes?: readonly Scope[] | undefined;
  /** At least one, no duplicates. Default: fact, decision, preference. */
  readonly nodeTypes?: readonly NodeType[] | undefined;
  /** Absent: the active ones, in `explicit` mode all. Empty: nothing. */
  readonly lifecycleStates?: readonly LifecycleState[] | null | undefined;
  /** Default: `default`, which excludes hypothetical, conditional and doubtful memories. */
  readonly retrievalMode?: RetrievalMode | undefined;
  /** Bounds of when it happened, inclusive; memories without that time are excluded. */
  readonly eventTimeFrom?: InstantInput | null | undefined;
  readonly eventTimeTo?: InstantInput | null | undefined;
  /** Keep what is valid at this moment. */
  readonly validAt?: InstantInput | null | undefined;
  /** Keep what was stored at or before this moment. */
  readonly knowledgeAt?: InstantInput | null | undefined;
  /** Groups of the answer, integer 0 to 10000. Default 1000. */
  readonly groupLimit?: number | undefined;
  /** Samples per group, integer 0 to 100. Default 10. */
  readonly sampleLimit?: number | undefined;
  /** Stops the scan between two pages when aborted. */
  readonly signal?: AbortSignal | undefined;
};

export type AssertionQueryInput = RecordFilterInput & {
  /** At least one, no duplicates. Default: only `object`. */
  readonly groupBy?: readonly ClaimDimension[] | undefined;
};

export type QuantityQueryInput = RecordFilterInput & {
  /** Each matches itself, or itself followed by `_…`; besides `predicates`. Default: empty. */
  readonly predicatePrefixes?: readonly string[] | undefined;
  /** Like `subjects`; `$` and `USD` are different units. */
  readonly units?: readonly string[] | undefined;
  /** Must contain `unit`, no duplicates. Default: only `unit`. */
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
  /** Exclude what was stored after this moment. */
  readonly knowledgeAt?: InstantInput | null | undefined;
  /** At least one, no duplicates. Default: fact, decision, preference. */
  readonly nodeTypes?: readonly NodeType[] | undefined;
  /** Entries of each list of the answer, integer 1 to 10000. Default 1000. */
  readonly limit?: number | undefined;
  /** Stops the scan between two pages when aborted. */
  readonly signal?: AbortSignal | undefined;
};

/** Counts and sums over stored claims. */
export type AggregateMethods = {
  /** Counts and groups stored claims, exactly. */
  aggregateAssertions(input: AssertionQueryInput): Promise<AssertionAggregation>;
  /** Sums stored amounts, exactly; units are never converted. */
  aggregateQuantities(input: QuantityQueryInput): Promise<QuantityAggregation>;
  /** Plans such a sum from a plain question; an unsupported question is answered without a scan. */
  aggregateQuantitiesFromText(input: QuantityQuestionInput): Promise<TextAggregation>;
  /** What is claimed about a subject at a moment, and what was before; never which claim is true. */
  getAssertionState(input: StateQueryInput): Promise<AssertionState>;
};
