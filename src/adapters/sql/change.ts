import { takenOver } from "../../domain/jobs.ts";
import { isActive } from "../../domain/lifecycle.ts";
import type { MemoryNode } from "../../domain/node.ts";
import { ALL_OWNERS } from "../../domain/owner.ts";
import {
  brokenChange,
  isRetired,
  momentAfter,
  type NodeChange,
  nodeChanges,
} from "../../domain/search/change.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { EmbeddingIdentity } from "../../ports/models.ts";
import type { Change, ChangeReads, Decide } from "../../ports/store/graph.ts";
import type { AuditRecord } from "../../ports/store/records.ts";
import type { IndexedNode } from "../../ports/store/search-index.ts";
import type { Materialization } from "../../ports/store/work.ts";
import { readAuditRecordsById, writeAuditRecords } from "./audit.ts";
import { ACTIVE } from "./conditions.ts";
import { readEdgesAmong, readEdgesOf, writeEdge } from "./edges.ts";
import { readEventRows } from "./events.ts";
import { readNodeRows } from "./nodes.ts";
import { ensureOwner } from "./owners.ts";
import { NODE_TABLE, type NodeRow, nodeValues, toEvent, toNode, updateOfNode } from "./rows.ts";
import { requireModel } from "./settings.ts";
import * as sql from "./statement.ts";
import { failuresOf } from "./work.ts";

/** An active node whose index entries are to be written. */
export type Entry = Pick<Materialization, "node" | "vector" | "lexical" | "at"> & {
  readonly key: number;
};

/** The indexes; each store writes them in its own way after the nodes. Runs inside a write transaction. */
export type IndexWrites = {
  /** The model of the callers' vectors. */
  readonly embedding: EmbeddingIdentity;
  /** Whether an active node `n` with text lacks an entry in one of the indexes, as SQL. */
  readonly isIncomplete: string;
  /** Writes vectors and words of an owner's nodes, all at once: neighbours that arrive together are written once. */
  readonly write: (owner: sql.OwnerKey, entries: readonly Entry[]) => sql.Steps<void>;
  /**
   * Removes inactive nodes from both indexes, and rewrites the entries of adjacent turns, as if they had never existed. The cost does not
   * grow with the length of a conversation.
   */
  readonly evict: (owner: sql.OwnerKey, keys: readonly number[]) => sql.Steps<void>;
};

export type ChangeHooks = {
  readonly now: () => Instant;
  readonly indexes: IndexWrites;
  /** Whether decisions may add nodes. */
  readonly mayAdd: boolean;
};

/** Also nodes of other owners: ids are never reused. */
const THERE = sql.statement(
  [
    `SELECT id, owner, key, lifecycle_state IN ${ACTIVE} AS is_active FROM nodes WHERE id = ANY ($1::uuid[])`,
    "SELECT event_id, NULL, NULL, NULL FROM erasures WHERE event_id = ANY ($1::uuid[])",
  ].join(" UNION ALL "),
);
type There = {
  readonly id: Uuid;
  readonly owner: sql.OwnerKey | null;
  readonly key: number;
  readonly is_active: boolean | number | null;
};
const NODES: sql.NumberedTable = { name: "nodes", columns: NODE_TABLE, counter: "next_key" };

/**
 * Writes nodes of one owner; existing ones are kept, and forgotten ones stay forgotten: a plan may have been made before. Runs inside a
 * write transaction of the owner.
 * @returns the keys of active ones, which have index entries
 */
export function* writeNodes(
  owner: sql.OwnerKey,
  nodes: readonly MemoryNode[],
): sql.Steps<ReadonlyMap<Uuid, number>> {
  const byId = Map.groupBy(nodes, ({ id }) => id);
  const keys = new Map<Uuid, number>();
  if (byId.size === 0) return keys;
  const found = yield* sql.beyondWall(sql.all<There>(THERE, [...byId.keys()]));
  for (const { id, owner: of, key, is_active: active } of found) {
    if (active && String(of) === String(owner)) keys.set(id, key);
    byId.delete(id);
  }
  const added = [...byId.values()].flatMap(([first]) => first ?? []);
  const [newest] = added;
  if (newest === undefined) return keys;
  const rows = added.map((node) => [node.id, ...nodeValues(node)]);
  const first = yield* sql.insertNumbered(NODES, { owner, userId: newest.userId, rows });
  for (const [place, { id, lifecycleState }] of added.entries()) {
    if (isActive(lifecycleState)) keys.set(id, first + place);
  }
  return keys;
}

