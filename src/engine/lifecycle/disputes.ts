import { isActive, requireStep } from "../../domain/lifecycle.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { ChangeSnapshot, Decision, Graph } from "../../ports/store/graph.ts";
import type { EngineDeps } from "../deps.ts";
import { nodePages } from "../pages.ts";
import { logEntry } from "./change-one.ts";
import { parsePair, RESOLVE } from "./pair.ts";

const PAGE = 100;

type Deps = Pick<EngineDeps<Pick<Graph, "contradictionsOf" | "change">>, "store" | "ids">;

/** A side of a dispute. */
type Side = Pick<MemoryNode, "id" | "userId">;

export function isContested({ lifecycleState }: MemoryNode): boolean {
  return lifecycleState === "contested";
}

/** The other sides of disputes, each once. */
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

/** Makes contested memories stable once the other side was archived, deprecated or forgotten. @returns those */
export async function settleUnopposed(
  { store, ids }: Deps,
  sides: readonly Side[],
): Promise<readonly MemoryNode[]> {
  const settled: MemoryNode[] = [];
  for (const side of sides) {
    const others = await otherEnds(store, side);
    const reads = { nodeIds: [side.id, ...others], auditRecordIds: [], eventIds: [] };
    const done = await store.change(reads, (snapshot) => {
      const before = snapshot.nodes.get(side.id);
      const isOpposed = others.some((other) => isContestedIn(snapshot, other));
      if (before === undefined || !isContested(before) || isOpposed) return NOTHING;
      return stepped(snapshot, "win", [before], ids);
    });
    if (done !== undefined) settled.push(done);
  }
  return settled;
}

/** Contests a restored memory and its active opponents again, unless their dispute was decided. @returns the memory as it is now */
export async function reopenDisputes(deps: Deps, restored: MemoryNode): Promise<MemoryNode> {
  const { store, ids } = deps;
  const others = await otherEnds(store, restored);
  const decisions = new Map(others.map((other) => [other, decisionsOf(restored.id, other)]));
  const reads = {
    nodeIds: [restored.id, ...others],
    auditRecordIds: [...decisions.values()].flat(),
    eventIds: [],
  };
  const reopened = await store.change(reads, (snapshot) => {
    const { nodes, auditRecords } = snapshot;
    const before = nodes.get(restored.id);
    if (before === undefined || !isActive(before.lifecycleState)) return NOTHING;
    const rivals = others.flatMap((other) => {
      const node = nodes.get(other);
      const isDecided = decisions.get(other)?.some((id) => auditRecords.has(id)) === true;
      return node !== undefined && isActive(node.lifecycleState) && !isDecided ? [node] : [];
    });
    if (rivals.length === 0) return NOTHING;
    return stepped(
      snapshot,
      "contradict",
      [before, ...rivals].filter((one) => !isContested(one)),
      ids,
    );
  });
  const [settled] = await settleUnopposed(deps, [restored]);
  const now = settled ?? (reopened?.id === restored.id ? reopened : undefined);
  return now ?? restored;
}

const NOTHING = { change: undefined, result: undefined };

/** By step, for the audit log. */
const REASONS = { win: "contradiction_unopposed", contradict: "contradiction_reopened" } as const;

/** @returns the change; its result is the first memory */
function stepped(
  { at }: ChangeSnapshot,
  step: keyof typeof REASONS,
  before: readonly MemoryNode[],
  ids: Deps["ids"],
): Decision<MemoryNode | undefined> {
  const nodes = before.map((one) => ({
    ...one,
    lifecycleState: requireStep(step, one),
    updatedAt: at,
  }));
  const auditRecords = nodes.map((after, index) =>
    logEntry("EPISTEMIC_TRANSITION", after, {
      id: ids.next(),
      actorId: "system",
      at,
      payload: {
        from_state: before[index]?.lifecycleState ?? null,
        to_state: after.lifecycleState,
        reason: REASONS[step],
        evidence_event_id: null,
      },
    }),
  );
  if (nodes.length === 0) return NOTHING;
  return { change: { nodes, edges: [], auditRecords }, result: nodes[0] };
}

function isContestedIn({ nodes }: ChangeSnapshot, id: Uuid): boolean {
  const node = nodes.get(id);
  return node !== undefined && isContested(node);
}

/** The ids of a decision between two memories. */
function decisionsOf(one: Uuid, other: Uuid): readonly Uuid[] {
  const { operationId, reverseId } = parsePair(RESOLVE, [one, other], {});
  return [operationId, reverseId];
}

/** Contested memories without an opponent, as an import can create them. */
export async function* unopposedOf(
  store: Pick<Graph, "contradictionsOf" | "scanNodes" | "node">,
  userId: string,
): AsyncGenerator<MemoryNode> {
  const page = { userId, lifecycleStates: ["contested"], limit: PAGE } as const;
  for await (const nodes of nodePages(store, page)) {
    for (const node of nodes) {
      const others = await Promise.all(
        (await otherEnds(store, node)).map((other) => store.node(other, userId)),
      );
      if (!others.some((other) => other !== undefined && isContested(other))) yield node;
    }
  }
}

async function otherEnds(
  store: Pick<Graph, "contradictionsOf">,
  { id, userId }: Side,
): Promise<readonly Uuid[]> {
  const edges = await store.contradictionsOf(id, userId);
  return [...new Set(edges.map((edge) => (edge.sourceId === id ? edge.targetId : edge.sourceId)))];
}
