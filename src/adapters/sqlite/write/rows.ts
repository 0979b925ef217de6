import {
  DECAY_PROFILES,
  EPISTEMIC_TYPES,
  LIFECYCLE_STATES,
  NODE_TYPES,
  parseMember,
  ROLES,
  SCOPES,
  SOURCE_TYPES,
} from "../../../domain/enums.ts";
import type { MemoryEvent } from "../../../domain/event.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { asInstant } from "../../../lib/instant.ts";
import type { JsonObject } from "../../../lib/json.ts";
import { asUuid, type Uuid } from "../../../lib/uuid.ts";

/** A row of `events` joined with its owner's name. */
export type EventRow = {
  readonly key: number;
  readonly id: string;
  readonly user_id: string;
  readonly session_id: string | null;
  readonly scope: string;
  readonly role: string;
  readonly content: string;
  readonly content_hash: string;
  readonly metadata: string | null;
  readonly event_time: string | null;
  readonly timestamp: string;
};

/** Columns of an EventRow; `e` is `events`, `o` is `owners`. */
export const EVENT_COLUMNS =
  "e.key, e.id, o.user_id, e.session_id, e.scope, e.role, e.content, e.content_hash, e.metadata, e.event_time, e.timestamp";

/** The event of a row. */
export function toEvent(row: EventRow): MemoryEvent {
  return {
    id: asUuid(row.id),
    userId: row.user_id,
    sessionId: row.session_id ?? undefined,
    scope: parseMember(SCOPES, row.scope, "scope"),
    role: parseMember(ROLES, row.role, "role"),
    content: row.content,
    contentHash: row.content_hash,
    metadata: toMetadata(row.metadata),
    eventTime: row.event_time === null ? undefined : asInstant(row.event_time),
    timestamp: asInstant(row.timestamp),
  };
}

/** A row of `nodes` joined with its owner's name. */
export type NodeRow = {
  readonly key: number;
  readonly id: string;
  readonly user_id: string;
  readonly session_id: string | null;
  readonly node_type: string;
  readonly content: string;
  readonly lifecycle_state: string;
  readonly confidence: number;
  readonly salience: number;
  readonly confidence_base: number;
  readonly salience_base: number;
  readonly reinforcement_boost: number;
  readonly last_reinforced_at: string;
  readonly decay_profile: string;
  readonly epistemic_type: string;
  readonly source_type: string;
  readonly scope: string;
  readonly metadata: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly event_time: string | null;
  readonly valid_from: string;
  readonly valid_to: string | null;
  readonly ttl_days: number | null;
  readonly superseded_by: string | null;
  readonly evidence_refs: string;
  readonly pinned: number;
};

const STORED_NODE_COLUMNS = [
  "session_id",
  "node_type",
  "content",
  "lifecycle_state",
  "confidence",
  "salience",
  "confidence_base",
  "salience_base",
  "reinforcement_boost",
  "last_reinforced_at",
  "decay_profile",
  "epistemic_type",
  "source_type",
  "scope",
  "metadata",
  "created_at",
  "updated_at",
  "event_time",
  "valid_from",
  "valid_to",
  "ttl_days",
  "superseded_by",
  "evidence_refs",
  "pinned",
] as const;

/** Columns of a NodeRow; `n` is `nodes`, `o` is `owners`. */
export const NODE_COLUMNS = `n.key, n.id, o.user_id, ${STORED_NODE_COLUMNS.map((name) => `n.${name}`).join(", ")}`;

/** Inserts a node unless one with its id exists. Parameters: id, owner, then `nodeValues`. */
export const INSERT_NODE = `INSERT INTO nodes (id, owner, ${STORED_NODE_COLUMNS.join(", ")})
  VALUES (?, ?, ${STORED_NODE_COLUMNS.map(() => "?").join(", ")}) ON CONFLICT (id) DO NOTHING`;

