import {
  anyObject,
  flag,
  instant,
  integer,
  list,
  member,
  nonNegative,
  nullable,
  object,
  text,
  unit,
  uuid,
} from "../lib/form.ts";
import type { Instant } from "../lib/instant.ts";
import type { JsonObject } from "../lib/json.ts";
import type { Uuid } from "../lib/uuid.ts";
import { noted } from "../lib/view.ts";
import {
  DECAY_PROFILES,
  type DecayProfile,
  EPISTEMIC_TYPES,
  type EpistemicType,
  LIFECYCLE_STATES,
  type LifecycleState,
  NODE_TYPES,
  type NodeType,
  SCOPES,
  type Scope,
  SOURCE_TYPES,
  type SourceType,
} from "./enums.ts";
import { auditForm } from "./records/audit.ts";

/** A memory: typed, owned, with state, provenance and a validity interval `[validFrom, validTo)`. */
export type MemoryNode = {
  readonly id: Uuid;
  readonly userId: string;
  readonly sessionId: string | undefined;
  readonly nodeType: NodeType;
  readonly content: string;
  readonly lifecycleState: LifecycleState;
  /** 0 to 1, as stored at creation or last reinforcement; decay is applied while scoring, never here. */
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

/** A node as rows, exports and answers have it: the order of its keys there. */
export const nodeForm = noted(
  object<MemoryNode>({
    id: uuid,
    userId: text,
    sessionId: nullable(text),
    nodeType: member(NODE_TYPES),
    content: text,
    lifecycleState: member(LIFECYCLE_STATES),
    confidence: unit,
    salience: unit,
    confidenceBase: unit,
    salienceBase: unit,
    reinforcementBoost: nonNegative,
    lastReinforcedAt: instant,
    decayProfile: member(DECAY_PROFILES),
    epistemicType: member(EPISTEMIC_TYPES),
    sourceType: member(SOURCE_TYPES),
    scope: member(SCOPES),
    metadata: nullable(anyObject),
    createdAt: instant,
    updatedAt: instant,
    eventTime: nullable(instant),
    validFrom: instant,
    validTo: nullable(instant),
    ttlDays: nullable(integer),
    supersededBy: nullable(uuid),
    evidenceRefs: list(uuid),
    pinned: flag,
  }),
  { id: "Node", description: "A memory with its state, provenance and validity." },
);

/** A complete node as JSON, as audit records keep it, and back. */
export const nodeRecord = auditForm(nodeForm);

/** Whether a memory counts as pinned: it is, or it had full salience from the start. Reinforcement does not pin. */
export function isPinned(node: Pick<MemoryNode, "pinned" | "salience" | "salienceBase">): boolean {
  return node.pinned || (node.salience >= 1 && node.salienceBase >= 1);
}

/** The time that a memory speaks of: when it happened, else when it was stored. */
export function statedTime(node: MemoryNode): Instant {
  return node.eventTime ?? node.createdAt;
}
