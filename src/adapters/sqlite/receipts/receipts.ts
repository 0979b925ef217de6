import type { Database } from "bun:sqlite";
import type { Owner } from "../../../domain/owner.ts";
import { asInstant, type Instant } from "../../../lib/instant.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { ContextNode, ReceiptPage, StoredReceipt } from "../../../ports/store/receipt-log.ts";
import { namesErased } from "../erasure/names-erased.ts";
import { hasTable } from "../schema/has-table.ts";
import { userIdOf } from "../write/owners.ts";
import { toStoredReceipt, writeContext } from "./contexts.ts";
import { bodyOf, fromIdBytes, type ReceiptRow, type StoredBody, toIdBytes } from "./receipt-row.ts";

/**
 * Keeps a receipt unless its request has one. Runs inside a write transaction.
 * @param body result of `packBody`
 * @returns false if it names something that was erased meanwhile
 */
export function writeReceipt(
  database: Database,
  receipt: StoredReceipt,
  body: StoredBody,
  context: readonly ContextNode[],
  named: readonly string[],
): boolean {
  const id = toIdBytes(receipt.requestId);
  if (database.query("SELECT 1 FROM receipts WHERE request_id = ?").get(id) !== null) return true;
  if (namesErased(database, () => named)) return false;
  const { lastInsertRowid: key } = database
    .query(
      "INSERT INTO receipts (request_id, user_id, created_at, is_compressed, body) VALUES (?, ?, ?, ?, ?)",
    )
    .run(id, receipt.userId, receipt.createdAt, body.isCompressed ? 1 : 0, body.bytes);
  writeContext(database, Number(key), context);
  return true;
}

/** The receipt of an owner's request. @throws SvcError storage_failed if its body is damaged */
export function readReceipt(
  database: Database,
  requestId: Uuid,
  owner: Owner,
): StoredReceipt | undefined {
  const row = database
    .query<Omit<ReceiptRow, "key" | "request_id">, [Uint8Array, string | null]>(
      `SELECT user_id, created_at, is_compressed, body FROM receipts
       WHERE request_id = ?1 AND (?2 IS NULL OR user_id = ?2)`,
    )
    .get(toIdBytes(requestId), userIdOf(owner));
  if (row === null) return undefined;
  return {
    requestId,
    userId: row.user_id,
    createdAt: asInstant(row.created_at),
    body: bodyOf(row, requestId),
  };
}

/** Sorts after every instant. */
const END_OF_TIME = "~";

/** A page of an owner's receipts, newest first. A body that cannot be unpacked is empty. */
export function readReceipts(database: Database, page: ReceiptPage): readonly StoredReceipt[] {
  const { before, timeFrom = "", timeTo = END_OF_TIME, userId, limit } = page;
  // One end for both: the index is entered at the first comparison with a column, which may be far from the page.
  const end = before && before.at < timeTo ? [before.at, toIdBytes(before.id)] : [timeTo, ""];
  const rows = database
    .query<Omit<ReceiptRow, "key">, (string | number | Uint8Array)[]>(
      `SELECT request_id, user_id, created_at, is_compressed, body FROM receipts
       WHERE created_at >= ? AND (created_at, request_id) < (?, ?) AND user_id = ?
       ORDER BY created_at DESC, request_id DESC LIMIT ?`,
    )
    .all(timeFrom, ...end, userId, limit);
  return rows.map(toStoredReceipt);
}

/** The requests with unreadable receipts, oldest first. @param isWhole whether a body is as it was saved */
export function damagedReceipts(
  database: Database,
  isWhole: (body: Uint8Array) => boolean,
): readonly Uuid[] {
  // A pack written by an earlier version gets the table when it is opened for writing.
  if (!hasTable(database, "receipts")) return [];
  const rows = database.prepare<StoredRow, []>(
    "SELECT request_id, is_compressed, body FROM receipts ORDER BY key",
  );
  const damaged: Uuid[] = [];
  try {
    for (const row of rows.iterate()) {
      const id = fromIdBytes(row.request_id);
      if (!isReadable(row, id, isWhole)) damaged.push(id);
    }
  } finally {
    rows.finalize();
  }
  return damaged;
}

type StoredRow = Pick<ReceiptRow, "request_id" | "is_compressed" | "body">;

function isReadable(row: StoredRow, id: Uuid, isWhole: (body: Uint8Array) => boolean): boolean {
  try {
    return isWhole(bodyOf(row, id));
  } catch {
    // It cannot be decompressed.
    return false;
  }
}

/** Removes the oldest receipts from before a moment. Runs inside a write transaction. @returns how many */
export function pruneReceipts(database: Database, before: Instant, limit: number): number {
  return database
    .query(
      `DELETE FROM receipts WHERE key IN
         (SELECT key FROM receipts WHERE created_at < ? ORDER BY created_at, key LIMIT ?)`,
    )
    .run(before, limit).changes;
}
