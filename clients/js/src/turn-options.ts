import type { Scope } from "../../../src/domain/enums.ts";
import type { OnMemoryFailure } from "./ai-sdk/failure.ts";
import type { Memory, MemoryQuestion } from "./memory.ts";

export type TurnOptions = Pick<MemoryQuestion, "minScore"> & {
  readonly memory: Memory;
  /** The owner of all that is read and stored; no prompt and no model can name another one. */
  readonly userId: string;
  /**
   * The conversation of calls that name none in `providerOptions.svc.sessionId`. Default: a new one for each middleware, with a
   * random UUID.
   */
  readonly sessionId?: string | undefined;
  /** Tokens of memories in a prompt, at most. 0: none are read. Default 1,000. */
  readonly tokenBudget?: number | undefined;
  /** Where memories are read and turns are stored. Default: read everywhere, stored as personal. */
  readonly scope?: Scope | undefined;
  /** Whose turns are stored. Default `both`. */
  readonly store?: "both" | "user" | "nothing" | undefined;
  /** UTF-16 units of a question and of a stored turn, at most 131,072; what is longer is cut. Default 20,000. */
  readonly maxChars?: number | undefined;
  /** Milliseconds that a call may wait for the memory, before the model and after it. Default 5,000. */
  readonly timeoutMs?: number | undefined;
  /** Default: a process warning of type `svc`. */
  readonly onFailure?: OnMemoryFailure | undefined;
};
