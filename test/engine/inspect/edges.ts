import type { Edge, MemoryNode } from "../../../src/domain/node.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { at, freshId } from "../../contract/samples.ts";

/** An edge between two memories of one owner; members that are given replace the usual ones. */
export function anEdge(
  source: MemoryNode | undefined,
  target: MemoryNode | undefined,
  given: Partial<Edge> = {},
): Edge {
  if (source === undefined || target === undefined) throw new Error("an edge needs two ends");
  return {
    id: freshId(),
    userId: source.userId,
    sourceId: source.id,
    targetId: target.id,
    edgeType: "relates_to",
    confidence: 1,
    validFrom: at(0),
    validTo: undefined,
    provenanceEventId: undefined,
    metadata: undefined,
    createdAt: at(0),
    ...given,
  };
}

/** Writes edges. */
export function connect(store: Store, ...edges: readonly Edge[]): Promise<void> {
  return store.change({ nodeIds: [], auditRecordIds: [], eventIds: [] }, () => ({
    change: { nodes: [], edges, auditRecords: [] },
    result: undefined,
  }));
}
