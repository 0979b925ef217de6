import { beginnings } from "../../../domain/beginning.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { SEARCH_READ } from "../../../domain/search/pages.ts";
import { nextTurn } from "../../../lib/pause.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { KeyedNode, SessionWindow } from "../../../ports/store/search-index.ts";
import { ACTIVE, isSession } from "../conditions.ts";
import type { Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import { ownerKey } from "../owner-key.ts";
import { FROM_NODES, type NodeRow, toKeyedNode, toNode } from "../rows.ts";

const ACTIVE_OF_OWNER = `n.owner = $1::bigint AND n.lifecycle_state IN ${ACTIVE}`;

/** Active nodes by key. */
export async function readNodesByKey(
  sql: Sql,
  userId: string,
  keys: readonly number[],
  texts?: "beginnings",
): Promise<readonly KeyedNode<number>[]> {
  const long = texts === undefined ? toNode : beginnings(toNode);
  return await inTurns(sql, userId, { by: "n.key", names: keys }, long);
}

/** Active nodes by id, with the beginnings of long texts. */
export async function readNodesById(
  sql: Sql,
  userId: string,
  ids: readonly Uuid[],
): Promise<readonly KeyedNode<number>[]> {
  const names = [...new Set(ids)];
  return await inTurns(sql, userId, { by: "n.id", names }, beginnings(toNode));
}

const TYPES = { "n.key": "integer", "n.id": "uuid" } as const;
const SHORT = `octet_length(n.content) + coalesce(octet_length(n.metadata), 0) <= ${SEARCH_READ}`;

/** Those with long texts are read one by one, so that others are served in between. */
async function inTurns(
  sql: Sql,
  userId: string,
  { by, names }: { readonly by: keyof typeof TYPES; readonly names: readonly (number | string)[] },
  toLong: (row: NodeRow) => MemoryNode,
): Promise<readonly KeyedNode<number>[]> {
  if (names.length === 0) return [];
  const owner = ownerKey(userId);
  const those = `${ACTIVE_OF_OWNER} AND ${by} = ANY ($2::${TYPES[by]}[])`;
  const rows = await sql.all<NodeRow>(
    `${FROM_NODES} WHERE ${those} AND ${SHORT}`,
    owner,
    listText(names),
  );
  const found = rows.map(toKeyedNode);
  if (found.length === names.length) return found;
  const known = new Set<number | string>(
    found.map(({ key, node }) => (by === "n.key" ? key : node.id)),
  );
  const long = await sql.all<{ readonly name: number | string }>(
    `SELECT ${by} AS name FROM nodes n WHERE ${those} AND NOT ${SHORT}`,
    owner,
    listText(names.filter((name) => !known.has(name))),
  );
  for (const { name } of long) {
    await nextTurn();
    const [row] = await sql.all<NodeRow>(`${FROM_NODES} WHERE ${those}`, owner, listText([name]));
    if (row !== undefined) found.push({ key: row.key, node: toLong(row) });
  }
  return found;
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
  const found = await readNodesByKey(sql, userId, [...wanted], "beginnings");
  const nodes = new Map(found.map((node) => [node.key, node]));
  const pick = (some: readonly number[]) => some.flatMap((key) => nodes.get(key) ?? []);
  return new Map(
    sides.map(({ key, before, after }) => [key, { before: pick(before), after: pick(after) }]),
  );
}