/**
 * Writes nodes without a job, with their index entries. An existing node is kept; an inactive one is not indexed. Runs inside a write
 * transaction of their owners.
 * @throws SvcError embedding_mismatch if the vectors of the store are of another model
 */
export function* addNodes(items: readonly IndexedNode[], indexes: IndexWrites): sql.Steps<void> {
  yield* requireModel(indexes.embedding);
  for (const [userId, some] of sql.byOwner(
    yield* sql.dialect(),
    items,
    ({ node }) => node.userId,
  )) {
    const owner = yield* ensureOwner(userId);
    const keys = yield* writeNodes(
      owner,
      some.map(({ node }) => node),
    );
    const entries = some.flatMap((item): Entry[] => {
      const key = keys.get(item.node.id);
      return key === undefined ? [] : [{ ...item, key, lexical: true }];
    });
    yield* indexes.write(owner, entries);
  }
}

/**
 * Reads the input of a decision and writes its result. Runs inside a write transaction, which must be rolled back if it throws.
 * @throws what `decide` throws; what `takenOver` says of the claim; SvcError internal for a change that breaks the rules of `Change`
 */
export function* change<T>(
  reads: ChangeReads,
  decide: Decide<T>,
  hooks: ChangeHooks,
): sql.Steps<T> {
  const { claim, owner = ALL_OWNERS } = reads;
  if (claim !== undefined && (yield* failuresOf(claim)) === undefined) throw takenOver();
  const [rows, auditRecords, events, edges, edgesOf] = yield* sql.together(
    readNodeRows(reads.nodeIds, owner),
    readAuditRecordsById(reads.auditRecordIds),
    readEventRows(reads.eventIds, owner),
    readEdgesAmong(reads.nodeIds),
    reads.edgesOf === undefined ? none() : readEdgesOf(reads.edgesOf),
  );
  const nodes = new Map(rows.map(toNode).map((node) => [node.id, node]));
  const decision = decide({
    at: momentAfter(nodes.values(), hooks.now()),
    nodes,
    auditRecords,
    events: new Map(events.map(toEvent).map((event) => [event.id, event])),
    edges,
    edgesOf,
  });
  if (decision.change !== undefined) {
    const { added = [] } = decision.change;
    const changes = nodeChanges(decision.change.nodes, nodes, added);
    const byId = new Map<string, NodeRow>(rows.map((row) => [row.id, row]));
    for (const { before, after } of changes) {
      const update = updateOfNode(before, after);
      const row = byId.get(after.id);
      if (update !== undefined)
        yield* sql.run(update.sql, row?.owner ?? null, after.id, ...update.values);
    }
    if (added.length > 0) {
      if (!hooks.mayAdd) throw brokenChange("it adds nodes");
      yield* addNodes(added, hooks.indexes);
    }
    yield* writeChange(decision.change, changes, rows, hooks);
  }
  return decision.result;
}

// biome-ignore lint/correctness/useYield: there is nothing to read.
function* none(): sql.Steps<[]> {
  return [];
}

function* writeChange(
  { edges, auditRecords, added = [] }: Change,
  nodes: readonly NodeChange[],
  rows: readonly NodeRow[],
  { indexes: { evict } }: ChangeHooks,
): sql.Steps<void> {
  for (const edge of edges) yield* writeEdge(edge);
  const written = [...nodes.map(({ after }) => after), ...added.map(({ node }) => node)];
  yield* appendRecords(auditRecords, written[0]);
  const retired = new Set<string>(nodes.filter(isRetired).map(({ after }) => after.id));
  const gone = rows.filter(({ id }) => retired.has(id));
  for (const [owner, some] of Map.groupBy(gone, (row) => row.owner)) {
    yield* evict(
      owner,
      some.map(({ key }) => key),
    );
  }
}

/** Appends the records of a change. @throws SvcError internal if one already exists */
function* appendRecords(
  records: readonly AuditRecord[],
  of: MemoryNode | undefined,
): sql.Steps<void> {
  const ids = records.map(({ id }) => id);
  const [found] = (yield* readAuditRecordsById(ids)).keys();
  const known = found ?? ids.find((id, place) => ids.indexOf(id) < place);
  if (known !== undefined) throw brokenChange(`the operation ${known} is there already`);
  const owner = of === undefined ? undefined : yield* sql.ownerKey(of.userId);
  yield* writeAuditRecords(owner ?? 0, records);
}
