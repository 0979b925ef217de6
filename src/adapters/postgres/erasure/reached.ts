import { keepsErased } from "../../../domain/erasure.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { nextTurn } from "../../../lib/pause.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { ErasureCounts, ErasureScope } from "../../../ports/store/events.ts";
import { countBlobsOf } from "../../sql/blobs.ts";
import { FROM_NODES, type NodeRow, toNode } from "../../sql/rows.ts";
import { beyondWall } from "../connection/row-security.ts";
import { run } from "../connection/run.ts";
import type { Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import { type OwnerKey, ownerKey } from "../owner-key.ts";

/** The rows that an erasure reaches besides those of its events and nodes. */
export type Reached = {
  /** Places in the log. */
  readonly operations: readonly string[];
  readonly receipts: readonly string[];
  readonly counts: ErasureCounts;
};

/** All nodes of an owner that cite one of some events, in any state, by id. */
export async function readResting(
  sql: Sql,
  userId: string,
  events: readonly Uuid[],
): Promise<readonly MemoryNode[]> {
  const rows = await sql.all<NodeRow>(
    `${FROM_NODES} WHERE n.owner = $1::bigint AND n.key IN
       (SELECT c.node_key FROM node_evidence c WHERE c.owner = $1::bigint AND c.event_id = ANY ($2::uuid[])) ORDER BY n.id`,
    ownerKey(userId),
    listText(events),
  );
  return rows.map(toNode);
}

/** What goes with an erasure. */
export async function readReached(sql: Sql, scope: ErasureScope): Promise<Reached> {
  const owner = ownerKey(scope.userId);
  const nodes = listText(scope.nodes);
  const edges = await sql.all<{ id: string }>(
    "SELECT id FROM edges WHERE owner = $1::bigint AND (source = ANY ($2::uuid[]) OR target = ANY ($2::uuid[]))",
    owner,
    nodes,
  );
  const ids = new Set<string>([...scope.events, ...scope.nodes, ...edges.map(({ id }) => id)]);
  const [operations, receipts, vectors, texts, blobs] = await Promise.all([
    readOperations(sql, scope, owner, ids),
    readReceipts(sql, scope, owner),
    sql.get<{ n: number }>(
      `SELECT count(*)::int AS n FROM vectors v JOIN nodes n ON n.owner = v.owner AND n.key = v.key
       WHERE n.owner = $1::bigint AND n.id = ANY ($2::uuid[])`,
      owner,
      nodes,
    ),
    sql.get<{ n: number }>(
      `SELECT count(*)::int AS n FROM nodes WHERE owner = $1::bigint AND id = ANY ($2::uuid[])
         AND lifecycle_state IN ('tentative', 'stable', 'contested') AND content <> ''`,
      owner,
      nodes,
    ),
    run(sql, countBlobsOf(owner, scope.events)),
  ]);
  const counts: ErasureCounts = {
    edges: edges.length,
    vectors: vectors?.n ?? 0,
    textEntries: texts?.n ?? 0,
    operations: operations.length,
    receipts: receipts.length,
    blobs,
  };
  return { operations, receipts, counts };
}

/** Operations on what is erased, and those on what stays that keep any of it. */
async function readOperations(
  sql: Sql,
  { texts }: ErasureScope,
  owner: OwnerKey,
  ids: ReadonlySet<string>,
): Promise<readonly string[]> {
  // Those that were written while somebody else had what they are about stay with that owner.
  const own = await beyondWall(sql).all<{ key: string }>(
    "SELECT key::text AS key FROM operations WHERE target_id = ANY ($1::text[]) AND payload::json ->> 'erased' IS NULL",
    listText(ids),
  );
  const found = new Set(own.map(({ key }) => key));
  const isKept = keepsErased(ids, texts);
  const others = await sql.all<{ key: string; op_type: string; payload: string }>(
    `SELECT key::text AS key, op_type, payload FROM operations
     WHERE owner IN ($1::bigint, 0) AND op_type <> 'DIRECT_STORE_REQUESTED' AND payload::json ->> 'erased' IS NULL`,
    owner,
  );
  for (const { key, op_type: opType, payload } of others) {
    if (isKept({ opType, payload })) found.add(key);
  }
  return [...found];
}

async function readReceipts(
  sql: Sql,
  { isTold }: ErasureScope,
  owner: OwnerKey,
): Promise<readonly string[]> {
  const rows = await sql.all<{ request_id: string; body: Uint8Array }>(
    "SELECT request_id, body FROM receipts WHERE owner = $1::bigint",
    owner,
  );
  const told: string[] = [];
  for (const { request_id: id, body } of rows) {
    if (isTold(new Uint8Array(body.buffer, body.byteOffset, body.byteLength))) told.push(id);
    await nextTurn();
  }
  return told;
}
