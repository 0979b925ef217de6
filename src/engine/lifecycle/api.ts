import type { ConditionState } from "../../domain/enums.ts";
import type { InstantInput } from "../../domain/lifecycle.ts";
import type { MemoryNode } from "../../domain/node.ts";

/** Input and output of changing memories and of walking among them. `null` and `undefined` both mean absent. */

/** The owner whose memories a change may touch, and the actor under whose name it is recorded. */
export type ChangeCaller = {
  /** If given, memories of other owners are treated as missing. */
  readonly userId?: string | null | undefined;
  /** Not blank. Default: `userId`, else `system`. */
  readonly actorId?: string | null | undefined;
};

export type TransitionOptions = ChangeCaller & {
  /** UUID, per owner: a retry with it changes nothing. */
  readonly requestId?: string | null | undefined;
};

export type RestoreOptions = TransitionOptions & {
  /** Why, for the record. Not blank, at most 4000 characters. */
  readonly reason?: string | null | undefined;
};

export type RestoreFadedInput = ChangeCaller & {
  /** Only counts. Default false. */
  readonly dryRun?: boolean | null | undefined;
};

/** Memories that are back, those that lost a retention which nobody chose, and those that could not be changed. */
export type RestoredMany = Readonly<Record<"restored" | "kept" | "failed", number>>;

export type ReinforceOptions = {
  readonly userId?: string | null | undefined;
  /** An event of the memory's owner and scope. */
  readonly evidenceId?: string | null | undefined;
  /** UUID, per owner: a retry with it changes nothing. */
  readonly requestId?: string | null | undefined;
};

export type ClaimsOptions = ChangeCaller & {
  /** An event of the memories' owner and scope. */
  readonly evidenceId?: string | null | undefined;
  /** UUID, per owner: a retry with it changes nothing, whatever happened since. */
  readonly requestId?: string | null | undefined;
};

export const EVALUATION_METHODS = ["user", "tool", "rule", "llm"] as const;

export type EvaluationMethod = (typeof EVALUATION_METHODS)[number];

export type ConditionInput = ChangeCaller & {
  readonly state: ConditionState;
  /** An event of the memory's owner and scope. */
  readonly evidenceId?: string | null | undefined;
  /** UUID, per owner: a retry with it changes nothing. */
  readonly requestId?: string | null | undefined;
  /** Default `user`. */
  readonly evaluationMethod?: EvaluationMethod | null | undefined;
  /** Not blank, at most 4000 characters after trimming. */
  readonly reason?: string | null | undefined;
  /** Default now. */
  readonly evaluatedAt?: InstantInput | null | undefined;
};

/** Changing memories. */
export type LifecycleMethods = {
  /**
   * Makes a tentative memory stable.
   * @throws SvcError not_found; invalid_transition; request_conflict if `requestId` was used for something else
   */
  promote(nodeId: string, options?: TransitionOptions): Promise<MemoryNode>;
  /** Retires a memory; it is no longer found. Otherwise like `promote`. */
  archive(nodeId: string, options?: TransitionOptions): Promise<MemoryNode>;
  /**
   * Brings back a memory that time, a person or an assistant has archived: it is found as before, and a retention that has ended is
   * gone. Its state is the one it had.
   * @throws SvcError not_found, which says so if the memory was forgotten; memory_replaced while another one stands in its place;
   *   invalid_transition; request_conflict; embedding_failed
   */
  restore(nodeId: string, options?: RestoreOptions): Promise<MemoryNode>;
  /**
   * Brings back what has faded of an owner's memories, or of everybody's: what time has archived though nobody named a day for it. What
   * has a retention that was once the default of its type, and is no longer, is kept for ever.
   */
  restoreFaded(input?: RestoreFadedInput): Promise<RestoredMany>;
  /**
   * Pins a memory in any state, or releases it: a pinned one is a candidate for every question and does not expire. Doing it again
   * changes nothing.
   * @throws SvcError not_found; request_conflict
   */
  pin(nodeId: string, isPinned: boolean, options?: TransitionOptions): Promise<MemoryNode>;
  /**
   * Raises confidence and salience of a memory in any state.
   * @throws SvcError not_found for the memory or the evidence; invalid_argument for evidence of another scope;
   *   request_conflict
   */
  reinforce(nodeId: string, options?: ReinforceOptions): Promise<MemoryNode>;
  /**
   * Replaces one memory with another of the same owner and scope. An exact retry changes nothing.
   * @returns the replaced memory, then its replacement
   * @throws SvcError not_found; invalid_argument; invalid_transition
   */
  supersede(
    oldNodeId: string,
    newNodeId: string,
    options?: ClaimsOptions,
  ): Promise<readonly [MemoryNode, MemoryNode]>;
  /**
   * Marks two claims as contradicting each other; both become contested. Otherwise like `supersede`. @returns both, in the given
   * order
   */
  contradict(
    firstId: string,
    secondId: string,
    options?: ClaimsOptions,
  ): Promise<readonly [MemoryNode, MemoryNode]>;
  /**
   * Ends a contradiction: the winner becomes stable, the loser deprecated. Otherwise like `supersede`. @returns winner, then
   * loser
   */
  resolveContradiction(
    winnerId: string,
    loserId: string,
    options?: ClaimsOptions,
  ): Promise<readonly [MemoryNode, MemoryNode]>;
  /**
   * Records whether the condition of a conditional memory holds.
   * @throws SvcError not_found; invalid_argument; request_conflict
   */
  evaluateCondition(nodeId: string, input: ConditionInput): Promise<MemoryNode>;
};
