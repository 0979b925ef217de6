import type { ContextNode, MemoryUse, Page, UsePage } from "../../../ports/store/records.ts";
import { END_OF_TIME, FIRST_ID } from "../conditions.ts";
import type { Sql } from "../connection/sql.ts";
import { ownerKey } from "../owner-key.ts";
import { type ReceiptRow, toReceipt } from "./receipt-row.ts";

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
