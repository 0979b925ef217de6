import type { Page } from "../../../ports/store/page.ts";
import type {
  ContextNode,
  MemoryUse,
  StoredReceipt,
  UsePage,
} from "../../../ports/store/receipt-log.ts";
import { END_OF_TIME, FIRST_ID } from "../conditions.ts";
import { type Column, insertMany } from "../connection/insert-many.ts";
import type { Sql } from "../connection/sql.ts";
import { ownerKey } from "../owner-key.ts";
import { type ReceiptRow, toReceipt } from "./receipt-row.ts";

const COLUMNS: readonly Column[] = [
  ["owner", "bigint"],
  ["request_id", "uuid"],
  ["node_id", "uuid"],
  ["rank", "integer"],
  ["representation", "text"],
];

type UseRow = ReceiptRow & Omit<ContextNode, "nodeId">;

/** A page of the answers in whose context a memory was. */
export async function readUses(sql: Sql, page: UsePage): Promise<Page<MemoryUse>> {
  const { userId, nodeId, before, limit } = page;
  const rows = await sql.all<UseRow>(
    `SELECT c.rank, c.representation, r.request_id, r.user_id, r.created_at, r.body
     FROM receipt_nodes c JOIN receipts r ON r.owner = c.owner AND r.request_id = c.request_id
     WHERE c.owner = $1::bigint AND c.node_id = $2::uuid AND (r.created_at, r.request_id) < ($3, $4::uuid)
     ORDER BY r.created_at DESC, r.request_id DESC LIMIT $5`,
    ...[ownerKey(userId), nodeId, before?.at ?? END_OF_TIME, before?.id ?? FIRST_ID, limit + 1],
  );
  const items = rows.slice(0, limit).map(({ rank, representation, ...row }) => {
    return { rank, representation, receipt: toReceipt(row) };
  });
  return { items, hasMore: rows.length > limit };
}

/** Whether there are receipts whose context was not told. */
export async function hasUntoldContexts(sql: Sql): Promise<boolean> {
  return (await sql.get("SELECT 1 FROM receipts WHERE is_told = 0 LIMIT 1")) !== undefined;
}

/** Tells the next contexts that were not told. Runs inside a transaction. @returns whether there may be more */
export async function fillContexts(
  sql: Sql,
  limit: number,
  contextOf: (receipt: StoredReceipt) => readonly ContextNode[],
): Promise<boolean> {
  // Another process may be doing the same.
  const rows = await sql.all<ReceiptRow & { readonly owner: string }>(
    `UPDATE receipts r SET is_told = 1 FROM (SELECT owner, request_id FROM receipts WHERE is_told = 0
       ORDER BY created_at, request_id LIMIT $1 FOR UPDATE SKIP LOCKED) old
     WHERE r.owner = old.owner AND r.request_id = old.request_id
     RETURNING r.owner, r.request_id, r.user_id, r.created_at, r.body`,
    limit,
  );
  const told = rows.flatMap((row) =>
    contextOf(toReceipt(row)).map(({ nodeId, rank, representation }) => {
      return [row.owner, row.request_id, nodeId, rank, representation];
    }),
  );
  await insertMany(sql, "receipt_nodes", COLUMNS, told, "ON CONFLICT DO NOTHING");
  return rows.length === limit;
}
