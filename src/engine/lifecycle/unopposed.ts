import { requireStep } from "../../domain/lifecycle.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { ChangeSnapshot, Decision } from "../../ports/store/changes.ts";
import type { Graph } from "../../ports/store/graph.ts";
import type { EngineDeps } from "../deps.ts";
import { logEntry } from "./log-entry.ts";

type Deps = Pick<EngineDeps<Pick<Graph, "contradictionsOf" | "change">>, "store" | "ids">;

/** A memory that a dispute may be about. */
type Side = Pick<MemoryNode, "id" | "userId">;

export function isContested({ lifecycleState }: MemoryNode): boolean {
  return lifecycleState === "contested";
}

/** Those on the other side of the disputes of some memories, each once. Read before these are forgotten. */
export async function opponentsOf(
  { store }: Pick<Deps, "store">,
  sides: readonly Side[],
): Promise<readonly Side[]> {
  const found = new Map<Uuid, Side>();
  for (const { id, userId } of sides) {
    for (const other of await otherEnds(store, { id, userId })) {
      found.set(other, { id: other, userId });
    }
  }
  for (const { id } of sides) found.delete(id);
  return [...found.values()];
}

/**
 * Ends the disputes of contested memories that nobody contests any more, since the other side was archived, deprecated or
 * forgotten: they become stable, as if the dispute had been decided for them.
 * @returns those
 */
export async function settleUnopposed(
  { store, ids }: Deps,
  sides: readonly Side[],
): Promise<readonly MemoryNode[]> {
  const settled: MemoryNode[] = [];
  for (const side of sides) {
    const others = await otherEnds(store, side);
    const reads = { nodeIds: [side.id, ...others], auditRecordIds: [], eventIds: [] };
    const done = await store.change(reads, (now) => decide(now, side.id, others, ids.next()));
    if (done !== undefined) settled.push(done);
  }
  return settled;
}

function decide(
  { nodes, at }: ChangeSnapshot,
  id: Uuid,
  others: readonly Uuid[],
  operationId: Uuid,
): Decision<MemoryNode | undefined> {
  const before = nodes.get(id);
  const rivals = others.flatMap((other) => nodes.get(other) ?? []);
  if (before === undefined || !isContested(before) || rivals.some(isContested)) {
    return { change: undefined, result: undefined };
  }
  const after = { ...before, lifecycleState: requireStep("win", before), updatedAt: at };
  const entry = logEntry("EPISTEMIC_TRANSITION", after, {
    id: operationId,
    actorId: "system",
    at,
    payload: {
      from_state: before.lifecycleState,
      to_state: after.lifecycleState,
      reason: "contradiction_unopposed",
      evidence_event_id: null,
    },
  });
  return { change: { nodes: [after], edges: [], auditRecords: [entry] }, result: after };
}

async function otherEnds(store: Deps["store"], { id, userId }: Side): Promise<readonly Uuid[]> {
  const edges = await store.contradictionsOf(id, userId);
  return [...new Set(edges.map((edge) => (edge.sourceId === id ? edge.targetId : edge.sourceId)))];
}
