import { isActive } from "../../../domain/lifecycle.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import { ACTIVE } from "../conditions.ts";
import { insertMany } from "../connection/insert-many.ts";
import type { Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import type { OwnerKey } from "../owner-key.ts";
import { NODE_TABLE, nodeValues } from "../rows.ts";

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
  const found = await sql.all<{ id: Uuid }>(
    "SELECT id FROM nodes WHERE id = ANY ($1::uuid[])",
    listText(byId.keys()),
  );
  const existing = found.map(({ id }) => id);
  for (const id of existing) byId.delete(id);
  const keys = new Map<Uuid, number>();
  for (const { id, key } of await readActive(sql, owner, existing)) keys.set(id, key);
  const added = [...byId.values()].flatMap(([first]) => first ?? []);
  const [newest] = added;
  if (newest === undefined) return keys;
  const first = await takeKeys(sql, [owner, newest.userId], "next_key", added.length);
  const rows = added.map((node, place) => [owner, first + place, node.id, ...nodeValues(node)]);
  await insertMany(sql, "nodes", NODE_TABLE, rows);
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
    listText(ids),
  );
}

/**
 * Takes the next keys of an owner, who gets a row without one: the first memory of somebody may come with a change of another one's.
 * @returns the first
 */
export async function takeKeys(
  sql: Sql,
  [owner, userId]: readonly [OwnerKey, string],
  counter: "next_key" | "next_event",
  count: number,
): Promise<number> {
  const row = await sql.get<{ first: number }>(
    `INSERT INTO owners (owner, user_id, version, ${counter}) VALUES ($1::bigint, $2, 1, 1 + $3::integer)
     ON CONFLICT (owner) DO UPDATE SET ${counter} = owners.${counter} + $3::integer
     RETURNING ${counter} - $3::integer AS first`,
    owner,
    userId,
    count,
  );
  return row?.first ?? 0;
}
