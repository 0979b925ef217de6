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
  const existing = new Set((await readPlaces(sql, owner, [...wanted.keys()])).map(({ id }) => id));
  const added = nodes.filter((node, place) => {
    return !existing.has(node.id) && nodes.findIndex(({ id }) => id === node.id) === place;
  });
  const first = await takeKeys(sql, owner, "next_key", added.length);
  const rows = added.map((node, place) => [owner, first + place, node.id, ...nodeValues(node)]);
  await insertMany(sql, "nodes", NODE_TABLE, rows);
  const places = await readPlaces(sql, owner, [...wanted.keys()]);
  return new Map(places.flatMap(({ id, key, active }) => (active ? [[id, key]] : [])));
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
