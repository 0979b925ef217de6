import { z } from "zod";
import type { MemoryEvent } from "../../../domain/event.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import {
  count,
  decayProfile,
  epistemicType,
  instantOut,
  lifecycleState,
  metadata,
  nodeType,
  scope,
  sourceType,
  unit,
  uuidOut,
} from "../core/fields.ts";

/** A memory, in the order of its keys on the wire; nothing is left out when null. */
export const nodeSchema = z
  .strictObject({
    id: uuidOut,
    user_id: z.string(),
    session_id: z.string().nullable(),
    node_type: nodeType,
    content: z.string(),
    lifecycle_state: lifecycleState,
    confidence: unit,
    salience: unit,
    confidence_base: unit,
    salience_base: unit,
    reinforcement_boost: z.number().min(0),
    last_reinforced_at: instantOut,
    decay_profile: decayProfile,
    epistemic_type: epistemicType,
    source_type: sourceType,
    scope,
    metadata: metadata.nullable(),
    created_at: instantOut,
    updated_at: instantOut,
    event_time: instantOut.nullable(),
    valid_from: instantOut,
    valid_to: instantOut.nullable(),
    ttl_days: z.int().nullable(),
    superseded_by: uuidOut.nullable(),
    evidence_refs: z.array(uuidOut),
    pinned: z.boolean(),
  })
  .meta({ id: "Node", description: "A memory with its state, provenance and validity." });
export type NodeWire = z.infer<typeof nodeSchema>;

/** A list that is complete, or the beginning of one. */
export const nodeListSchema = z
  .strictObject({ nodes: z.array(nodeSchema), count: count.meta({ description: "Of the nodes." }) })
  .meta({ id: "NodeList" });

/** What was said, as it was said, in the order of its keys on the wire. */
export const eventSchema = z
  .strictObject({
    id: uuidOut,
    user_id: z.string(),
    session_id: z.string().nullable(),
    scope,
    created_at: instantOut,
    updated_at: instantOut,
    timestamp: instantOut.meta({ description: "When it was admitted." }),
    event_time: instantOut.nullable().meta({ description: "When it happened, by the caller." }),
    role: z.string(),
    content: z.string(),
    content_hash: z.string().meta({ description: "SHA-256 of the UTF-8 content, hexadecimal." }),
    metadata: metadata.nullable(),
  })
  .meta({ id: "Event", description: "The source text of memories, written once." });
export type EventWire = z.infer<typeof eventSchema>;

/** The wire form of a node: 26 keys in fixed order. */
export function toNodeWire(node: MemoryNode): NodeWire {
  return {
    id: node.id,
    user_id: node.userId,
    session_id: node.sessionId ?? null,
    node_type: node.nodeType,
    content: node.content,
    lifecycle_state: node.lifecycleState,
    confidence: node.confidence,
    salience: node.salience,
    confidence_base: node.confidenceBase,
    salience_base: node.salienceBase,
    reinforcement_boost: node.reinforcementBoost,
    last_reinforced_at: node.lastReinforcedAt,
    decay_profile: node.decayProfile,
    epistemic_type: node.epistemicType,
    source_type: node.sourceType,
    scope: node.scope,
    metadata: node.metadata ?? null,
    created_at: node.createdAt,
    updated_at: node.updatedAt,
    event_time: node.eventTime ?? null,
    valid_from: node.validFrom,
    valid_to: node.validTo ?? null,
    ttl_days: node.ttlDays ?? null,
    superseded_by: node.supersededBy ?? null,
    evidence_refs: [...node.evidenceRefs],
    pinned: node.pinned,
  };
}

/** The wire form of an event; an event never changes, so `updated_at` is its creation. */
export function toEventWire(event: MemoryEvent): EventWire {
  return {
    id: event.id,
    user_id: event.userId,
    session_id: event.sessionId ?? null,
    scope: event.scope,
    created_at: event.timestamp,
    updated_at: event.timestamp,
    timestamp: event.timestamp,
    event_time: event.eventTime ?? null,
    role: event.role,
    content: event.content,
    content_hash: event.contentHash,
    metadata: event.metadata ?? null,
  };
}

/** The wire form of several nodes, in their order. */
export function toNodeListWire(nodes: readonly MemoryNode[]): z.infer<typeof nodeListSchema> {
  return { nodes: nodes.map(toNodeWire), count: nodes.length };
}
