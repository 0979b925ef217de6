import { isActive } from "../../../domain/lifecycle.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import { ACTIVE } from "../../sql/conditions.ts";
import { NODE_TABLE, nodeValues } from "../../sql/rows.ts";
import { insertNumbered } from "../connection/insert-many.ts";
import { beyondWall } from "../connection/row-security.ts";
import type { Sql } from "../connection/sql.ts";
import type { OwnerKey } from "../owner-key.ts";

const NODES = { table: "nodes", columns: NODE_TABLE, counter: "next_key" } as const;

/**
 * Writes nodes of one owner; existing ones are kept. Runs inside a write transaction with the owner's lock.
 * @returns the keys of those that are active, and so have index entries
 */
export async function writeNodes(
  sql: Sql,
  owner: OwnerKey,
  nodes: readonly MemoryNode[],
): Promise<ReadonlyMap<Uuid, number>> {
  const byId = Map.groupBy(nodes, ({ id }) => id);
  if (byId.size === 0) return new Map();
  // Also those of other owners: an id is never given twice.
  // And those that were forgotten: whoever planned them may have read them before.
  const found = await beyondWall(sql).all<{ id: Uuid }>(
    "SELECT id FROM nodes WHERE id = ANY ($1::uuid[]) UNION ALL SELECT event_id FROM erasures WHERE event_id = ANY ($1::uuid[])",
    [...byId.keys()],
  );
  const existing = found.map(({ id }) => id);
  for (const id of existing) byId.delete(id);
  const keys = new Map<Uuid, number>();
  for (const { id, key } of await readActive(sql, owner, existing)) keys.set(id, key);
  const added = [...byId.values()].flatMap(([first]) => first ?? []);
  const [newest] = added;
  if (newest === undefined) return keys;
  const rows = added.map((node) => [node.id, ...nodeValues(node)]);
  const first = await insertNumbered(sql, [owner, newest.userId], NODES, rows);
  for (const [place, { id, lifecycleState }] of added.entries()) {
    if (isActive(lifecycleState)) keys.set(id, first + place);
  }
  return keys;
}

type NodePlace = { readonly id: Uuid; readonly key: number };

/** The active ones among some nodes of an owner. */
async function readActive(
  sql: Sql,
  owner: OwnerKey,
  ids: readonly Uuid[],
): Promise<readonly NodePlace[]> {
  if (ids.length === 0) return [];
  return await sql.all<NodePlace>(
    `SELECT id, key FROM nodes WHERE owner = $1::bigint AND id = ANY ($2::uuid[]) AND lifecycle_state IN ${ACTIVE}`,
    owner,
    ids,
  );
}
