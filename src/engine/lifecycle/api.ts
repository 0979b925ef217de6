import type { ConditionState } from "../../domain/enums.ts";
import type { InstantInput } from "../../domain/validity.ts";

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
