import { LIMITS } from "../../domain/arguments.ts";
import { beginnings } from "../../domain/beginning.ts";
import { NODE_TYPES } from "../../domain/enums.ts";
import type { MemoryNode } from "../../domain/node.ts";
import { ALL_OWNERS, isEverybody, type Owner } from "../../domain/owner.ts";
import { NEIGHBORHOOD_EDGES } from "../../domain/search/graph.ts";
import { PageBuilder, SEARCH_READ } from "../../domain/search/pages.ts";
import { nextTurn } from "../../lib/pause.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type {
  ChainDirection,
  ChainRead,
  ExpiredRead,
  Graph,
  NeighborhoodRead,
  NodeFilter,
  NodeScan,
} from "../../ports/store/graph.ts";
import type { Page } from "../../ports/store/records.ts";
import type { KeyedNode, SessionWindow } from "../../ports/store/search-index.ts";
import type { Store } from "../../ports/store/store.ts";
import {
  ACTIVE,
  containsAny,
  END_FRACTION,
  endedBefore,
  keyOf,
  keyOrNull,
  ofOwner,
  Params,
} from "./conditions.ts";
import type { Dialect } from "./dialect.ts";
import { FROM_NODES, NODE_COLUMNS, NODE_PAGE, type NodeRow, toKeyedNode, toNode } from "./rows.ts";
import * as sql from "./statement.ts";

/** Reads memories one by one, along their edges, and by id. */
export function bindNodes({ read, snapshot }: sql.Access) {
  return {
    node: (id, owner) => read(owner, () => readNode(id, owner)),
    queryNodes: (filter) => snapshot(filter.owner, () => readNodes(filter)),
    scanNodes: async (wanted) => {
      const found = await read(wanted.userId, () => readScan(wanted));
      // Yields between pages.
      await nextTurn();
      return found;
    },
    neighborhood: (walk) => snapshot(walk.owner, () => readNeighborhood(walk)),
    chain: (walk) => snapshot(walk.owner, () => readChain(walk)),
    expired: (wanted) => read(wanted.owner, () => readExpired(wanted)),
    nodesCiting: (id, owner) => read(owner, () => readNodesCiting(id, owner)),
    countNodes: (owner) => read(owner, () => countNodes(owner)),
    nodesOf: (userId, ids) => snapshot(userId, () => readNodesOf(userId, ids)),
  } satisfies Partial<Graph & Store>;
}

export function* readNode(id: Uuid, of: Owner): sql.Steps<MemoryNode | undefined> {
  const owner = yield* keyOf(of);
  if (owner === undefined) return undefined;
  const params = new Params(id);
  const row = yield* sql.get<NodeRow>(
    `${FROM_NODES} WHERE n.id = $1::uuid AND ${ofOwner(params, "n.owner", owner)}`,
    ...params.values,
  );
  return row && toNode(row);
}

const BY_ID = sql.statement(
  ({ each: list, join }) => `SELECT ${NODE_COLUMNS} FROM ${list("$1", "uuid", "k")}
    ${join} nodes n ON n.id = k.value JOIN owners o ON o.owner = n.owner WHERE $2::bigint IS NULL OR n.owner = $2::bigint`,
);

/** Nodes by id, in no particular order. */
export function* readNodeRows(ids: readonly Uuid[], of: Owner = ALL_OWNERS): sql.Steps<NodeRow[]> {
  const owner = yield* keyOrNull(of);
  if (owner === undefined || ids.length === 0) return [];
  return yield* sql.all<NodeRow>(BY_ID, [...new Set(ids)], owner);
}

/** Rows read at a time if a text filter decides. */
const CHUNK = 500;

/** Nodes that pass a filter, newest first unless requested otherwise. */
export function* readNodes(filter: NodeFilter): sql.Steps<readonly MemoryNode[]> {
  const nodes = yield* findNodes(filter);
  // Not if a filter, or the end of a list, yields nothing more.
  const { contentContainsAny: words = [], validAt, olderThan } = filter;
  const isList = words.length === 0 && (validAt ?? olderThan) === undefined;
  if (isList && nodes.length === 0) yield* sql.requireSound();
  return nodes;
}

