import { FORGOTTEN } from "../../../domain/erasure.ts";
import type { Owner } from "../../../domain/owner.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type {
  AnswerContext,
  ContextNode,
  ReceiptLog,
  ReceiptPage,
  StoredReceipt,
} from "../../../ports/store/records.ts";
import { END_OF_TIME, FIRST_ID } from "../conditions.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import { keepFromErasing } from "../erasure/names-erased.ts";
import { ownerKey, ownerKeyOrNull } from "../owner-key.ts";
import { readUses } from "./contexts.ts";
import { type ReceiptRow, toReceipt } from "./receipt-row.ts";

const FROM_RECEIPTS = "SELECT request_id, user_id, created_at, body FROM receipts";

/** The records of retrievals. The server compresses their bodies. */
export function bindReceipts({ read, writeAny }: Database) {
  return {
    saveReceipt: (receipt, forgettings) =>
      writeAny((sql) => writeReceipt(sql, receipt, forgettings)),
    noteContexts: (contexts) => writeAny((sql) => noteContexts(sql, contexts)),
    forgettings: (userId) => read(userId, (sql) => countForgettings(sql, userId)),
    receipt: (requestId, owner) => read(owner, (sql) => readReceipt(sql, requestId, owner)),
    receipts: (page) => read(page.userId, (sql) => readReceipts(sql, page)),
    usesOf: (page) => read(page.userId, (sql) => readUses(sql, page)),
    pruneReceipts: (before, limit) => writeAny((sql) => pruneReceipts(sql, before, limit)),
  } satisfies ReceiptLog;
}

/**
 * Keeps a receipt unless its request has one. Runs inside a transaction.
 * @param forgettings how many the owner had when the question began; undefined: whatever there are
 * @returns false if there are others now
 */
async function writeReceipt(
  sql: Sql,
  receipt: StoredReceipt,
  forgettings?: number,
): Promise<boolean> {
  // Pipelined: no erasure of the owner is under way from here on.
  const [, now] = await Promise.all([
    keepFromErasing(sql, ownerKey(receipt.userId), "shared"),
    forgettings === undefined ? undefined : countForgettings(sql, receipt.userId),
  ]);
  if (now !== forgettings) return false;
  const { requestId, userId, createdAt, body } = receipt;
  await sql.run(
    `INSERT INTO receipts (owner, request_id, user_id, created_at, body) VALUES ($1::bigint, $2::uuid, $3, $4, $5)
     ON CONFLICT DO NOTHING`,
    ...[ownerKey(userId), requestId, userId, createdAt, body],
  );
  return true;
}

/** See the port. Runs inside a transaction. */
async function noteContexts(sql: Sql, contexts: readonly AnswerContext[]): Promise<void> {
  for (const { requestId, userId, context } of contexts) {
    const of = (member: keyof ContextNode) => listText(context.map((node) => node[member]));
    await Promise.all([
      keepFromErasing(sql, ownerKey(userId), "shared"),
      sql.run(
        `INSERT INTO receipt_nodes (owner, request_id, node_id, rank, representation)
           SELECT r.owner, r.request_id, c.* FROM receipts r CROSS JOIN unnest($3::uuid[], $4::integer[], $5::text[]) c
           WHERE r.owner = $1::bigint AND r.request_id = $2::uuid
         ON CONFLICT DO NOTHING`,
        ...[ownerKey(userId), requestId, of("nodeId"), of("rank"), of("representation")],
      ),
    ]);
  }
}

async function countForgettings(sql: Sql, userId: string): Promise<number> {
  const row = await sql.get<{ readonly count: number }>(
    `SELECT count(*)::integer AS count FROM operations
     WHERE namespace_id = $1 AND op_type = '${FORGOTTEN}' AND op_type <> 'DIRECT_STORE_REQUESTED'`,
    userId,
  );
  return row?.count ?? 0;
}

async function readReceipt(
  sql: Sql,
  requestId: Uuid,
  owner: Owner,
): Promise<StoredReceipt | undefined> {
  const row = await sql.get<ReceiptRow>(
    `${FROM_RECEIPTS} WHERE request_id = $1::uuid AND ($2::bigint IS NULL OR owner = $2::bigint)
     ORDER BY created_at LIMIT 1`,
    requestId,
    ownerKeyOrNull(owner),
  );
  return row && toReceipt(row);
}

/** A page of an owner's receipts, newest first. */
async function readReceipts(sql: Sql, page: ReceiptPage): Promise<readonly StoredReceipt[]> {
  const { before, timeFrom = "", timeTo = END_OF_TIME, userId, limit } = page;
  const rows = await sql.all<ReceiptRow>(
    `${FROM_RECEIPTS} WHERE owner = $1::bigint AND created_at >= $2 AND created_at < $3
       AND (created_at, request_id) < ($4, $5::uuid) ORDER BY created_at DESC, request_id DESC LIMIT $6`,
    ...[
      ownerKey(userId),
      timeFrom,
      timeTo,
      before?.at ?? END_OF_TIME,
      before?.id ?? FIRST_ID,
      limit,
    ],
  );
  return rows.map(toReceipt);
}

/** Removes the oldest receipts from before a moment. Runs inside a transaction. @returns how many */
async function pruneReceipts(sql: Sql, before: Instant, limit: number): Promise<number> {
  return await sql.run(
    `DELETE FROM receipts r USING (SELECT owner, request_id FROM receipts WHERE created_at < $1
       ORDER BY created_at, request_id LIMIT $2) old
     WHERE r.owner = old.owner AND r.request_id = old.request_id`,
    before,
    limit,
  );
}
