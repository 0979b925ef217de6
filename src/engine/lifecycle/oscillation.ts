import { checksummed } from "../../domain/checksummed.ts";
import { type Edge, edgeRecord } from "../../domain/edge.ts";
import { isActive } from "../../domain/lifecycle.ts";
import { type MemoryNode, nodeRecord } from "../../domain/node.ts";
import { findOscillation } from "../../domain/oscillation.ts";
import { withoutNoise } from "../../lib/decimal.ts";
import { uuidV5 } from "../../lib/new-uuid.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { Change, ChangeSnapshot } from "../../ports/store/changes.ts";
import type { Graph } from "../../ports/store/graph.ts";
import type { EngineDeps } from "../deps.ts";
import { logEntry } from "./log-entry.ts";

const OPERATION = "PENALTY";
/** Replaced memories to examine, newest first. */
const CHAIN_STEPS = 10;

/**
 * Lowers the confidence of a memory that replaced others if the opinion on its topic goes back and forth. At most once per
 * memory, however often it is called.
 * @returns whether it did
 */
export async function penaliseOscillation(
  deps: Pick<EngineDeps<Graph>, "store">,
  newest: Pick<MemoryNode, "id" | "userId">,
): Promise<boolean> {
  const replaced = await deps.store.chain({
    nodeId: newest.id,
    owner: newest.userId,
    direction: "backward",
    maxSteps: CHAIN_STEPS,
  });
  const ids = [newest.id, ...replaced.map(({ id }) => id)];
  const operationId = uuidV5(newest.id, "svc:oscillation-penalty:v1");
  return deps.store.change(
    { nodeIds: ids, auditRecordIds: [operationId], eventIds: [] },
    (snapshot) => {
      const change = decidePenalty(snapshot, ids, operationId);
      return { change, result: change !== undefined };
    },
  );
}

/** Undefined unless the chain is still as it was read and goes back and forth. */
function decidePenalty(
  snapshot: ChangeSnapshot,
  ids: readonly Uuid[],
  operationId: Uuid,
): Change | undefined {
  if (snapshot.auditRecords.has(operationId)) return undefined;
  const chain = ids.flatMap((id) => snapshot.nodes.get(id) ?? []);
  const edges = linksOf(chain, snapshot.edges);
  const [before, ...replaced] = chain;
  if (before === undefined || !isStanding(before, replaced) || edges.length < ids.length - 1) {
    return undefined;
  }
  const found = findOscillation(chain.map(({ content }) => content));
  if (found === undefined) return undefined;
  const less = (value: number) => Math.max(0, withoutNoise(value - found.penalty));
  const [confidence, confidenceBase] = [less(before.confidence), less(before.confidenceBase)];
  if (confidence === before.confidence && confidenceBase === before.confidenceBase) {
    return undefined;
  }
  const after = { ...before, confidence, confidenceBase, updatedAt: snapshot.at };
  const payload = checksummed({
    version: 1,
    policy: "oscillation_subtractive_v1",
    operation_id: operationId,
    topic: found.topic,
    cycle_count: found.cycleCount,
    delta: found.penalty,
    chain_before: chain.map(nodeRecord.to),
    chain_edges: edges.map(edgeRecord.to),
    after: nodeRecord.to(after),
  });
  const { at } = snapshot;
  const entry = { id: operationId, actorId: before.userId, at, payload };
  return { nodes: [after], edges: [], auditRecords: [logEntry(OPERATION, after, entry)] };
}

function isStanding(newest: MemoryNode, replaced: readonly MemoryNode[]): boolean {
  return (
    isActive(newest.lifecycleState) &&
    replaced.every(
      ({ lifecycleState, userId, scope }) =>
        lifecycleState === "superseded" && userId === newest.userId && scope === newest.scope,
    )
  );
}

/** The edges by which each memory of a chain replaced the next, as far as they exist. */
function linksOf(chain: readonly MemoryNode[], edges: readonly Edge[]): readonly Edge[] {
  return chain.flatMap(({ id }, index) => {
    const next = chain[index + 1]?.id;
    const isLink = ({ edgeType, sourceId, targetId }: Edge): boolean =>
      edgeType === "supersedes" && sourceId === id && targetId === next;
    return edges.find(isLink) ?? [];
  });
}
