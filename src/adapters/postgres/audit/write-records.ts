import { auditRecordForm } from "../../../domain/records/audit.ts";
import { rowWriter } from "../../../domain/records/rows.ts";
import type { AuditRecord } from "../../../ports/store/audit-record.ts";
import { type Column, insertMany } from "../connection/insert-many.ts";
import type { Sql } from "../connection/sql.ts";
import type { OwnerKey } from "../owner-key.ts";

const COLUMNS: readonly Column[] = [
  ["owner", "bigint"],
  ["id", "uuid"],
  ["op_type", "text"],
  ["target_id", "text"],
  ["payload", "text"],
  ["actor_id", "text"],
  ["namespace_id", "text"],
  ["created_at", "text"],
];
const valuesOf = rowWriter(auditRecordForm);

/** Appends audit records in their order. Runs inside a write transaction. */
export async function writeAuditRecords(
  sql: Sql,
  owner: OwnerKey,
  records: readonly AuditRecord[],
): Promise<void> {
  const rows = records.map((record) => [owner, ...valuesOf(record)]);
  await insertMany(sql, "operations", COLUMNS, rows);
}
