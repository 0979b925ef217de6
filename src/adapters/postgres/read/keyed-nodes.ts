import type { Uuid } from "../../../lib/uuid.ts";
import type { KeyedNode, SessionWindow } from "../../../ports/store/search-index.ts";
import { ACTIVE, isSession } from "../conditions.ts";
import type { Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import { ownerKey } from "../owner-key.ts";
import { FROM_NODES, type NodeRow, toKeyedNode } from "../rows.ts";

const ACTIVE_OF_OWNER = `n.owner = $1::bigint AND n.lifecycle_state IN ${ACTIVE}`;

/** Active nodes by key. */
export async function readNodesByKey(
  sql: Sql,
  userId: string,
  keys: readonly number[],
): Promise<readonly KeyedNode<number>[]> {
  if (keys.length === 0) return [];
  const rows = await sql.all<NodeRow>(
    `${FROM_NODES} WHERE ${ACTIVE_OF_OWNER} AND n.key = ANY ($2::integer[])`,
    ownerKey(userId),
    listText(keys),
  );
  return rows.map(toKeyedNode);
}

/** Active nodes by id. */
export async function readNodesById(
  sql: Sql,
  userId: string,
  ids: readonly Uuid[],
): Promise<readonly KeyedNode<number>[]> {
  if (ids.length === 0) return [];
  const rows = await sql.all<NodeRow>(
    `${FROM_NODES} WHERE ${ACTIVE_OF_OWNER} AND n.id = ANY ($2::uuid[])`,
    ownerKey(userId),
    listText(ids),
  );
  return rows.map(toKeyedNode);
}

type Sides = {
  readonly key: number;
  readonly before: ArrayLike<number>;
  readonly after: ArrayLike<number>;
};

/** Keys of the active nodes beside a node `g` of a session, nearest first, as SQL. */
function beside(compare: string, order: string): string {
  return `ARRAY(SELECT n.key FROM nodes n WHERE n.owner = $1::bigint AND ${isSession("n.session_id", "g.session_id")} AND n.scope = g.scope
      AND (n.created_at, n.id) ${compare} (g.created_at, g.id) AND n.lifecycle_state IN ${ACTIVE}
    ORDER BY n.created_at ${order}, n.id ${order} LIMIT $3)`;
}

const SIDES = `SELECT g.key, ${beside("<", "DESC")} AS before, ${beside(">", "ASC")} AS after FROM nodes g
  WHERE g.owner = $1::bigint AND g.key = ANY ($2::integer[]) AND g.session_id IS NOT NULL`;

/** The active nodes around each node in its own session and scope. Windows overlap, so each node is read once. */
export async function readSessionWindows(
  sql: Sql,
  userId: string,
  keys: readonly number[],
  span: number,
): Promise<ReadonlyMap<number, SessionWindow<number>>> {
  if (span <= 0 || keys.length === 0) return new Map();
  const rows = await sql.all<Sides>(SIDES, ownerKey(userId), listText(keys), span);
  const sides = rows.map(({ key, before, after }) => ({
    key,
    before: Array.from(before),
    after: Array.from(after),
  }));
  const wanted = new Set(sides.flatMap(({ before, after }) => [...before, ...after]));
  const found = await readNodesByKey(sql, userId, [...wanted]);
  const nodes = new Map(found.map((node) => [node.key, node]));
  const pick = (some: readonly number[]) => some.flatMap((key) => nodes.get(key) ?? []);
  return new Map(
    sides.map(({ key, before, after }) => [key, { before: pick(before), after: pick(after) }]),
  );
}
