import {
  cursorOf,
  parseCursor,
  parseId,
  parseOwner,
  parsePageLimit,
} from "../../domain/arguments.ts";
import type { Graph } from "../../ports/store/graph.ts";
import type { AuditLog, ReceiptLog } from "../../ports/store/records.ts";
import type { EngineDeps } from "../deps.ts";
import type { ListedUses, UsesQuery } from "./api.ts";
import { requestsThatCite } from "./citations.ts";
import { openReceipt } from "./codec.ts";

type UseStore = Pick<ReceiptLog, "usesOf"> & Pick<Graph, "node"> & Pick<AuditLog, "auditRecordsOf">;
type UseDeps = Pick<EngineDeps<UseStore>, "store" | "warn">;

/**
 * One page of the answers in whose context a memory was. Undefined for an unknown memory, or one of another owner.
 * @throws SvcError invalid_argument
 */
export async function listUses(
  { store, warn }: UseDeps,
  nodeId: string,
  query: UsesQuery,
): Promise<ListedUses | undefined> {
  const id = parseId(nodeId, "node_id");
  const before = parseCursor(query.cursor);
  const limit = parsePageLimit(query.limit);
  const node = await store.node(id, parseOwner(query.userId));
  if (node === undefined) return undefined;
  const { userId } = node;
  const { items, hasMore } = await store.usesOf({ userId, nodeId: id, before, limit });
  const citing = items.length === 0 ? new Set() : await requestsThatCite({ store }, userId, id);
  const last = hasMore ? items.at(-1)?.receipt : undefined;
  return {
    retrievals: items.flatMap(({ receipt: { requestId, createdAt, body }, ...use }) => {
      try {
        const { told, client } = openReceipt(body);
        const cited = citing.has(requestId);
        return [{ requestId, createdAt, client, query: told.query, ...use, cited }];
      } catch {
        warn(`the receipt of retrieval ${requestId} is damaged and was left out of a list`);
        return [];
      }
    }),
    hasMore,
    nextCursor: last && cursorOf({ at: last.createdAt, id: last.requestId }),
  };
}
