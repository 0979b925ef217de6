import type { LifecycleState, NodeType, Role } from "../../domain/enums.ts";
import type { ForgetStage } from "../../domain/erasure.ts";
import type { Instant } from "../../lib/instant.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { ErasureCounts } from "../../ports/store/events.ts";

/** Forgetting: the content of memories and events is erased, their place in the log stays. `null` and `undefined` both mean absent. */

export const FORGET_MODES = ["preview", "erase"] as const;
export type ForgetMode = (typeof FORGET_MODES)[number];

/** What is to be forgotten, of one owner. At least one of `ids`, `sessionId` and `containing`. */
export type ForgetInput = {
  readonly userId: string;
  /** Of memories and events, at most 1,000. */
  readonly ids?: readonly string[] | null | undefined;
  /** All that was said in a conversation. */
  readonly sessionId?: string | null | undefined;
  /** Memories whose text contains this, in whatever case. */
  readonly containing?: string | null | undefined;
  /** Memories that rest on other events, too, stay. Default false: they go, since their text may repeat what is erased. */
  readonly keepDerived?: boolean | null | undefined;
  /** Default `preview`, which changes nothing. */
  readonly mode?: ForgetMode | null | undefined;
  /** Of the preview: what is erased has to be what it listed. Needed to erase. */
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
 * Why a memory goes. `evidence`: it rests on nothing but what goes. `may_repeat`: it rests on other events, too, and its text may
 * repeat what goes. `summary`: it sums up what goes.
 */
export const FORGET_REASONS = ["evidence", "may_repeat", "summary"] as const;

/**
 * Why something stays. `other_evidence`: other events say it, too. `own_text`: an event on which a memory that goes rests beside
 * others, with a text of its own. `replaced`: a memory that goes had replaced it; it stays retired.
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

/** What a forgetting erases, or has erased. */
export type ForgetAnswer = {
  readonly mode: ForgetMode;
  /** Of a preview with anything to erase: what confirms it. */
  readonly confirm: string | undefined;
  readonly forgetId: Uuid | undefined;
  readonly stage: ForgetStage | undefined;
  readonly events: readonly ForgottenEvent[];
  readonly memories: readonly ForgottenMemory[];
  /** What goes besides. */
  readonly counts: ErasureCounts;
  readonly stays: readonly Staying[];
  /** Events among those that were named that had been forgotten before. */
  readonly forgottenBefore: readonly Uuid[];
  /** Where the texts may still be. */
  readonly notReached: readonly string[];
  /** Proves the erasure. Given once: nobody can make it again. */
  readonly receipt: JsonObject | undefined;
};

/** What is known of a forgetting. */
export type Forgetting = {
  readonly forgetId: Uuid;
  readonly stage: ForgetStage;
  readonly actorId: string;
  readonly forgottenAt: Instant;
  readonly events: readonly Uuid[];
  readonly memories: readonly Uuid[];
  readonly counts: ErasureCounts;
  /** Of its receipt, 64 hexadecimal digits; undefined while none was made. */
  readonly receiptSha256: string | undefined;
};

/** One finding of a verification. */
export type ForgetCheck = { readonly name: string; readonly ok: boolean; readonly detail: string };

export type ForgetVerification = { readonly ok: boolean; readonly checks: readonly ForgetCheck[] };

/** Forgetting for good. */
export type ForgetMethods = {
  /**
   * Shows what a forgetting would erase and what would stay, or erases what a preview listed: in one transaction, then physically.
   * The same confirmation again erases nothing and tells what the first one did, without a receipt. Only if the program had ended
   * before there was one is it made now, without a commitment to the texts, which are gone.
   * @throws SvcError invalid_argument; not_found for an id that is no memory and no event of the owner; request_conflict if
   *   something has changed since the preview; pack_read_only
   */
  forget(input: ForgetInput): Promise<ForgetAnswer>;
  /** What is known of a forgetting. Undefined for an unknown one, or one of another owner. @throws SvcError invalid_argument */
  getForgetting(forgetId: string, userId?: string | null): Promise<Forgetting | undefined>;
  /** The forgettings of an owner, newest first. @throws SvcError invalid_argument */
  listForgettings(userId: string): Promise<readonly Forgetting[]>;
  /**
   * Checks a receipt against this pack: its signature, its place in the log, that nothing that it names is there, and with a text that
   * it is about that text and that the text is nowhere in the pack.
   * @throws SvcError invalid_argument for what is no receipt
   */
  verifyForgetting(receipt: unknown, text?: string | null): Promise<ForgetVerification>;
};
