import type { Database } from "bun:sqlite";
import { beginnings } from "../../../domain/beginning.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { SEARCH_READ } from "../../../domain/search/pages.ts";
import { nextTurn } from "../../../lib/pause.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { KeyedNode, SessionWindow } from "../../../ports/store/search-index.ts";
import type { Parameter } from "../connection/ask.ts";
import type { PackAccess } from "../pack-access.ts";
import { ownerKey } from "../write/owners.ts";
import { NODE_COLUMNS, type NodeRow, toNode } from "../write/rows.ts";
import { ACTIVE } from "../write/turns.ts";

type Read = PackAccess["read"];
type Named = "key" | "id";

/** Active nodes by key. */
export async function nodesByKey(
  read: Read,
  userId: string,
  keys: readonly number[],
  texts?: "beginnings",
): Promise<readonly KeyedNode<number>[]> {
  const long = texts === undefined ? toNode : beginnings(toNode);
  return await inTurns(read, userId, { by: "key", names: keys }, long);
}

/** Active nodes by id, with the beginnings of long texts. */
export async function nodesById(
  read: Read,
  userId: string,
  ids: readonly Uuid[],
): Promise<readonly KeyedNode<number>[]> {
  const names = [...new Set(ids)];
  return await inTurns(read, userId, { by: "id", names }, beginnings(toNode));
}

/** Those with long texts are read one by one, so that others are served in between. */
async function inTurns(
  read: Read,
  userId: string,
  { by, names }: Pick<Wanted, "by" | "names">,
  toLong: (row: NodeRow) => MemoryNode,
): Promise<readonly KeyedNode<number>[]> {
  const found = await read((database) => readKeyed(database, userId, { by, names }));
  if (found.length === names.length) return found;
  const known = new Set<number | string>(
    found.map(({ key, node }) => (by === "key" ? key : node.id)),
  );
  const rest = names.filter((name) => !known.has(name));
  const all = [...found];
  for (const name of await read((database) => longOnes(database, { by, names: rest }))) {
    await nextTurn();
    all.push(
      ...(await read((database) =>
        readKeyed(database, userId, { by, names: [name], mayBeLong: true }, toLong),
      )),
    );
  }
  return all;
}

type Wanted = {
  readonly by: Named;
  readonly names: readonly (number | string)[];
  readonly mayBeLong?: boolean;
};

/** SQLite reads this from the head of a record, without the texts. */
const IS_SHORT = `octet_length(n.content) + coalesce(octet_length(n.metadata), 0) <= ${SEARCH_READ}`;

/** Active nodes by key or id; of those with long texts, only if asked for. */
export function readKeyed(
  database: Database,
  userId: string,
  { by, names, mayBeLong = false }: Wanted,
  toRead: (row: NodeRow) => MemoryNode = toNode,
): KeyedNode<number>[] {
  const owner = ownerKey(database, userId);
  if (owner === undefined || names.length === 0) return [];
  const isWanted = `n.owner = ? AND n.lifecycle_state IN ${ACTIVE}`;
  return database
    .query<NodeRow, [string, number]>(
      `SELECT ${NODE_COLUMNS} FROM json_each(?) k CROSS JOIN nodes n ON n.${by} = k.value JOIN owners o ON o.owner = n.owner
       WHERE ${mayBeLong ? isWanted : `CASE WHEN ${IS_SHORT} THEN ${isWanted} END`}`,
    )
    .all(JSON.stringify(names), owner)
    .map((row) => ({ key: row.key, node: toRead(row) }));
}

/** In any state and of any owner, since what is stored behind a long text costs as much to read as the text. */
function longOnes(database: Database, { by, names }: Wanted): (number | string)[] {
  return database
    .query<{ name: number | string }, [string]>(
      `SELECT k.value AS name FROM json_each(?) k CROSS JOIN nodes n ON n.${by} = k.value WHERE NOT ${IS_SHORT}`,
    )
    .all(JSON.stringify(names))
    .map(({ name }) => name);
}

/** The active nodes around each node in its own session and scope. Windows overlap, so each node is read once. */
export async function sessionWindows(
  read: Read,
  userId: string,
  keys: readonly number[],
  span: number,
): Promise<ReadonlyMap<number, SessionWindow<number>>> {
  const sides = await read((database) => readSides(database, userId, keys, span));
  const wanted = new Set(sides.flatMap(({ before, after }) => [...before, ...after]));
  const found = wanted.size === 0 ? [] : await nodesByKey(read, userId, [...wanted], "beginnings");
  const nodes = new Map(found.map((node) => [node.key, node]));
  const pick = (beside: readonly number[]) => beside.flatMap((key) => nodes.get(key) ?? []);
  return new Map(
    sides.map(({ key, before, after }) => [key, { before: pick(before), after: pick(after) }]),
  );
}

type Place = {
  readonly owner: number;
  readonly session_id: string | null;
  readonly scope: string;
  readonly created_at: string;
  readonly id: string;
};

function readSides(database: Database, userId: string, keys: readonly number[], span: number) {
  const owner = ownerKey(database, userId);
  if (owner === undefined || span <= 0) return [];
  const place = database.query<Place, [number, number]>(
    "SELECT owner, session_id, scope, created_at, id FROM nodes WHERE key = ? AND owner = ?",
  );
  return keys.flatMap((key) => {
    const at = place.get(key, owner);
    if (at === null || at.session_id === null) return [];
    const before = keysBeside(database, at, at.session_id, { side: "before", span });
    const after = keysBeside(database, at, at.session_id, { side: "after", span });
    return [{ key, before, after }];
  });
}

type Reach = { readonly side: "before" | "after"; readonly span: number };

/** Nearest first. */
function keysBeside(
  database: Database,
  at: Place,
  session: string,
  { side, span }: Reach,
): number[] {
  const [compare, order] = side === "before" ? ["<", "DESC"] : [">", "ASC"];
  return database
    .query<{ key: number }, Parameter[]>(
      `SELECT key FROM nodes WHERE owner = ? AND session_id = ? AND scope = ?
         AND (created_at, id) ${compare} (?, ?) AND lifecycle_state IN ${ACTIVE}
       ORDER BY created_at ${order}, id ${order} LIMIT ?`,
    )
    .all(at.owner, session, at.scope, at.created_at, at.id, span)
    .map(({ key }) => key);
}