function* findNodes(filter: NodeFilter): sql.Steps<readonly MemoryNode[]> {
  const owner = yield* keyOf(filter.owner);
  if (owner === undefined || filter.limit === 0) return [];
  const needles = (filter.contentContainsAny ?? []).map((needle) => needle.toLowerCase());
  const chunk = needles.length === 0 ? filter.limit : CHUNK;
  const direction = filter.oldestFirst ? "ASC" : "DESC";
  const order = `created_at ${direction}, n.id ${direction}`;
  const known = yield* sql.dialect();
  const found = new PageBuilder(NODE_PAGE, filter.limit);
  for (let after: NodeRow | undefined; ; ) {
    const params = new Params(chunk);
    const conditions = nodeConditions(known, params, filter, after);
    const mine = ofOwner(params, "n.owner", owner);
    let rows = 0;
    let isDone = false;
    let isDamaged = false;
    // Only keys are sorted.
    yield* sql.each<NodeRow>(
      chunk - 1,
      (row) => {
        rows += 1;
        after = row;
        isDamaged = row.id === null || row.user_id === null;
        if (isDamaged) return false;
        if (containsAny(row.content, needles)) isDone = !found.add(row) || found.isFull;
        return !isDone;
      },
      `SELECT ${NODE_COLUMNS} FROM (SELECT n.owner, n.key, n.created_at, n.id FROM nodes n
         WHERE ${mine} AND ${conditions.join(" AND ")} ORDER BY n.${order} LIMIT $1) k
       LEFT JOIN nodes n ON n.owner = k.owner AND n.key = k.key LEFT JOIN owners o ON o.owner = n.owner
       ${known.again(`k.${order.replace("n.id", "k.id")}`)}`,
      ...params.values,
    );
    if (isDamaged) yield* sql.throwDamaged();
    if (isDone || rows < chunk) return found.page().items;
  }
}

/** The conditions of a node query, without owner and texts. */
function nodeConditions(
  { isSession }: Dialect,
  params: Params,
  filter: NodeFilter,
  after: NodeRow | undefined,
): string[] {
  const conditions = [params.any("n.lifecycle_state", filter.lifecycleStates)];
  const { nodeType, scopes = [], sessionIds = [], validAt, minConfidence, minSalience } = filter;
  if (nodeType !== undefined) conditions.push(`n.node_type = ${params.add(nodeType)}`);
  if (scopes.length > 0) conditions.push(params.any("n.scope", scopes));
  const [session = "", ...others] = sessionIds;
  if (others.length > 0) conditions.push(params.any("n.session_id", sessionIds));
  else if (sessionIds.length > 0) conditions.push(isSession("n.session_id", params.add(session)));
  if (validAt !== undefined) conditions.push(isValidAt(params, validAt));
  if (minConfidence !== undefined) conditions.push(`n.confidence >= ${params.add(minConfidence)}`);
  if (minSalience !== undefined) conditions.push(`n.salience >= ${params.add(minSalience)}`);
  const { createdBefore, olderThan, oldestFirst } = filter;
  if (createdBefore !== undefined) conditions.push(`n.created_at <= ${params.add(createdBefore)}`);
  const placed = (compare: string, createdAt: string, id: string): void => {
    const place = `(${params.add(createdAt)}, ${params.add(id)}::uuid)`;
    conditions.push(`(n.created_at, n.id) ${compare} ${place}`);
  };
  if (after !== undefined) placed(oldestFirst ? ">" : "<", after.created_at, after.id);
  if (olderThan !== undefined && (oldestFirst || after === undefined)) {
    placed("<", olderThan.createdAt, olderThan.id);
  }
  return conditions;
}

/** Whether a node `n` is valid at a moment, as SQL. */
export function isValidAt(params: Params, moment: string): string {
  const at = params.add(moment);
  return `n.valid_from <= ${at} AND (n.valid_to IS NULL OR n.valid_to > ${at})`;
}

/** A page of an owner's nodes by id. */
export function* readScan(wanted: NodeScan): sql.Steps<Page<MemoryNode>> {
  const { userId, lifecycleStates, scope, nodeType, afterId, limit } = wanted;
  const owner = yield* sql.ownerKey(userId);
  if (owner === undefined || lifecycleStates.length === 0) return { items: [], hasMore: false };
  const params = new Params(owner, limit + 1);
  const conditions = ["n.owner = $1::bigint", params.any("n.lifecycle_state", lifecycleStates)];
  if (scope !== undefined) conditions.push(`n.scope = ${params.add(scope)}`);
  if (afterId !== undefined) conditions.push(`n.id > ${params.add(afterId)}::uuid`);
  const { isOwnerInKeys } = yield* sql.dialect();
  const nodes = `${FROM_NODES} WHERE ${conditions.join(" AND ")}`;
  const ofType = (type: string) => `${nodes} AND n.node_type = '${type}'`;
  // A pack merges the sorted index ranges of the types row by row.
  const types = nodeType === undefined ? NODE_TYPES : [nodeType];
  const parts = isOwnerInKeys && nodeType === undefined ? [nodes] : types.map(ofType);
  const text = `${parts.join(" UNION ALL ")} ORDER BY id LIMIT $2`;
  return yield* sql.page(NODE_PAGE, limit, text, ...params.values);
}

