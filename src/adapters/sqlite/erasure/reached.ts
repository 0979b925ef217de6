import type { Database } from "bun:sqlite";
import { keepsErased } from "../../../domain/erasure.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { ErasureCounts, ErasureScope } from "../../../ports/store/erasures.ts";
import { countBlobsOf } from "../blobs/blobs.ts";
import { ask } from "../connection/ask.ts";
import { bodyOf, fromIdBytes, type ReceiptRow } from "../receipts/receipt-row.ts";
import { documentNumber } from "../write/lexical-index.ts";
import { ownerKey } from "../write/owners.ts";
import { NODE_COLUMNS, type NodeRow, toNode } from "../write/rows.ts";

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
export function readReached(database: Database, scope: ErasureScope): Reached {
  const owner = ownerKey(database, scope.userId) ?? 0;
  const nodes = keysOf(database, "nodes", scope.nodes);
  const edges = database
    .query<{ key: number; id: string }, [string]>(
      `SELECT DISTINCT e.key, e.id FROM json_each(?1) i CROSS JOIN edges e ON e.source = i.value OR e.target = i.value`,
    )
    .all(nodes);
  const ids = new Set<string>([...scope.events, ...scope.nodes, ...edges.map(({ id }) => id)]);
  const operations = readOperations(database, scope, ids);
  const receipts = readReceipts(database, scope);
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
      blobs: countBlobsOf(database, keysOf(database, "events", scope.events)),
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
  ids: ReadonlySet<string>,
): readonly number[] {
  const own = database
    .query<{ key: number }, [string]>(
      `SELECT p.key FROM json_each(?) i CROSS JOIN operations p ON p.target_id = i.value WHERE p.payload ->> 'erased' IS NULL`,
    )
    .all(JSON.stringify([...ids]))
    .map(({ key }) => key);
  const found = new Set(own);
  const isKept = keepsErased(ids, texts);
  // An operation cannot tell of what came after it.
  const since = ask<string>(
    database,
    `SELECT min(coalesce(e.timestamp, n.created_at)) FROM json_each(?) i
       LEFT JOIN events e ON e.id = i.value LEFT JOIN nodes n ON n.id = i.value`,
    JSON.stringify(events.length > 0 ? events : [...ids]),
  );
  const others = database.prepare<{ key: number; opType: string; payload: string }, [string]>(
    `SELECT key, op_type AS opType, payload FROM operations
     WHERE op_type <> 'DIRECT_STORE_REQUESTED' AND created_at >= ? AND payload ->> 'erased' IS NULL`,
  );
  try {
    for (const operation of others.iterate(since ?? "")) {
      if (!found.has(operation.key) && isKept(operation)) found.add(operation.key);
    }
  } finally {
    others.finalize();
  }
  return [...found];
}

type BodyRow = Omit<ReceiptRow, "user_id" | "created_at">;

function readReceipts(
  database: Database,
  { userId, isTold }: Pick<ErasureScope, "userId" | "isTold">,
): readonly number[] {
  const rows = database.prepare<BodyRow, [string]>(
    "SELECT key, request_id, is_compressed, body FROM receipts WHERE user_id = ?",
  );
  const found: number[] = [];
  try {
    for (const row of rows.iterate(userId)) if (isReceiptTold(row, isTold)) found.push(row.key);
  } finally {
    rows.finalize();
  }
  return found;
}

function isReceiptTold(row: BodyRow, isTold: ErasureScope["isTold"]): boolean {
  try {
    return isTold(bodyOf(row, fromIdBytes(row.request_id)));
  } catch {
    // What nobody can read any more may have been told of it.
    return true;
  }
}
