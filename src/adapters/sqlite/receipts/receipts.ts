import type { Database } from "bun:sqlite";
import { FORGOTTEN } from "../../../domain/erasure.ts";
import type { Owner } from "../../../domain/owner.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { ReceiptPage, StoredReceipt } from "../../../ports/store/records.ts";
import { countRows } from "../connection/ask.ts";
import { userIdOf } from "../write/owners.ts";
import { toStoredReceipt } from "./contexts.ts";
import { fromIdBytes, type ReceiptRow, toIdBytes } from "./receipt-row.ts";

const FORGETTINGS = `operations WHERE namespace_id = ? AND op_type = '${FORGOTTEN}' AND op_type <> 'DIRECT_STORE_REQUESTED'`;

/**
 * Keeps a receipt unless its request has one. Runs inside a write transaction.
 * @param forgettings how many the owner had when the question began; undefined: whatever there are
 * @returns false if there are others now
 */
export function writeReceipt(
  database: Database,
  receipt: StoredReceipt,
  forgettings?: number,
): boolean {
  const id = toIdBytes(receipt.requestId);
  if (database.query("SELECT 1 FROM receipts WHERE request_id = ?").get(id) !== null) return true;
  const isForgotten =
    forgettings !== undefined && forgettings !== countForgettings(database, receipt.userId);
  if (isForgotten) return false;
  database
    .query("INSERT INTO receipts (request_id, user_id, created_at, body) VALUES (?, ?, ?, ?)")
    .run(id, receipt.userId, receipt.createdAt, receipt.body);
  return true;
}

/** How many erasures there were of what an owner has. */
export function countForgettings(database: Database, userId: string): number {
  return countRows(database, FORGETTINGS, userId);
}

/** The receipt of an owner's request. */
export function readReceipt(
  database: Database,
  requestId: Uuid,
  owner: Owner,
): StoredReceipt | undefined {
  const row = database
    .query<Omit<ReceiptRow, "key">, [Uint8Array, string | null]>(
      `SELECT request_id, user_id, created_at, body FROM receipts
       WHERE request_id = ?1 AND (?2 IS NULL OR user_id = ?2)`,
    )
    .get(toIdBytes(requestId), userIdOf(owner));
  return row === null ? undefined : toStoredReceipt(row);
}

/** Sorts after every instant. */
const END_OF_TIME = "~";

/** A page of an owner's receipts, newest first. */
export function readReceipts(database: Database, page: ReceiptPage): readonly StoredReceipt[] {
  const { before, timeFrom = "", timeTo = END_OF_TIME, userId, limit } = page;
  // One end for both: the index is entered at the first comparison with a column, which may be far from the page.
  const end = before && before.at < timeTo ? [before.at, toIdBytes(before.id)] : [timeTo, ""];
  const rows = database
    .query<Omit<ReceiptRow, "key">, (string | number | Uint8Array)[]>(
      `SELECT request_id, user_id, created_at, body FROM receipts
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
  const rows = database.prepare<Pick<ReceiptRow, "request_id" | "body">, []>(
    "SELECT request_id, body FROM receipts ORDER BY key",
  );
  const damaged: Uuid[] = [];
  try {
    for (const row of rows.iterate()) {
      if (!isWhole(row.body)) damaged.push(fromIdBytes(row.request_id));
    }
  } finally {
    rows.finalize();
  }
  return damaged;
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
