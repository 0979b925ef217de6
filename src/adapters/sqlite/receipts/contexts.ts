import type { Database } from "bun:sqlite";
import { asInstant } from "../../../lib/instant.ts";
import type {
  AnswerContext,
  MemoryUse,
  Page,
  StoredReceipt,
  UsePage,
} from "../../../ports/store/records.ts";
import { fromIdBytes, type ReceiptRow, toIdBytes } from "./receipt-row.ts";

/** See the port. Runs inside a write transaction. */
export function noteContexts(database: Database, contexts: readonly AnswerContext[]): void {
  const note = database.query(
    `INSERT OR IGNORE INTO receipt_nodes (node, receipt, rank, representation)
     SELECT n.key, r.key, c.value ->> 'rank', c.value ->> 'representation'
     FROM receipts r CROSS JOIN json_each(?2) c CROSS JOIN nodes n ON n.id = c.value ->> 'nodeId' WHERE r.request_id = ?1`,
  );
  for (const { requestId, context } of contexts) {
    note.run(toIdBytes(requestId), JSON.stringify(context));
  }
}

/** A receipt. */
export function toStoredReceipt(row: Omit<ReceiptRow, "key">): StoredReceipt {
  return {
    requestId: fromIdBytes(row.request_id),
    userId: row.user_id,
    createdAt: asInstant(row.created_at),
    body: row.body,
  };
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
