import type { Database } from "bun:sqlite";
import { keepsErased } from "../../../domain/erasure.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { nextTurn } from "../../../lib/pause.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { ErasureCounts, ErasureScope } from "../../../ports/store/events.ts";
import { countBlobsOf } from "../../sql/blobs.ts";
import type { PackReceiptRow } from "../../sql/receipts.ts";
import { NODE_COLUMNS, type NodeRow, toNode } from "../../sql/rows.ts";
import { ask } from "../connection/ask.ts";
import { run } from "../connection/run.ts";
import type { PackAccess } from "../pack-access.ts";
import { documentNumber } from "../write/lexical-index.ts";
import { ownerKey } from "../write/owners.ts";

/** The rows that an erasure reaches besides those of its events and nodes, by key. */
export type Reached = {
  readonly edges: readonly number[];
  readonly operations: readonly number[];
  readonly receipts: readonly number[];
  readonly counts: ErasureCounts;
};

/** All nodes of an owner that cite one of some events, in any state, by id. */
export function readResting(
  database: Database,
  userId: string,
  events: readonly Uuid[],
): readonly MemoryNode[] {
  return database
    .query<NodeRow, [string, number | null]>(
      `SELECT ${NODE_COLUMNS} FROM nodes n JOIN owners o ON o.owner = n.owner WHERE n.owner = ?2 AND n.key IN
         (SELECT c.node FROM json_each(?1) i CROSS JOIN events e ON e.id = i.value CROSS JOIN node_evidence c ON c.event = e.key)
       ORDER BY n.id`,
    )
    .all(JSON.stringify(events), ownerKey(database, userId) ?? null)
    .map(toNode);
}

/** What goes with an erasure. */
export function readReached(database: Database, scope: ErasureScope, told: Told): Reached {
  const owner = ownerKey(database, scope.userId) ?? 0;
  const nodes = keysOf(database, "nodes", scope.nodes);
  const edges = database
    .query<{ key: number; id: string }, [string]>(
      `SELECT DISTINCT e.key, e.id FROM json_each(?1) i CROSS JOIN edges e ON e.source = i.value OR e.target = i.value`,
    )
    .all(nodes);
  const ids = new Set<string>([...scope.events, ...scope.nodes, ...edges.map(({ id }) => id)]);
  const operations = readOperations(database, scope, { owner, ids });
  const receipts = readReceipts(database, scope, told);
  const count = (sql: string): number => ask<number>(database, sql, nodes, owner) ?? 0;
  return {
    edges: edges.map(({ key }) => key),
    operations,
    receipts,
    counts: {
      edges: edges.length,
      vectors: count(
        "SELECT count(*) FROM json_each(?1) i CROSS JOIN vector_metadata v ON v.node_key = i.value WHERE ?2 = ?2",
      ),
      textEntries: count(
        `SELECT count(*) FROM json_each(?1) i CROSS JOIN lexical_documents_docsize d ON d.id = ${documentNumber("?2", "i.value")}`,
      ),
      operations: operations.length,
      receipts: receipts.length,
      blobs: run(database, countBlobsOf(owner, scope.events)),
    },
  };
}

/** The keys of rows as a JSON list. */
export function keysOf(
  database: Database,
  table: "events" | "nodes",
  ids: readonly Uuid[],
): string {
  const rows = database
    .query<{ key: number }, [string]>(
      `SELECT t.key FROM json_each(?) i CROSS JOIN ${table} t ON t.id = i.value`,
    )
    .all(JSON.stringify(ids));
  return JSON.stringify(rows.map(({ key }) => key));
}