/** Active nodes whose retention ended before a moment, earliest first, then by id. */
export function* readExpired({ owner: of, now, limit }: ExpiredRead): sql.Steps<MemoryNode[]> {
  const owner = yield* keyOf(of);
  if (owner === undefined) return [];
  const known = yield* sql.dialect();
  const params = new Params(limit);
  const ended = endedBefore(known, params, now);
  // There are fewer expired nodes than nodes of an owner.
  const mine = ofOwner(params, known.free("n.owner"), owner);
  const rows = yield* sql.all<NodeRow>(
    `${FROM_NODES} WHERE n.ttl_days IS NOT NULL AND n.pinned = 0 AND n.lifecycle_state IN ${ACTIVE} AND ${ended} AND ${mine}
     ORDER BY ${known.endSecond}, ${END_FRACTION}, n.id LIMIT $1`,
    ...params.values,
  );
  return rows.map(toNode);
}

const citing = ({ isOwnerInKeys }: Dialect): string =>
  isOwnerInKeys
    ? `JOIN node_evidence c ON c.owner = e.owner AND c.event_id = e.id
       JOIN nodes n ON n.owner = c.owner AND n.key = c.node_key`
    : "CROSS JOIN node_evidence c ON c.event = e.key CROSS JOIN nodes n ON n.key = c.node AND n.owner = e.owner";

/** Nodes in any state that cite an event and have the same owner, by id. */
export function* readNodesCiting(eventId: Uuid, of: Owner): sql.Steps<readonly MemoryNode[]> {
  const owner = yield* keyOf(of);
  if (owner === undefined) return [];
  const known = yield* sql.dialect();
  const params = new Params(eventId, LIMITS.citingNodesMax);
  const mine = ofOwner(params, known.free("e.owner"), owner);
  // Only keys are sorted.
  const text = `SELECT ${NODE_COLUMNS} FROM (SELECT n.owner, n.key, n.id FROM events e ${citing(known)}
      WHERE e.id = $1::uuid AND ${mine} ORDER BY n.id LIMIT $2) k
    ${known.join} nodes n ON n.owner = k.owner AND n.key = k.key JOIN owners o ON o.owner = n.owner ${known.again("k.id")}`;
  return (yield* sql.page(NODE_PAGE, LIMITS.citingNodesMax, text, ...params.values)).items;
}

/** Active nodes. */
export function* countNodes(of: Owner): sql.Steps<number> {
  return yield* countOf("nodes n", `n.lifecycle_state IN ${ACTIVE}`, "n.owner", of);
}

/** Rows of an owner, or of all. */
export function* countOf(
  table: string,
  condition: string,
  column: string,
  of: Owner,
): sql.Steps<number> {
  const owner = yield* keyOf(of);
  if (owner === undefined) return 0;
  const params = new Params();
  const mine = isEverybody(owner) ? "true" : ofOwner(params, column, owner);
  const row = yield* sql.get<{ count: number }>(
    `SELECT count(*)::float8 AS count FROM ${table} WHERE ${condition} AND ${mine}`,
    ...params.values,
  );
  return row?.count ?? 0;
}

/** Nodes read at once: a page may end with any of them. */
const READ_AT_ONCE = 100;

const those = (column: string, type: string) =>
  sql.statement(
    ({ each: list, join, again }) => `SELECT ${NODE_COLUMNS} FROM ${list("$2", type, "k")}
      ${join} nodes n ON ${column} = k.value AND n.owner = $1::bigint JOIN owners o ON o.owner = n.owner ${again("k.place")}`,
  );
const IN_ORDER = { id: those("n.id", "uuid"), key: those("n.key", "integer") } as const;

/** Nodes of an owner in any state, in the given order, up to the size of a page. */
function* readInOrder(
  owner: sql.OwnerKey,
  by: keyof typeof IN_ORDER,
  names: readonly (string | number)[],
): sql.Steps<Page<MemoryNode>> {
  const found = new PageBuilder(NODE_PAGE, names.length);
  yield* nodesOf(owner, by, names, (row) => found.add(row));
  return found.page();
}

