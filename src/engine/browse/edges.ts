import {
  parseId,
  parseOptionalId,
  parseOptionalMember,
  parseOwner,
  parsePageLimit,
  parseUserId,
} from "../../domain/arguments.ts";
import { EDGE_TYPES } from "../../domain/enums.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { Browse } from "../../ports/store/browse.ts";
import type { Graph } from "../../ports/store/graph.ts";
import type { EngineDeps } from "../deps.ts";
import {
  CONTRADICTION_STATUSES,
  type ContradictionQuery,
  type EdgeQuery,
  type ListedContradictions,
  type ListedEdges,
} from "./api.ts";

type EdgeDeps = Pick<EngineDeps<Browse & Pick<Graph, "node">>, "store">;

/** One page of edges. @throws SvcError invalid_argument */
export async function getEdges(
  { store }: EdgeDeps,
  query: EdgeQuery,
  nodeId?: Uuid,
): Promise<ListedEdges> {
  const { items: edges, hasMore } = await store.edges({
    owner: parseOwner(query.userId),
    nodeId,
    edgeType: parseOptionalMember(EDGE_TYPES, query.edgeType, "edge_type"),
    sourceId: parseOptionalId(query.sourceId, "source_id"),
    targetId: parseOptionalId(query.targetId, "target_id"),
    afterId: parseOptionalId(query.afterId, "after_id"),
    limit: parsePageLimit(query.limit),
  });
  return { edges, hasMore, nextCursor: hasMore ? edges.at(-1)?.id : undefined };
}

/** The edges at a memory. Undefined for an unknown memory, or one of another owner. @throws SvcError invalid_argument */
export async function getNodeEdges(
  deps: EdgeDeps,
  nodeId: string,
  query: EdgeQuery,
): Promise<ListedEdges | undefined> {
  const node = await deps.store.node(parseId(nodeId, "node_id"), parseOwner(query.userId));
  return node && getEdges(deps, { ...query, userId: node.userId }, node.id);
}

/** Contradictions that were noted, oldest first. @throws SvcError invalid_argument */
export async function listContradictions(
  { store }: EdgeDeps,
  query: ContradictionQuery,
): Promise<ListedContradictions> {
  const status = parseOptionalMember(CONTRADICTION_STATUSES, query.status, "status");
  const { items, hasMore } = await store.notedContradictions({
    userId: parseUserId(query.userId),
    isOpen: status && status === "open",
    afterId: parseOptionalId(query.afterId, "after_id"),
    limit: parsePageLimit(query.limit),
  });
  const contradictions = items.map(({ edge, nodeA, nodeB, actorId }) => {
    const isOpen = [nodeA, nodeB].every(({ lifecycleState }) => lifecycleState === "contested");
    return {
      edgeId: edge.id,
      notedAt: edge.createdAt,
      actor: actorId,
      status: isOpen ? ("open" as const) : ("resolved" as const),
      nodeA,
      nodeB,
    };
  });
  return { contradictions, hasMore, nextCursor: hasMore ? items.at(-1)?.edge.id : undefined };
}
