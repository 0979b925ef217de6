import type { Database } from "bun:sqlite";
import { SvcError } from "../../../domain/errors.ts";
import type { MemoryEvent } from "../../../domain/event.ts";
import { isActive } from "../../../domain/lifecycle.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { type Instant, nextInstant } from "../../../lib/instant.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { Operation } from "../../../ports/store/audit-record.ts";
import type { Change, ChangeReads, Decide } from "../../../ports/store/changes.ts";
import type { KeyedNode } from "../../../ports/store/search-index.ts";
import { readOperation } from "../read/operations.ts";
import { readEvent } from "../read/read.ts";
import { readEdgesAmong, writeEdge } from "./edges.ts";
import { evict } from "./evict.ts";
import {
  changingValues,
  LASTING_MEMBERS,
  NODE_COLUMNS,
  type NodeRow,
  toNode,
  UPDATE_NODE,
} from "./rows.ts";
import { writeOperation } from "./write-operation.ts";

/**
 * Reads what a decision needs and writes what it comes to. Runs inside a write transaction, which has to be undone when it
 * throws.
 * @throws what `decide` throws; SvcError internal for a change that breaks the rules of `Change`
 */
export function change<T>(
  database: Database,
  reads: ChangeReads,
  decide: Decide<T>,
  now: Instant,
): T {
  const found = readNodes(database, reads.nodeIds);
  const decision = decide({
    at: momentAfter(found, now),
    nodes: new Map([...found].map(([id, { node }]) => [id, node])),
    operations: readOperations(database, reads.operationIds),
    events: readEvents(database, reads.eventIds),
    edges: readEdgesAmong(
      database,
      [...found.values()].map(({ key }) => key),
    ),
  });
  if (decision.change !== undefined) writeChange(database, decision.change, found);
  return decision.result;
}

type Found = ReadonlyMap<Uuid, KeyedNode>;

function readNodes(database: Database, ids: readonly Uuid[]): Found {
  const rows = database
    .query<NodeRow, [string]>(
      `SELECT ${NODE_COLUMNS} FROM json_each(?) i CROSS JOIN nodes n ON n.id = i.value
       JOIN owners o ON o.owner = n.owner`,
    )
    .all(JSON.stringify([...new Set(ids)]));
  return new Map(
    rows.map((row) => {
      const node = toNode(row);
      return [node.id, { key: row.key, node }];
    }),
  );
}

/** Whoever waited for the lock may have looked at the clock before the one who had it, and clocks of processes differ. */
function momentAfter(found: Found, now: Instant): Instant {
  const after = Array.from(found.values(), ({ node }) => nextInstant(node.updatedAt));
  return [now, ...after].sort().at(-1) ?? now;
}

function readOperations(database: Database, ids: readonly Uuid[]): ReadonlyMap<Uuid, Operation> {
  return new Map(
    ids.flatMap((id) => {
      const operation = readOperation(database, id);
      return operation === undefined ? [] : [[id, operation] as const];
    }),
  );
}

function readEvents(database: Database, ids: readonly Uuid[]): ReadonlyMap<Uuid, MemoryEvent> {
  return new Map(
    ids.flatMap((id) => {
      const event = readEvent(database, id, undefined);
      return event === undefined ? [] : [[id, event] as const];
    }),
  );
}

function writeChange(database: Database, { nodes, edges, operations }: Change, found: Found): void {
  const changes = pair(nodes, found);
  const update = database.query(UPDATE_NODE);
  for (const { key, after } of changes) update.run(...changingValues(after), key);
  for (const edge of edges) writeEdge(database, edge);
  for (const operation of operations) {
    if (readOperation(database, operation.id) !== undefined) {
      throw broken(`the operation ${operation.id} is there already`);
    }
    writeOperation(database, operation);
  }
  const retired = changes.filter(
    ({ before, after }) => isActive(before.lifecycleState) && !isActive(after.lifecycleState),
  );
  evict(
    database,
    retired.map(({ key }) => key),
  );
}

type NodeChange = {
  readonly key: number;
  readonly before: MemoryNode;
  readonly after: MemoryNode;
};

/** @throws SvcError internal */
function pair(nodes: readonly MemoryNode[], found: Found): readonly NodeChange[] {
  if (new Set(nodes.map(({ id }) => id)).size < nodes.length) {
    throw broken("a node is written twice");
  }
  return nodes.map((after) => {
    const known = found.get(after.id);
    if (known === undefined) throw broken(`the node ${after.id} is written but was not read`);
    const { key, node: before } = known;
    const altered = LASTING_MEMBERS.find((name) => after[name] !== before[name]);
    if (altered !== undefined) throw broken(`the node ${after.id} gets another ${altered}`);
    if (isActive(after.lifecycleState) && !isActive(before.lifecycleState)) {
      throw broken(
        `the node ${after.id} goes from ${before.lifecycleState} back to an active state`,
      );
    }
    return { key, before, after };
  });
}

function broken(what: string): SvcError {
  return new SvcError("internal", `a change of memories was not made: ${what}`);
}
