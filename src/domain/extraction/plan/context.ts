import type { Instant } from "../../../lib/instant.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { ConfidenceOverrides } from "../../epistemics.ts";
import type { MemoryEvent } from "../../event.ts";
import { isActive } from "../../lifecycle.ts";
import type { MemoryNode } from "../../node.ts";
import type { ReadDates } from "../relative-date.ts";
import type { Turn } from "../turn.ts";

/** What a user may choose about claims and entities. */
export type PlanSettings = {
  readonly confidenceOverrides: ConfidenceOverrides;
  /** Whether the first person of a turn with a speaker is that speaker. */
  readonly speakerReferences: boolean;
  /** Whether a claim's text is its sentences and not the whole paragraph. */
  readonly claimSentenceText: boolean;
  /** Whether the same claim of several turns becomes one. */
  readonly claimMerge: boolean;
};

/** A claim that is known about a subject. */
export type KnownClaim = {
  readonly node: MemoryNode;
  /** Entities of its `has_fact` edges. */
  readonly subjectIds: readonly Uuid[];
  /** Entities of its `mentions` edges. */
  readonly objectIds: readonly Uuid[];
};

/** What the store knows of one owner and scope, as far as a plan may need it: see `lookupOf`. */
export type KnownMemories = {
  /** Active entities by ascending id. */
  readonly entities: readonly MemoryNode[];
  /** Claims about them, and about the owner and the speaker, in any order. */
  readonly claims: readonly KnownClaim[];
  /** The entity that stands for the owner, in any state. */
  readonly owner: MemoryNode | undefined;
  /** All names that the owner has had. */
  readonly ownerNames: ReadonlySet<string>;
  /** Memories that were shown to the model to be corrected. */
  readonly shown: ReadonlyMap<Uuid, MemoryNode>;
};

/** What one plan is made of. */
export type PlanContext = {
  readonly event: MemoryEvent;
  readonly turn: Turn;
  readonly known: KnownMemories;
  readonly settings: PlanSettings;
  readonly readDates: ReadDates;
  /** Counts the plans of the event, from 1. */
  readonly revision: number;
  readonly now: Instant;
};

/** Why no plan can be made. */
export type PlanProblem = "owner_reference_changed";

export const NOTHING_KNOWN: KnownMemories = {
  entities: [],
  claims: [],
  owner: undefined,
  ownerNames: new Set(),
  shown: new Map(),
};

/** Whether a memory is an entity that a plan may know: an active one that is more than a reference to somebody. */
export function isKnownEntity({ nodeType, lifecycleState, metadata }: MemoryNode): boolean {
  const isReference = (metadata?.["identity_status"] ?? null) !== null;
  return nodeType === "entity" && isActive(lifecycleState) && !isReference;
}