/** Rows of an owner's nodes in any state, in the given order, until `take` stops. */
export function* nodesOf(
  owner: sql.OwnerKey,
  by: keyof typeof IN_ORDER,
  names: readonly (string | number)[],
  take: (row: NodeRow) => boolean,
): sql.Steps<void> {
  let isDone = false;
  const takeOne = (row: NodeRow): boolean => {
    isDone = !take(row);
    return !isDone;
  };
  for (let from = 0; from < names.length && !isDone; from += READ_AT_ONCE) {
    const some = names.slice(from, from + READ_AT_ONCE);
    yield* sql.each(READ_AT_ONCE, takeOne, IN_ORDER[by], owner, some);
  }
}

/** Nodes in any state by id. */
function* readNodesOf(userId: string, ids: readonly Uuid[]): sql.Steps<Page<MemoryNode>> {
  const owner = yield* sql.ownerKey(userId);
  if (owner === undefined) return { items: [], hasMore: false };
  return yield* readInOrder(owner, "id", [...new Set(ids)]);
}

/** The starting point of a walk over edges: its owner, and how edges refer to it. */
type Beginning = { readonly owner: sql.OwnerKey; readonly name: string | number };

function* findBeginning(id: string, of: Owner): sql.Steps<Beginning | undefined> {
  const owner = yield* keyOf(of);
  if (owner === undefined) return undefined;
  const { end } = yield* sql.dialect();
  const params = new Params(id);
  return yield* sql.get<Beginning>(
    `SELECT n.owner, n.${end} AS name FROM nodes n WHERE n.id = $1::uuid AND ${ofOwner(params, "n.owner", owner)}`,
    ...params.values,
  );
}

/** The nodes at one end of edges whose other ends are the nodes $2. */
function endsOf({ each: list, join }: Dialect, here: string, there: string): string {
  return `SELECT far FROM (SELECT e.${there} AS far FROM ${list("$2", "uuid", "k")} ${join} edges e ON e.owner = $1::bigint
    AND e.${here} = k.value LIMIT ${NEIGHBORHOOD_EDGES}) f`;
}

const NEIGHBOURS = sql.statement(
  (known) => `SELECT n.${known.end} AS name, n.lifecycle_state IN ${ACTIVE} AS active
    FROM (${endsOf(known, "source", "target")} UNION ${endsOf(known, "target", "source")}) f
    ${known.join} nodes n ON n.${known.end} = f.far AND n.owner = $1::bigint
    WHERE f.far <> ALL ($3::uuid[]) ORDER BY n.id LIMIT $4`,
);

type Neighbour = { readonly name: string | number; readonly active: boolean | number };

/** Active nodes around a node, nearest first, then by id; if there are too many, those with the lowest ids of a hop. */
export function* readNeighborhood(walk: NeighborhoodRead): sql.Steps<readonly MemoryNode[]> {
  const { nodeId, owner, maxHops, maxVisited } = walk;
  const start = yield* findBeginning(nodeId, owner);
  if (start === undefined) return [];
  const visited = [start.name];
  const active: (string | number)[] = [];
  let last: readonly (string | number)[] = [...visited];
  for (let hop = 1; hop <= maxHops && last.length > 0; hop += 1) {
    const room = maxVisited - visited.length;
    if (room <= 0) break;
    const found = yield* sql.all<Neighbour>(NEIGHBOURS, start.owner, last, [...visited], room);
    last = found.map(({ name }) => name);
    visited.push(...last);
    active.push(...found.flatMap((one) => (one.active ? [one.name] : [])));
  }
  const { end } = yield* sql.dialect();
  return (yield* readInOrder(start.owner, end, active)).items;
}

/** The ids of a chain: at each step the other end of the newest `supersedes` edge. */
function chainOf(here: string, there: string): (known: Dialect) => string {
  return ({ end }) => {
    const type = end === "id" ? "uuid" : "integer";
    return `WITH RECURSIVE chain (name, step) AS (
      SELECT $2::${type}, 0
      UNION ALL SELECT (SELECT n.${end} FROM edges e JOIN nodes n ON n.owner = e.owner AND n.${end} = e.${there}
        WHERE e.owner = $1::bigint AND e.${here} = chain.name AND e.edge_type = 'supersedes'
        ORDER BY e.created_at DESC, e.${end} DESC LIMIT 1), chain.step + 1
      FROM chain WHERE chain.name IS NOT NULL AND chain.step < $3)
    SELECT name FROM chain WHERE step > 0 AND name IS NOT NULL ORDER BY step`;
  };
}

