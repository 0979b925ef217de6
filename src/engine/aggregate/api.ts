import type { LifecycleState, NodeType, RetrievalMode, Scope } from "../../domain/enums.ts";
import type { ClaimDimension, QuantityDimension } from "../../domain/records/aggregation.ts";
import type { InstantInput } from "../../domain/validity.ts";

/**
 * What callers pass to count and sum stored claims, and what they get. Members of a query may be left out; `null` means
 * absent only where the type says so. Unknown members are refused.
 */

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
