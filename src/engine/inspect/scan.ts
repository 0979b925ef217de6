import {
  parseOptionalId,
  parseOptionalInteger,
  parseOptionalMember,
  parseOptionalMembers,
  parseUserId,
} from "../../domain/arguments.ts";
import { ACTIVE_STATES, LIFECYCLE_STATES, NODE_TYPES, SCOPES } from "../../domain/enums.ts";
import { LIMITS } from "../../domain/limits.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { Graph, NodeScan } from "../../ports/store/graph.ts";
import type { EngineDeps } from "../deps.ts";
import type { IterateQuery, ScanPage, ScanQuery } from "./api.ts";

const DEFAULT_PAGE = 100;

/** Runs a call unless the engine is closed, and says whether it is. */
export type OpenEngine = {
  readonly use: <T>(call: () => Promise<T>) => Promise<T>;
  /** @throws SvcError engine_closed */
  readonly requireOpen: () => void;
};

/**
 * One page of an owner's memories by ascending id.
 * @throws SvcError invalid_argument
 */
export async function scanNodes(
  deps: Pick<EngineDeps<Graph>, "store">,
  query: ScanQuery,
): Promise<ScanPage> {
  const limit = parsePageSize(query.limit, "limit");
  return readPage(deps, {
    ...parseRestrictions(query),
    afterId: parseOptionalId(query.afterId, "after_id"),
    limit,
  });
}

/**
 * All of an owner's memories by ascending id, page by page; complete if the store does not change.
 * @throws SvcError invalid_argument at the first memory; engine_closed at the next one after the engine was closed
 */
export async function* iterNodes(
  engine: OpenEngine,
  deps: Pick<EngineDeps<Graph>, "store">,
  query: IterateQuery,
): AsyncGenerator<MemoryNode, void, undefined> {
  engine.requireOpen();
  const limit = parsePageSize(query.batchSize, "batch_size");
  let scan: NodeScan | undefined = { ...parseRestrictions(query), limit };
  while (scan !== undefined) {
    const current: NodeScan = scan;
    const page = await engine.use(() => readPage(deps, current));
    for (const node of page.nodes) {
      engine.requireOpen();
      yield node;
    }
    const { nextCursor } = page;
    scan = nextCursor === undefined ? undefined : { ...current, afterId: nextCursor };
  }
}

async function readPage(
  { store }: Pick<EngineDeps<Graph>, "store">,
  scan: NodeScan,
): Promise<ScanPage> {
  const { items: nodes, hasMore } = await store.scanNodes(scan);
  return { nodes, hasMore, nextCursor: hasMore ? nodes.at(-1)?.id : undefined };
}

function parseRestrictions(
  query: Omit<ScanQuery, "afterId" | "limit">,
): Omit<NodeScan, "afterId" | "limit"> {
  return {
    userId: parseUserId(query.userId),
    scope: parseOptionalMember(SCOPES, query.scope, "scope"),
    nodeType: parseOptionalMember(NODE_TYPES, query.nodeType, "node_type"),
    lifecycleStates:
      parseOptionalMembers(LIFECYCLE_STATES, query.lifecycleStates, "lifecycle_states") ??
      ACTIVE_STATES,
  };
}

function parsePageSize(value: unknown, field: string): number {
  return parseOptionalInteger(value, field, 1, LIMITS.scanPageMax) ?? DEFAULT_PAGE;
}