/** The replacement is the source of the edge. */
const CHAINS: Readonly<Record<ChainDirection, ReturnType<typeof sql.statement>>> = {
  forward: sql.statement(chainOf("target", "source")),
  backward: sql.statement(chainOf("source", "target")),
};

/** What replaced a node, or what it replaced, nearest first, in any state; stops at a cycle. */
export function* readChain(walk: ChainRead): sql.Steps<readonly MemoryNode[]> {
  const { nodeId, owner, direction, maxSteps } = walk;
  const start = yield* findBeginning(nodeId, owner);
  if (start === undefined) return [];
  const steps = yield* sql.all<{ name: string | number }>(
    CHAINS[direction],
    ...[start.owner, start.name, maxSteps],
  );
  const met = new Set([start.name]);
  for (const { name } of steps) {
    if (met.has(name)) break;
    met.add(name);
  }
  const { end } = yield* sql.dialect();
  return (yield* readInOrder(start.owner, end, [...met].slice(1))).items;
}

/** Memories that a store keeps at hand. */
export type Held = {
  /** Those of an owner that are held and as they are in the store; and what takes the others, read after this. */
  of(
    userId: string,
    keys: readonly number[],
  ): {
    readonly found: KeyedNode<number>[];
    readonly hold: (nodes: readonly KeyedNode<number>[]) => void;
  };
};
/** How a store reads memories. Absent: it holds none. */
export type KeyedAccess = Pick<sql.Access, "read"> & { readonly held?: () => Held | undefined };

/** The data of found memories that a question reads. */
export function bindKeyed(access: KeyedAccess) {
  return {
    nodesByKey: (userId, keys, texts) => readByName(access, userId, { key: keys }, texts),
    nodesById: (userId, ids) => readByName(access, userId, { id: ids }, "beginnings"),
    sessionWindows: (userId, keys, span) => readSessionWindows(access, userId, keys, span),
  } satisfies Partial<Store<number>>;
}

type Named = "key" | "id";
const TYPES = { key: "integer", id: "uuid" } as const;

/** A pack reads this from the start of a record, without the texts. */
const IS_SHORT = `octet_length(n.content) + coalesce(octet_length(n.metadata), 0) <= ${SEARCH_READ}`;

function textOf(by: Named, columns: string, condition: string) {
  return sql.statement(
    ({ each: list, join, free }) => `SELECT ${columns} FROM ${list("$2", TYPES[by], "k")}
      ${join} nodes n ON n.${by} = k.value AND ${free("n.owner")} = $1::bigint JOIN owners o ON o.owner = n.owner
      WHERE ${condition}`,
  );
}

const IS_ACTIVE = `n.lifecycle_state IN ${ACTIVE}`;
const textsFor = (columns: string, condition: string) => ({
  key: textOf("key", columns, condition),
  id: textOf("id", columns, condition),
});
const SHORT = textsFor(NODE_COLUMNS, `CASE WHEN ${IS_SHORT} THEN ${IS_ACTIVE} END`);
const LONG = textsFor("k.value AS name", `NOT ${IS_SHORT}`);
const ANY = textsFor(NODE_COLUMNS, IS_ACTIVE);

/** What a text says of an owner's nodes. */
function* readNamed<Row>(
  texts: Readonly<Record<Named, sql.Text>>,
  userId: string,
  by: Named,
  names: readonly (number | string)[],
): sql.Steps<Row[]> {
  const owner = yield* sql.ownerKey(userId);
  if (owner === undefined || names.length === 0) return [];
  return yield* sql.all<Row>(texts[by], owner, names);
}

type Asked = [userId: string, by: Named, names: readonly (number | string)[]];

/** Active nodes by key or id; without those that have long texts. */
export function* readKeyed(...asked: Asked): sql.Steps<KeyedNode<number>[]> {
  return (yield* readNamed<NodeRow>(SHORT, ...asked)).map(toKeyedNode);
}

/** Active nodes by key or id, whatever their texts. */
export function* readAnyKeyed(...asked: Asked): sql.Steps<KeyedNode<number>[]> {
  return (yield* readNamed<NodeRow>(ANY, ...asked)).map(toKeyedNode);
}

/**
 * Active nodes by key or id. Those with long texts are read one by one, yielding in between.
 * @param texts `beginnings`: the part of long texts that a question reads. Default: whole
 */
