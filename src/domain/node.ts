import {
  anyObject,
  flag,
  instant,
  integer,
  list,
  member,
  named,
  nonNegative,
  nullable,
  text,
  unit,
  uuid,
} from "../lib/form.ts";
import type { Instant } from "../lib/instant.ts";
import type { ValueOf } from "../lib/view.ts";
import {
  DECAY_PROFILES,
  EPISTEMIC_TYPES,
  LIFECYCLE_STATES,
  NODE_TYPES,
  SCOPES,
  SOURCE_TYPES,
} from "./enums.ts";
import { LIMITS } from "./limits.ts";
import { auditForm } from "./records/audit.ts";

/** A node as rows, exports and answers have it: the order of its keys there. */
export const nodeForm = named("Node", "A memory with its state, provenance and validity.", {
  id: uuid,
  userId: text,
  sessionId: nullable(text),
  nodeType: member(NODE_TYPES),
  content: text,
  lifecycleState: member(LIFECYCLE_STATES),
  /** 0 to 1, as stored at creation or last reinforcement; decay is applied while scoring, never here. */
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
  /** Exclusive; undefined while still valid. */
  validTo: nullable(instant),
  /** Days after creation at which retention ends; undefined keeps the node for ever. */
  ttlDays: nullable(integer),
  supersededBy: nullable(uuid),
  /** Events that support it, in the order in which they were cited. */
  evidenceRefs: list(uuid),
  pinned: flag,
});

/** A memory: typed, owned, with state, provenance and a validity interval `[validFrom, validTo)`. */
export type MemoryNode = ValueOf<typeof nodeForm>;

/** A complete node as JSON, as audit records keep it, and back. */
export const nodeRecord = auditForm(
  nodeForm,
  `id userId sessionId nodeType content lifecycleState confidence salience confidenceBase salienceBase reinforcementBoost
   lastReinforcedAt decayProfile epistemicType sourceType scope metadata createdAt updatedAt eventTime validFrom validTo ttlDays
   supersededBy evidenceRefs pinned`,
);

/** Whether a memory counts as pinned: it is, or it had full salience from the start. Reinforcement does not pin. */
export function isPinned(node: Pick<MemoryNode, "pinned" | "salience" | "salienceBase">): boolean {
  return node.pinned || (node.salience >= 1 && node.salienceBase >= 1);
}

/** The time that a memory speaks of: when it happened, else when it was stored. */
export function statedTime(node: MemoryNode): Instant {
  return node.eventTime ?? node.createdAt;
}

/** What is read of a memory for its wording: others wait while it is. */
export function wordingOf({ content }: Pick<MemoryNode, "content">): string {
  return content.slice(0, LIMITS.wordingChars);
}
