import type { Owner } from "../../../domain/owner.ts";
import { asInstant, type Instant } from "../../../lib/instant.ts";
import { asUuid, type Uuid } from "../../../lib/uuid.ts";
import type { ReceiptLog, ReceiptPage, StoredReceipt } from "../../../ports/store/receipt-log.ts";
import { END_OF_TIME, FIRST_ID } from "../conditions.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { ownerKey, ownerKeyOrNull } from "../owner-key.ts";

type ReceiptRow = {
  readonly request_id: string;
  readonly user_id: string;
  readonly created_at: string;
  readonly body: Uint8Array;
};

const FROM_RECEIPTS = "SELECT request_id, user_id, created_at, body FROM receipts";

/** The records of retrievals. The server compresses their bodies. */
export function bindReceipts({ read, writeAny }: Database) {
  return {
    // One statement, which may run twice, needs no transaction around it.
    saveReceipt: (receipt) => read(receipt.userId, (sql) => writeReceipt(sql, receipt)),
    receipt: (requestId, owner) => read(owner, (sql) => readReceipt(sql, requestId, owner)),
    receipts: (page) => read(page.userId, (sql) => readReceipts(sql, page)),
    pruneReceipts: (before, limit) => writeAny((sql) => pruneReceipts(sql, before, limit)),
  } satisfies ReceiptLog;
}

/** Keeps a receipt unless its request has one. */
async function writeReceipt(sql: Sql, receipt: StoredReceipt): Promise<void> {
  const { requestId, userId, createdAt, body } = receipt;
  await sql.run(
    `INSERT INTO receipts (owner, request_id, user_id, created_at, body) VALUES ($1::bigint, $2::uuid, $3, $4, $5)
     ON CONFLICT DO NOTHING`,
    ...[ownerKey(userId), requestId, userId, createdAt, body],
  );
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

function toReceipt({ request_id, user_id: userId, created_at, body }: ReceiptRow): StoredReceipt {
  return {
    requestId: asUuid(request_id),
    userId,
    createdAt: asInstant(created_at),
    // A plain array, whatever the driver gives.
    body: new Uint8Array(body.buffer, body.byteOffset, body.byteLength),
  };
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
