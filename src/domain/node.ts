import type { Instant } from "../lib/instant.ts";
import type { JsonObject } from "../lib/json.ts";
import type { Uuid } from "../lib/uuid.ts";
import type {
  DecayProfile,
  EpistemicType,
  LifecycleState,
  NodeType,
  Scope,
  SourceType,
} from "./enums.ts";

/** A memory: typed, owned, with state, provenance and a validity interval `[validFrom, validTo)`. */
export type MemoryNode = {
  readonly id: Uuid;
  readonly userId: string;
  readonly sessionId: string | undefined;
  readonly nodeType: NodeType;
  readonly content: string;
  readonly lifecycleState: LifecycleState;
  /** 0 to 1, as stored at creation or last reinforced; decay is applied while scoring, never here. */
  readonly confidence: number;
  /** 0 to 1. */
  readonly salience: number;
  readonly confidenceBase: number;
  readonly salienceBase: number;
  /** At least 0. */
  readonly reinforcementBoost: number;
  readonly lastReinforcedAt: Instant;
  readonly decayProfile: DecayProfile;
  readonly epistemicType: EpistemicType;
  readonly sourceType: SourceType;
  readonly scope: Scope;
  readonly metadata: JsonObject | undefined;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly eventTime: Instant | undefined;
  readonly validFrom: Instant;
  /** Exclusive; undefined while still valid. */
  readonly validTo: Instant | undefined;
  /** Days after creation at which retention ends; undefined keeps the node for ever. */
  readonly ttlDays: number | undefined;
  readonly supersededBy: Uuid | undefined;
  /** Events that support it, in the order in which they were cited. */
  readonly evidenceRefs: readonly Uuid[];
  readonly pinned: boolean;
};

/** Whether a memory counts as pinned: it is, or it had full salience from the start. Reinforcement makes no pin. */
export function isPinned(node: Pick<MemoryNode, "pinned" | "salience" | "salienceBase">): boolean {
  return node.pinned || (node.salience >= 1 && node.salienceBase >= 1);
}

/** The time a memory speaks of: when it happened, else when it was stored. */
export function statedTime(node: MemoryNode): Instant {
  return node.eventTime ?? node.createdAt;
}