export async function readByName(
  access: KeyedAccess,
  userId: string,
  wanted: { readonly key: readonly number[] } | { readonly id: readonly Uuid[] },
  texts?: "beginnings",
): Promise<readonly KeyedNode<number>[]> {
  const [by, given] =
    "key" in wanted ? (["key", wanted.key] as const) : (["id", wanted.id] as const);
  const once = new Set<number | string>(given);
  const names: readonly (number | string)[] = once.size === given.length ? given : [...once];
  const toLong = texts === undefined ? toNode : beginnings(toNode);
  const { read } = access;
  const found =
    "key" in wanted
      ? // SAFETY: those given by key are numbers.
        await readHeld(access, userId, names as readonly number[])
      : await read(userId, () => readKeyed(userId, by, names));
  if (found.length === names.length) return found;
  const known = new Set<number | string>(
    found.map(({ key, node }) => (by === "key" ? key : node.id)),
  );
  const rest = names.filter((name) => !known.has(name));
  const long = () => readNamed<{ name: number | string }>(LONG, userId, by, rest);
  for (const { name } of await read(userId, long)) {
    await nextTurn();
    const rows = await read(userId, () => readNamed<NodeRow>(ANY, userId, by, [name]));
    found.push(...rows.map((row) => ({ key: row.key, node: toLong(row) })));
  }
  return found;
}

async function readHeld(
  { read, held }: KeyedAccess,
  userId: string,
  keys: readonly number[],
): Promise<KeyedNode<number>[]> {
  const { found = [], hold } = held?.()?.of(userId, keys) ?? {};
  if (found.length === keys.length) return found;
  const known = new Set(found.map(({ key }) => key));
  const rest = keys.filter((key) => !known.has(key));
  const fresh = await read(userId, () => readKeyed(userId, "key", rest));
  hold?.(fresh);
  return [...found, ...fresh];
}

/** Keys of the active nodes next to a node `g` of a session, nearest first, as SQL. */
function beside({ isSession }: Dialect, compare: string, order: string): string {
  return `SELECT n.key FROM nodes n WHERE n.owner = $1::bigint AND ${isSession("n.session_id", "g.session_id")} AND n.scope = g.scope
      AND (n.created_at, n.id) ${compare} (g.created_at, g.id) AND n.lifecycle_state IN ${ACTIVE}
    ORDER BY n.created_at ${order}, n.id ${order} LIMIT $3`;
}

const SIDES = sql.statement(
  (
    known,
  ) => `SELECT g.key, ${known.listOf(beside(known, "<", "DESC"))} AS before, ${known.listOf(beside(known, ">", "ASC"))} AS after
    FROM ${known.each("$2", "integer", "k")} ${known.join} nodes g ON g.key = k.value AND ${known.free("g.owner")} = $1::bigint
    WHERE g.session_id IS NOT NULL`,
);

type Keys = string | ArrayLike<number>;
type Sides = { readonly key: number; readonly before: Keys; readonly after: Keys };

function* readSides(userId: string, keys: readonly number[], span: number): sql.Steps<Sides[]> {
  const owner = yield* sql.ownerKey(userId);
  if (owner === undefined || span <= 0 || keys.length === 0) return [];
  return yield* sql.all<Sides>(SIDES, owner, keys, span);
}

/** What `listOf` gives. */
function listFrom(keys: Keys): readonly number[] {
  if (typeof keys !== "string") return Array.from(keys);
  const list: number[] = JSON.parse(keys);
  return list;
}

/** The active nodes around each node in its own session and scope. Windows overlap, so each node is read once. */
export async function readSessionWindows(
  access: KeyedAccess,
  userId: string,
  keys: readonly number[],
  span: number,
): Promise<ReadonlyMap<number, SessionWindow<number>>> {
  const rows = await access.read(userId, () => readSides(userId, keys, span));
  const sides = rows.map(({ key, before, after }) => ({
    key,
    before: listFrom(before),
    after: listFrom(after),
  }));
  const names = new Set(sides.flatMap(({ before, after }) => [...before, ...after]));
  const found =
    names.size === 0 ? [] : await readByName(access, userId, { key: [...names] }, "beginnings");
  const nodes = new Map(found.map((node) => [node.key, node]));
  const pick = (some: readonly number[]) => some.flatMap((key) => nodes.get(key) ?? []);
  return new Map(
    sides.map(({ key, before, after }) => [key, { before: pick(before), after: pick(after) }]),
  );
}
