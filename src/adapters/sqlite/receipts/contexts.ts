import type { Database } from "bun:sqlite";
import { asInstant } from "../../../lib/instant.ts";
import type { Page } from "../../../ports/store/page.ts";
import type {
  ContextNode,
  MemoryUse,
  StoredReceipt,
  UsePage,
} from "../../../ports/store/receipt-log.ts";
import { hasRow } from "../connection/ask.ts";
import { readPackSetting, writePackSetting } from "../schema/pack-settings.ts";
import { bodyOf, fromIdBytes, type ReceiptRow, toIdBytes } from "./receipt-row.ts";

/*
 * Which memories were in the context of which answer. A program of an earlier version saves receipts without telling that, so
 * the pack records up to which key all are told; those above it are looked at again at every opening.
 */

/** Setting of a pack: the key of the last receipt that was looked at. */
const NAME = "contexts";

/** Keeps what was in a context; memories that are gone are left out. Runs inside a write transaction. */
export function writeContext(
  database: Database,
  receipt: number,
  context: readonly ContextNode[],
): void {
  const insert = database.query(
    `INSERT OR IGNORE INTO receipt_nodes (node, receipt, rank, representation)
     SELECT key, ?, ?, ? FROM nodes WHERE id = ?`,
  );
  for (const { nodeId, rank, representation } of context) {
    insert.run(receipt, rank, representation, nodeId);
  }
}

/** A receipt; a body that cannot be unpacked is empty. */
export function toStoredReceipt(row: Omit<ReceiptRow, "key">): StoredReceipt {
  const requestId = fromIdBytes(row.request_id);
  let body: Uint8Array;
  try {
    body = bodyOf(row, requestId);
  } catch {
    body = new Uint8Array();
  }
  return { requestId, userId: row.user_id, createdAt: asInstant(row.created_at), body };
}

function readCursor(database: Database): number {
  return Number(readPackSetting(database, NAME) ?? 0);
}

/** Whether there are receipts that were not looked at. */
export function hasUntoldContexts(database: Database): boolean {
  return hasRow(database, "receipts WHERE key > ?", readCursor(database));
}

/** Tells the next contexts that were not told. Runs inside a write transaction. @returns whether there may be more */
export function fillContexts(
  database: Database,
  limit: number,
  contextOf: (receipt: StoredReceipt) => readonly ContextNode[],
): boolean {
  const rows = database
    .query<ReceiptRow & { readonly is_told: number }, [number, number]>(
      `SELECT key, request_id, user_id, created_at, is_compressed, body,
         EXISTS (SELECT 1 FROM receipt_nodes c WHERE c.receipt = r.key) AS is_told
       FROM receipts r WHERE key > ? ORDER BY key LIMIT ?`,
    )
    .all(readCursor(database), limit);
  for (const row of rows) {
    if (row.is_told === 0) writeContext(database, row.key, contextOf(toStoredReceipt(row)));
  }
  const last = rows.at(-1)?.key;
  if (last !== undefined) writePackSetting(database, NAME, String(last));
  return rows.length === limit;
}

type UseRow = { readonly receipt: number; readonly rank: number; readonly representation: string };

/** A page of the answers in whose context a memory was. Only keys are sorted. */
export function readUses(database: Database, page: UsePage): Page<MemoryUse> {
  const { before, limit } = page;
  const place = before === undefined ? "" : "AND (r.created_at, r.request_id) < (?, ?)";
  const found = database
    .query<UseRow, (string | number | Uint8Array)[]>(
      `SELECT c.receipt, c.rank, c.representation FROM nodes n CROSS JOIN receipt_nodes c ON c.node = n.key
       CROSS JOIN receipts r ON r.key = c.receipt WHERE n.id = ? AND r.user_id = ? ${place}
       ORDER BY r.created_at DESC, r.request_id DESC LIMIT ?`,
    )
    .all(
      page.nodeId,
      page.userId,
      ...(before === undefined ? [] : [before.at, toIdBytes(before.id)]),
      limit + 1,
    );
  const read = database.query<ReceiptRow, [number]>("SELECT * FROM receipts WHERE key = ?");
  const items = found.slice(0, limit).flatMap(({ receipt, ...use }) => {
    const row = read.get(receipt);
    return row === null ? [] : [{ ...use, receipt: toStoredReceipt(row) }];
  });
  return { items, hasMore: found.length > limit };
}