/** Operations on what is erased, and those on what stays that keep any of it. */
function readOperations(
  database: Database,
  { events, texts }: ErasureScope,
  { owner, ids }: { readonly owner: number; readonly ids: ReadonlySet<string> },
): readonly number[] {
  const own = database
    .query<{ key: number }, [string]>(
      `SELECT p.key FROM json_each(?) i CROSS JOIN operations p ON p.target_id = i.value WHERE p.payload ->> 'erased' IS NULL`,
    )
    .all(JSON.stringify([...ids]))
    .map(({ key }) => key);
  const found = new Set(own);
  const isKept = keepsErased(ids, texts);
  const since = firstPlace(database, owner, events);
  const others = database.prepare<{ key: number; opType: string; payload: string }, [number]>(
    `SELECT key, op_type AS opType, payload FROM operations
     WHERE op_type <> 'DIRECT_STORE_REQUESTED' AND key > ? AND payload ->> 'erased' IS NULL`,
  );
  try {
    for (const operation of others.iterate(since)) {
      if (!found.has(operation.key) && isKept(operation)) found.add(operation.key);
    }
  } finally {
    others.finalize();
  }
  return [...found];
}

/** Events before the erased ones that are looked at. */
const EARLIER = 10_000;

/**
 * A place in the log behind which everything is that tells of the events: an operation cannot tell of what came after it. By the
 * order of the log, since clocks jump: that of the plan of the last event before them which was stored with one.
 */
function firstPlace(database: Database, owner: number, events: readonly Uuid[]): number {
  return (
    ask<number>(
      database,
      `SELECT p.key FROM (SELECT e.key, e.id FROM events e WHERE e.owner = ?1 AND e.key <
           (SELECT min(f.key) FROM json_each(?2) i CROSS JOIN events f ON f.id = i.value) ORDER BY e.key DESC LIMIT ${EARLIER}) e
         CROSS JOIN operations p ON p.target_id = e.id AND p.op_type = 'DIRECT_STORE_REQUESTED' ORDER BY e.key DESC LIMIT 1`,
      owner,
      JSON.stringify(events),
    ) ?? 0
  );
}

type BodyRow = Omit<PackReceiptRow, "user_id" | "created_at">;

/** Of receipts that were looked at, by their requests, whether they are told of it. */
export type Told = ReadonlyMap<string, boolean>;

/** Receipts that are read at a time, and milliseconds of looking at them before other work runs. */
const RECEIPTS = 20;
const TURN_MS = 10;

/** Looks at all receipts of an owner, which takes long, before the erasure looks at those that came since. */
export async function lookAtReceipts(
  access: Pick<PackAccess, "read">,
  { userId, isTold }: Pick<ErasureScope, "userId" | "isTold">,
): Promise<Told> {
  const told = new Map<string, boolean>();
  let turn = performance.now();
  for (let after = -1; ; ) {
    const rows = await access.read((database) =>
      database
        .query<BodyRow, [string, number, number]>(
          `SELECT key, request_id, body FROM receipts WHERE user_id = ? AND key > ? ORDER BY key LIMIT ?`,
        )
        .all(userId, after, RECEIPTS),
    );
    for (const row of rows) {
      told.set(row.request_id.toHex(), isReceiptTold(row, isTold));
      if (performance.now() - turn < TURN_MS) continue;
      await nextTurn();
      turn = performance.now();
    }
    const last = rows.at(-1);
    if (last === undefined) return told;
    after = last.key;
  }
}

function readReceipts(
  database: Database,
  { userId, isTold }: Pick<ErasureScope, "userId" | "isTold">,
  told: Told,
): readonly number[] {
  const rows = database
    .query<Pick<BodyRow, "key" | "request_id">, [string]>(
      "SELECT key, request_id FROM receipts WHERE user_id = ?",
    )
    .all(userId);
  const body = database.query<BodyRow, [number]>(
    "SELECT key, request_id, body FROM receipts WHERE key = ?",
  );
  const isOne = (key: number): boolean => {
    const row = body.get(key);
    return row !== null && isReceiptTold(row, isTold);
  };
  return rows.flatMap(({ key, request_id: id }) =>
    (told.get(id.toHex()) ?? isOne(key)) ? [key] : [],
  );
}

function isReceiptTold(row: BodyRow, isTold: ErasureScope["isTold"]): boolean {
  try {
    return isTold(row.body);
  } catch {
    // What nobody can read any more may have been told of it.
    return true;
  }
}
