import type { Database } from "bun:sqlite";
import { takenOver } from "../../../domain/jobs.ts";
import type { MemoryEvent, MemoryNode } from "../../../domain/node.ts";
import { ALL_OWNERS, type Owner } from "../../../domain/owner.ts";
import {
  brokenChange,
  isRetired,
  momentAfter,
  type NodeChange,
  nodeChanges,
} from "../../../domain/search/change.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { Change, ChangeReads, Decide } from "../../../ports/store/graph.ts";
import type { AuditRecord } from "../../../ports/store/records.ts";
import type { IndexedNode, KeyedNode } from "../../../ports/store/search-index.ts";
import { readAuditRecordsById, writeAuditRecords } from "../../sql/audit.ts";
import { failuresOf } from "../../sql/work.ts";
import { run } from "../connection/run.ts";
import { readEvent } from "../read/read.ts";
import { evictVectors } from "../vectors/write-vectors.ts";
import { readEdgesAmong, readEdgesOf, writeEdge } from "./edges.ts";
import { advanceIndexSequence } from "./index-sequence.ts";
import { removeDocuments } from "./lexical-index.ts";
import { userIdOf } from "./owners.ts";
import { NODE_COLUMNS, type NodeRow, toNode, updateOfNode } from "./rows.ts";
import { readTurns } from "./turns.ts";

/**
 * Reads what a decision needs and writes what it comes to. Runs inside a write transaction, which has to be undone when it
 * throws.
 * @param add writes new nodes with their index entries; absent: decisions add none
 * @throws what `decide` throws; what `takenOver` says of the claim; SvcError internal for a change that breaks the rules of `Change`
 */
export function change<T>(
  database: Database,
  reads: ChangeReads,
  decide: Decide<T>,
  now: Instant,
  add?: (database: Database, items: readonly IndexedNode[]) => void,
): T {
  const { claim, owner = ALL_OWNERS } = reads;
  if (claim !== undefined && run(database, failuresOf(claim)) === undefined) throw takenOver();
  const found = readNodes(database, reads.nodeIds, owner);
  const nodes = new Map([...found].map(([id, { node }]) => [id, node]));
  const decision = decide({
    at: momentAfter(nodes.values(), now),
    nodes,
    auditRecords: run(database, readAuditRecordsById(reads.auditRecordIds)),
    events: readEvents(database, reads.eventIds, owner),
    edges: readEdgesAmong(
      database,
      [...found.values()].map(({ key }) => key),
    ),
    edgesOf: reads.edgesOf === undefined ? [] : readEdgesOf(database, reads.edgesOf),
  });
  if (decision.change !== undefined) {
    const { added = [] } = decision.change;
    const changes = nodeChanges(decision.change.nodes, nodes, added);
    for (const { before, after } of changes) {
      const update = updateOfNode(before, after);
      const key = found.get(after.id)?.key ?? 0;
      if (update !== undefined) database.query(update.sql).run(...update.values, key);
    }
    if (added.length > 0) {
      if (add === undefined) throw brokenChange("it adds nodes");
      add(database, added);
    }
    writeChange(database, decision.change, changes, (node) => found.get(node.id)?.key ?? 0);
  }
  return decision.result;
}

/** Nodes of an owner, by id. */
export function readNodes(
  database: Database,
  ids: readonly Uuid[],
  owner: Owner = ALL_OWNERS,
): ReadonlyMap<Uuid, KeyedNode<number>> {
  const rows = database
    .query<NodeRow, [string, string | null]>(
      `SELECT ${NODE_COLUMNS} FROM json_each(?1) i CROSS JOIN nodes n ON n.id = i.value
       JOIN owners o ON o.owner = n.owner WHERE ?2 IS NULL OR n.owner = (SELECT owner FROM owners WHERE user_id = ?2)`,
    )
    .all(JSON.stringify([...new Set(ids)]), userIdOf(owner));
  return new Map(
    rows.map((row) => {
      const node = toNode(row);
      return [node.id, { key: row.key, node }];
    }),
  );
}

function readEvents(
  database: Database,
  ids: readonly Uuid[],
  owner: Owner,
): ReadonlyMap<Uuid, MemoryEvent> {
  return new Map(
    ids.flatMap((id) => {
      const event = readEvent(database, id, owner);
      return event === undefined ? [] : [[id, event] as const];
    }),
  );
}

function writeChange(
  database: Database,
  { edges, auditRecords }: Change,
  nodes: readonly NodeChange[],
  keyOf: (node: MemoryNode) => number,
): void {
  for (const edge of edges) writeEdge(database, edge);
  requireNew(database, auditRecords);
  run(database, writeAuditRecords(0, auditRecords));
  const retired = nodes.filter(isRetired);
  evict(
    database,
    retired.map(({ after }) => keyOf(after)),
  );
}

/** @throws SvcError internal for a record that is there already, or twice */
function requireNew(database: Database, records: readonly AuditRecord[]): void {
  const ids = new Set<string>();
  const known = database
    .query<{ id: string }, [string]>(
      "SELECT o.id FROM json_each(?) i CROSS JOIN operations o ON o.id = i.value",
    )
    .all(JSON.stringify(records.map(({ id }) => id)));
  for (const { id } of [...known, ...records]) {
    if (ids.has(id)) throw brokenChange(`the operation ${id} is there already`);
    ids.add(id);
  }
}

/**
 * Removes nodes that are no longer active from both indexes, and rewrites what is indexed for the turns around them, as if they
 * had never existed. The cost does not grow with the length of a conversation. Runs inside a write transaction, after the new
 * states are written.
 */
export function evict(database: Database, keys: readonly number[]): void {
  if (keys.length === 0) return;
  const gone = readTurns(database, keys);
  // The vectors first: once the word index has changes, each write to the vector index is a savepoint for it, which costs several
  // times as much as the write.
  evictVectors(database, gone);
  removeDocuments(database, gone);
  advanceIndexSequence(database);
}
