import type { PlannedStore } from "../../src/domain/jobs.ts";
import type { MemoryEvent, MemoryNode } from "../../src/domain/node.ts";
import { sha256Hex } from "../../src/lib/hashing.ts";
import { fromEpochMicros, type Instant } from "../../src/lib/instant.ts";
import { asUuid, type Uuid } from "../../src/lib/uuid.ts";
import type { Admission } from "../../src/ports/store/events.ts";
import type { AuditRecord } from "../../src/ports/store/records.ts";
import type { Store } from "../../src/ports/store/store.ts";
import type { Materialization } from "../../src/ports/store/work.ts";

/** Numbers in a vector of these tests; small, so that a person can read them. */
export const DIMENSION = 8;

/** The moment `seconds` after the first of January 2026. */
export function at(seconds: number): Instant {
  return fromEpochMicros(Date.UTC(2026, 0, 1) * 1000 + Math.round(seconds * 1e6));
}

let serial = 0;

/** An identifier that no other call returns, later ones sorting after earlier ones. */
export function freshId(): Uuid {
  serial += 1;
  return asUuid(`01900000-0000-7000-8000-${serial.toString(16).padStart(12, "0")}`);
}

/** An event of `ada`; members that are given replace the usual ones. */
export function anEvent(given: Partial<MemoryEvent> = {}): MemoryEvent {
  const content = given.content ?? "Ada prefers green tea.";
  return {
    id: freshId(),
    userId: "ada",
    sessionId: undefined,
    scope: "personal",
    role: "user",
    content,
    contentHash: sha256Hex(content),
    metadata: undefined,
    eventTime: undefined,
    timestamp: at(0),
    ...given,
  };
}

/** A tentative note about an event; members that are given replace the usual ones. */
export function aNode(event: MemoryEvent, given: Partial<MemoryNode> = {}): MemoryNode {
  return {
    id: freshId(),
    userId: event.userId,
    sessionId: event.sessionId,
    nodeType: "note",
    content: event.content,
    lifecycleState: "tentative",
    confidence: 0.8,
    salience: 0.5,
    confidenceBase: 0.8,
    salienceBase: 0.5,
    reinforcementBoost: 0,
    lastReinforcedAt: event.timestamp,
    decayProfile: "medium",
    epistemicType: "asserted",
    sourceType: "user_stated",
    scope: event.scope,
    metadata: event.metadata,
    createdAt: event.timestamp,
    updatedAt: event.timestamp,
    eventTime: event.eventTime,
    validFrom: event.timestamp,
    validTo: undefined,
    ttlDays: 90,
    supersededBy: undefined,
    evidenceRefs: [event.id],
    pinned: false,
    ...given,
  };
}

/** An admission of events without audit records, free for any worker. */
export function anAdmission(
  events: readonly MemoryEvent[],
  given: Partial<Admission> = {},
): Admission {
  return { events, auditRecords: [], leaseJobs: false, ...given };
}

/** An audit record; members that are given replace the usual ones. */
export function anAuditRecord(given: Partial<AuditRecord> = {}): AuditRecord {
  return {
    id: freshId(),
    opType: "FAST_INGEST_BATCH",
    targetId: "target",
    payload: { schema_version: 1 },
    actorId: "ada",
    namespaceId: undefined,
    createdAt: at(0),
    ...given,
  };
}

/** What a direct store planned. */
export function aPlan(event: MemoryEvent, node: MemoryNode): PlannedStore {
  return { event, node, supersedes: [] };
}

/** A finished job: the node with its lexical entry; a vector when one is given. */
export function aMaterialization(
  event: MemoryEvent,
  node: MemoryNode,
  given: Partial<Materialization> = {},
): Materialization {
  return {
    eventId: event.id,
    node,
    vector: undefined,
    lexical: true,
    failure: undefined,
    at: at(1),
    ...given,
  };
}

/** A vector of length one in the direction of the numbers; missing numbers are zero. */
export function unit(...numbers: readonly number[]): Float32Array {
  const vector = new Float32Array(DIMENSION);
  const length = Math.hypot(...numbers);
  numbers.forEach((value, index) => {
    vector[index] = value / length;
  });
  return vector;
}

/** What `put` stores: members of the node, the second at which it is created, and its vector. */
export type Memory = Partial<MemoryNode> & {
  readonly second?: number;
  readonly vector?: Float32Array;
};

/** Admits and materializes memories in one group each; returns their nodes in order. */
export async function put(
  store: Pick<Store, "admit" | "materialize">,
  ...memories: readonly Memory[]
): Promise<MemoryNode[]> {
  const made = memories.map(({ second = 0, vector, ...given }) => {
    const event = anEvent({
      userId: given.userId ?? "ada",
      sessionId: given.sessionId,
      scope: given.scope ?? "personal",
      content: given.content ?? "Ada prefers green tea.",
      timestamp: at(second),
    });
    return { event, node: aNode(event, given), vector };
  });
  await store.admit(anAdmission(made.map(({ event }) => event)));
  await store.materialize(
    made.map(({ event, node, vector }) =>
      aMaterialization(event, node, { vector, lexical: node.content.trim() !== "" }),
    ),
  );
  return made.map(({ node }) => node);
}
