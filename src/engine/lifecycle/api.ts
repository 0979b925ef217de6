import type { ConditionState } from "../../domain/enums.ts";
import type { InstantInput } from "../../domain/lifecycle.ts";
import type { MemoryNode } from "../../domain/node.ts";

/** Input and output of changing and traversing memories. `null` and `undefined` both mean absent. */

/** The owner whose memories a change may affect, and the actor recorded for it. */
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
  /** The reason recorded. Not blank, at most 4000 characters. */
  readonly reason?: string | null | undefined;
};

export type RestoreFadedInput = ChangeCaller & {
  /** Counts only. Default false. */
  readonly dryRun?: boolean | null | undefined;
};

/** Restored memories, those that lost a default retention, and those that could not be changed. */
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
  /** Makes a tentative memory stable. @throws SvcError not_found; invalid_transition; request_conflict for other inputs */
  promote(nodeId: string, options?: TransitionOptions): Promise<MemoryNode>;
  /** Retires a memory; it is no longer found. Otherwise like `promote`. */
  archive(nodeId: string, options?: TransitionOptions): Promise<MemoryNode>;
  /**
   * Makes a retired memory active again, in its former state and without a retention that has ended.
   * @throws SvcError not_found, also if it was forgotten; memory_replaced; invalid_transition; request_conflict; embedding_failed
   */
  restore(nodeId: string, options?: RestoreOptions): Promise<MemoryNode>;
  /** Restores memories archived by ageing, of one owner or of all, and lifts former default retentions. */
  restoreFaded(input?: RestoreFadedInput): Promise<RestoredMany>;
  /** A pinned memory is a candidate for every question and does not expire. @throws SvcError not_found; request_conflict */
  pin(nodeId: string, isPinned: boolean, options?: TransitionOptions): Promise<MemoryNode>;
  /** Raises confidence and salience. @throws SvcError not_found; invalid_argument for evidence of another scope; request_conflict */
  reinforce(nodeId: string, options?: ReinforceOptions): Promise<MemoryNode>;
  /**
   * Replaces a memory with another of its owner and scope.
   * @returns both
   * @throws SvcError not_found; invalid_argument; invalid_transition
   */
  supersede(
    oldNodeId: string,
    newNodeId: string,
    options?: ClaimsOptions,
  ): Promise<readonly [MemoryNode, MemoryNode]>;
  /** Makes both contested. Otherwise like `supersede`. */
  contradict(
    firstId: string,
    secondId: string,
    options?: ClaimsOptions,
  ): Promise<readonly [MemoryNode, MemoryNode]>;
  /** Makes the winner stable, the loser deprecated. Otherwise like `supersede`. */
  resolveContradiction(
    winnerId: string,
    loserId: string,
    options?: ClaimsOptions,
  ): Promise<readonly [MemoryNode, MemoryNode]>;
  /** Records whether a condition holds. @throws SvcError not_found; invalid_argument; request_conflict */
  evaluateCondition(nodeId: string, input: ConditionInput): Promise<MemoryNode>;
};
