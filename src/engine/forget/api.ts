import type { LifecycleState, NodeType, Role } from "../../domain/enums.ts";
import type { ForgetStage } from "../../domain/erasure.ts";
import type { Instant } from "../../lib/instant.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { ErasureCounts } from "../../ports/store/events.ts";

/** Forgetting: the content of memories and events is erased; their place in the log stays. `null` and `undefined` both mean absent. */

export const FORGET_MODES = ["preview", "erase"] as const;
export type ForgetMode = (typeof FORGET_MODES)[number];

/** What to forget, for one owner: `everything`, or at least one of `ids`, `sessionId` and `containing`. */
export type ForgetInput = {
  readonly userId: string;
  /** Of memories and events, at most 1,000. */
  readonly ids?: readonly string[] | null | undefined;
  /** All messages of a conversation. */
  readonly sessionId?: string | null | undefined;
  /** Memories whose text contains this, ignoring case. */
  readonly containing?: string | null | undefined;
  /** All events and memories, at most 100,000. Stands alone. */
  readonly everything?: boolean | null | undefined;
  /** Keeps memories that also rest on other events. Default false: they are erased, since their text may repeat what is erased. */
  readonly keepDerived?: boolean | null | undefined;
  /** Default `preview`, which changes nothing. */
  readonly mode?: ForgetMode | null | undefined;
  /** The confirmation from the preview: exactly what it listed is erased. Required to erase. */
  readonly confirm?: string | null | undefined;
  /** Default: the owner. */
  readonly actorId?: string | null | undefined;
};

export type ForgottenEvent = {
  readonly id: Uuid;
  readonly sessionId: string | undefined;
  readonly role: Role;
  readonly timestamp: Instant;
  /** The beginning of its text; empty once it is erased. */
  readonly excerpt: string;
};

/**
 * Why a memory is erased. `evidence`: all its evidence is erased. `may_repeat`: it also rests on other events, but its text may repeat what
 * is erased. `summary`: it summarizes what is erased.
 */
export const FORGET_REASONS = ["evidence", "may_repeat", "summary"] as const;

/**
 * Why something stays. `other_evidence`: other events support it too. `own_text`: an event cited by an erased memory, with a text of its
 * own. `replaced`: it was replaced by an erased memory; it stays retired.
 */
export const STAY_REASONS = ["other_evidence", "own_text", "replaced"] as const;

export type ForgottenMemory = {
  readonly id: Uuid;
  readonly nodeType: NodeType;
  readonly lifecycleState: LifecycleState;
  readonly why: (typeof FORGET_REASONS)[number];
  readonly excerpt: string;
};

export type Staying = {
  readonly kind: "event" | "memory";
  readonly id: Uuid;
  readonly why: (typeof STAY_REASONS)[number];
  readonly excerpt: string;
};

/** What a forgetting will erase, or has erased. */
export type ForgetAnswer = {
  readonly mode: ForgetMode;
  /** For a preview with anything to erase: the value that confirms it. */
  readonly confirm: string | undefined;
  readonly forgetId: Uuid | undefined;
  readonly stage: ForgetStage | undefined;
  readonly events: readonly ForgottenEvent[];
  readonly memories: readonly ForgottenMemory[];
  /** What goes besides. */
  readonly counts: ErasureCounts;
  readonly stays: readonly Staying[];
  /** Named events that had been forgotten before. */
  readonly forgottenBefore: readonly Uuid[];
  /** Other places that may still hold the texts. */
  readonly notReached: readonly string[];
  /** Proves the erasure. Returned once; it cannot be made again. */
  readonly receipt: JsonObject | undefined;
};

/** A record of a forgetting. */
export type Forgetting = {
  readonly forgetId: Uuid;
  readonly stage: ForgetStage;
  readonly actorId: string;
  readonly forgottenAt: Instant;
  readonly events: readonly Uuid[];
  readonly memories: readonly Uuid[];
  readonly counts: ErasureCounts;
  /** SHA-256 of its receipt, 64 hexadecimal digits; undefined if none was made. */
  readonly receiptSha256: string | undefined;
};

/** One finding of a verification. */
export type ForgetCheck = { readonly name: string; readonly ok: boolean; readonly detail: string };

export type ForgetVerification = { readonly ok: boolean; readonly checks: readonly ForgetCheck[] };

/** Forgetting for good. */
export type ForgetMethods = {
  /**
   * Shows what a forgetting would erase and what would stay, or erases what a preview listed: in one transaction, then physically.
   * Repeating the confirmation erases nothing and returns the first result, without a receipt. If the program ended before the receipt was
   * made, it is made now, without a commitment to the erased texts.
   * @throws SvcError invalid_argument; not_found for an id that is neither a memory nor an event of the owner; request_conflict if
   * something has changed since the preview; pack_read_only
   */
  forget(input: ForgetInput): Promise<ForgetAnswer>;
  /** The record of a forgetting. Undefined for an unknown one, or one of another owner. @throws SvcError invalid_argument */
  getForgetting(forgetId: string, userId?: string | null): Promise<Forgetting | undefined>;
  /** The forgettings of an owner, newest first. @throws SvcError invalid_argument */
  listForgettings(userId: string): Promise<readonly Forgetting[]>;
  /**
   * Checks a receipt against this pack: its signature, its place in the log, that nothing it names is present, and, if a text is given,
   * that the receipt is about that text and the pack does not contain it.
   * @throws SvcError invalid_argument for anything but a receipt
   */
  verifyForgetting(receipt: unknown, text?: string | null): Promise<ForgetVerification>;
};