/** Columns that never change once a node is written: its lasting members (`domain/search/change.ts`), without id and owner. */
const LASTING_COLUMNS: readonly string[] = [
  "session_id",
  "node_type",
  "content",
  "scope",
  "created_at",
  "event_time",
];
const isChanging = (column: string): boolean => !LASTING_COLUMNS.includes(column);

/** Changes a node in all that may change. Parameters: `changingValues`, then its key. */
export const UPDATE_NODE = `UPDATE nodes SET ${STORED_NODE_COLUMNS.filter(isChanging)
  .map((name) => `${name} = ?`)
  .join(", ")} WHERE key = ?`;

/** The values of the columns of a node that may change, in their order. */
export function changingValues(node: MemoryNode): (string | number | null)[] {
  return nodeValues(node).filter((_, index) => isChanging(STORED_NODE_COLUMNS[index] ?? ""));
}

/** The values of the stored columns of a node, in their order. */
export function nodeValues(node: MemoryNode): (string | number | null)[] {
  return [
    node.sessionId ?? null,
    node.nodeType,
    node.content,
    node.lifecycleState,
    node.confidence,
    node.salience,
    node.confidenceBase,
    node.salienceBase,
    node.reinforcementBoost,
    node.lastReinforcedAt,
    node.decayProfile,
    node.epistemicType,
    node.sourceType,
    node.scope,
    fromMetadata(node.metadata),
    node.createdAt,
    node.updatedAt,
    node.eventTime ?? null,
    node.validFrom,
    node.validTo ?? null,
    node.ttlDays ?? null,
    node.supersededBy ?? null,
    JSON.stringify(node.evidenceRefs),
    node.pinned ? 1 : 0,
  ];
}

/** The node of a row. */
export function toNode(row: NodeRow): MemoryNode {
  return {
    id: asUuid(row.id),
    userId: row.user_id,
    sessionId: row.session_id ?? undefined,
    nodeType: parseMember(NODE_TYPES, row.node_type, "node_type"),
    content: row.content,
    lifecycleState: parseMember(LIFECYCLE_STATES, row.lifecycle_state, "lifecycle_state"),
    confidence: row.confidence,
    salience: row.salience,
    confidenceBase: row.confidence_base,
    salienceBase: row.salience_base,
    reinforcementBoost: row.reinforcement_boost,
    lastReinforcedAt: asInstant(row.last_reinforced_at),
    decayProfile: parseMember(DECAY_PROFILES, row.decay_profile, "decay_profile"),
    epistemicType: parseMember(EPISTEMIC_TYPES, row.epistemic_type, "epistemic_type"),
    sourceType: parseMember(SOURCE_TYPES, row.source_type, "source_type"),
    scope: parseMember(SCOPES, row.scope, "scope"),
    metadata: toMetadata(row.metadata),
    createdAt: asInstant(row.created_at),
    updatedAt: asInstant(row.updated_at),
    eventTime: row.event_time === null ? undefined : asInstant(row.event_time),
    validFrom: asInstant(row.valid_from),
    validTo: row.valid_to === null ? undefined : asInstant(row.valid_to),
    ttlDays: row.ttl_days ?? undefined,
    supersededBy: row.superseded_by === null ? undefined : asUuid(row.superseded_by),
    evidenceRefs: toUuids(row.evidence_refs),
    pinned: row.pinned === 1,
  };
}

/** Metadata as a column value. */
export function fromMetadata(metadata: JsonObject | undefined): string | null {
  return metadata === undefined ? null : JSON.stringify(metadata);
}

/** Metadata of a column value. */
export function toMetadata(text: string | null): JsonObject | undefined {
  // SAFETY: the column is only ever written by fromMetadata.
  return text === null ? undefined : (JSON.parse(text) as JsonObject);
}

function toUuids(text: string): readonly Uuid[] {
  // SAFETY: the column is only ever written as a JSON list of canonical ids.
  return JSON.parse(text) as Uuid[];
}
