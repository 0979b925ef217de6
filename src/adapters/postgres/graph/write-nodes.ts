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
  const wanted = new Map(nodes.map((node) => [node.id, node]));
  if (wanted.size === 0) return new Map();
  // Also those of other owners: an id is never given twice.
  const found = await sql.all<{ id: Uuid }>(
    "SELECT id FROM nodes WHERE id = ANY ($1::uuid[])",
    listText(wanted.keys()),
  );
  const existing = new Set(found.map(({ id }) => id));
  const added = nodes.filter((node, place) => {
    return !existing.has(node.id) && nodes.findIndex(({ id }) => id === node.id) === place;
  });
  const [newest] = added;
  if (newest !== undefined) await requireOwner(sql, owner, newest.userId);
  const first = await takeKeys(sql, owner, "next_key", added.length);
  const rows = added.map((node, place) => [owner, first + place, node.id, ...nodeValues(node)]);
  await insertMany(sql, "nodes", NODE_TABLE, rows);
  const places = await readPlaces(sql, owner, [...wanted.keys()]);
  return new Map(places.flatMap(({ id, key, active }) => (active ? [[id, key]] : [])));
}

/** Gives an owner a row who has none: the first memory of somebody may come with a change of another one's. */
async function requireOwner(sql: Sql, owner: OwnerKey, userId: string): Promise<void> {
  await sql.run(
    "INSERT INTO owners (owner, user_id, version) VALUES ($1::bigint, $2, 1) ON CONFLICT DO NOTHING",
    owner,
    userId,
  );
}

type NodePlace = { readonly id: Uuid; readonly key: number; readonly active: boolean };

function readPlaces(sql: Sql, owner: OwnerKey, ids: readonly Uuid[]): Promise<NodePlace[]> {
  return sql.all<NodePlace>(
    `SELECT id, key, lifecycle_state IN ${ACTIVE} AS active FROM nodes WHERE owner = $1::bigint AND id = ANY ($2::uuid[])`,
    owner,
    listText(ids),
  );
}

/** Takes the next keys of an owner. @returns the first */
export async function takeKeys(
  sql: Sql,
  owner: OwnerKey,
  counter: "next_key" | "next_event",
  count: number,
): Promise<number> {
  if (count === 0) return 0;
  const row = await sql.get<{ first: number }>(
    `UPDATE owners SET ${counter} = ${counter} + $2 WHERE owner = $1::bigint RETURNING ${counter} - $2 AS first`,
    owner,
    count,
  );
  return row?.first ?? 0;
}
