import { SvcError } from "../../../domain/errors.ts";
import { auditRecordForm } from "../../../domain/records/audit.ts";
import { rowWriter } from "../../../domain/records/rows.ts";
import type { AuditRecord } from "../../../ports/store/records.ts";
import { type Column, insertion, listsOf } from "../connection/insert-many.ts";
import { beyondWall } from "../connection/row-security.ts";
import type { Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
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
/** A key has an owner, and an id none: what another one's transaction wrote is looked for. */
const APPEND = `WITH written AS (${insertion("operations", COLUMNS)})
  SELECT id FROM operations WHERE id = ANY ($${COLUMNS.length + 1}::uuid[]) LIMIT 1`;
const valuesOf = rowWriter(auditRecordForm);

/**
 * Appends audit records in their order. Runs inside a write transaction.
 * @throws SvcError storage_failed if one of them is there already
 */
export async function writeAuditRecords(
  sql: Sql,
  owner: OwnerKey,
  records: readonly AuditRecord[],
): Promise<void> {
  if (records.length === 0) return;
  const rows = records.map((record) => [owner, ...valuesOf(record)]);
  const known = await beyondWall(sql).get<{ id: string }>(
    APPEND,
    ...listsOf(COLUMNS, rows),
    listText(records.map(({ id }) => id)),
  );
  if (known === undefined) return;
  const message = `the operation ${known.id} is there already; nothing of this call was stored`;
  throw new SvcError("storage_failed", message);
}
