import { takenOver } from "../../domain/jobs.ts";
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
import type { Change, ChangeReads, Decide } from "../../ports/store/graph.ts";
import type { AuditRecord } from "../../ports/store/records.ts";
import type { IndexedNode } from "../../ports/store/search-index.ts";
import { readAuditRecordsById, writeAuditRecords } from "./audit.ts";
import { readEdgesAmong, readEdgesOf, writeEdge } from "./edges.ts";
import { readEventRows } from "./events.ts";
import { readNodeRows } from "./nodes.ts";
import { type NodeRow, toEvent, toNode, updateOfNode } from "./rows.ts";
import { type OwnerKey, ownerKey, run, type Steps, together } from "./statement.ts";
import { failuresOf } from "./work.ts";

/** What each store does in its own way. */
export type ChangeHooks = {
  readonly now: () => Instant;
  /** Writes new nodes with their index entries; absent: decisions add none. */
  readonly add?: ((items: readonly IndexedNode[]) => Steps<void>) | undefined;
  /** Removes nodes that are no longer active from both indexes, and rewrites what is indexed for the turns around them. */
  readonly evict: (owner: OwnerKey, keys: readonly number[]) => Steps<void>;
};

/**
 * Reads what a decision needs and writes what it comes to. Runs inside a write transaction, which has to be undone when it throws.
 * @throws what `decide` throws; what `takenOver` says of the claim; SvcError internal for a change that breaks the rules of `Change`
 */
export function* change<T>(reads: ChangeReads, decide: Decide<T>, hooks: ChangeHooks): Steps<T> {
  const { claim, owner = ALL_OWNERS } = reads;
  if (claim !== undefined && (yield* failuresOf(claim)) === undefined) throw takenOver();
  const [rows, auditRecords, events, edges, edgesOf] = yield* together(
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
        yield* run(update.sql, row?.owner ?? null, after.id, ...update.values);
    }
    if (added.length > 0) {
      if (hooks.add === undefined) throw brokenChange("it adds nodes");
      yield* hooks.add(added);
    }
    yield* writeChange(decision.change, changes, rows, hooks);
  }
  return decision.result;
}

// biome-ignore lint/correctness/useYield: there is nothing to read.
function* none(): Steps<[]> {
  return [];
}

function* writeChange(
  { edges, auditRecords, added = [] }: Change,
  nodes: readonly NodeChange[],
  rows: readonly NodeRow[],
  { evict }: ChangeHooks,
): Steps<void> {
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

/** Appends the records of a change. @throws SvcError internal if one is there already */
function* appendRecords(records: readonly AuditRecord[], of: MemoryNode | undefined): Steps<void> {
  const ids = records.map(({ id }) => id);
  const [found] = (yield* readAuditRecordsById(ids)).keys();
  const known = found ?? ids.find((id, place) => ids.indexOf(id) < place);
  if (known !== undefined) throw brokenChange(`the operation ${known} is there already`);
  const owner = of === undefined ? undefined : yield* ownerKey(of.userId);
  yield* writeAuditRecords(owner ?? 0, records);
}
