import type { OwnerName } from "../../../domain/pack-owner.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { AuditRecordPage, AuditRecordsOnTarget } from "../../../ports/store/audit-log.ts";
import type { AuditRecord } from "../../../ports/store/audit-record.ts";
import type { Page } from "../../../ports/store/page.ts";
import { END_OF_TIME, FIRST_ID } from "../conditions.ts";
import { OPERATION_PAGE, pageOf } from "../connection/pages.ts";
import type { Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import { readOwnerNames } from "../owners/owner-names.ts";
import { FROM_OPERATIONS, type OperationRow, toAuditRecord } from "../rows.ts";

/** The only kind that is not in the index of operations that callers list. */
const UNLISTED = "DIRECT_STORE_REQUESTED";

export async function readAuditRecord(sql: Sql, id: Uuid): Promise<AuditRecord | undefined> {
  const row = await sql.get<OperationRow>(`${FROM_OPERATIONS} WHERE id = $1::uuid`, id);
  return row && toAuditRecord(row);
}

/** Records by their ids; missing ones are absent. */
export async function readAuditRecordsById(
  sql: Sql,
  ids: readonly Uuid[],
): Promise<ReadonlyMap<Uuid, AuditRecord>> {
  if (ids.length === 0) return new Map();
  const rows = await sql.all<OperationRow>(
    `${FROM_OPERATIONS} WHERE id = ANY ($1::uuid[])`,
    listText(ids),
  );
  return new Map(rows.map(toAuditRecord).map((record) => [record.id, record]));
}

/** A page of one owner's operations of one kind, under whatever name they were recorded, by target. */
export async function readAuditRecords(
  sql: Sql,
  { userId, opType, afterTargetId = "", limit }: AuditRecordPage,
): Promise<Page<AuditRecord>> {
  // A partial index is used only if the statement repeats its condition.
  const listed = opType === UNLISTED ? "" : `AND op_type <> '${UNLISTED}'`;
  const names: readonly OwnerName[] = await readOwnerNames(sql, userId);
  const parts = names.map((_, place) => {
    const [name, since, until] = [4, 5, 6].map((first) => `$${first + 3 * place}`);
    return `(${FROM_OPERATIONS} WHERE namespace_id = ${name} AND op_type = $1 AND target_id > $2 ${listed}
      AND created_at > ${since} AND created_at <= ${until} ORDER BY target_id LIMIT $3)`;
  });
  const rows = await sql.all<OperationRow>(
    `SELECT * FROM (${parts.join(" UNION ALL ")}) found ORDER BY target_id LIMIT $3`,
    ...[opType, afterTargetId, limit + 1],
    ...names.flatMap((name) => [name.userId, name.since ?? "", name.until ?? END_OF_TIME]),
  );
  return pageOf(rows, limit, OPERATION_PAGE);
}

/** A page of the operations on one target, in the order in which they were recorded. */
export async function readAuditRecordsOn(
  sql: Sql,
  { targetId, after, limit }: AuditRecordsOnTarget,
): Promise<Page<AuditRecord>> {
  const rows = await sql.all<OperationRow>(
    `${FROM_OPERATIONS} WHERE target_id = $1 AND (created_at, id) > ($2, $3::uuid) ORDER BY created_at, id LIMIT $4`,
    ...[targetId, after?.createdAt ?? "", after?.id ?? FIRST_ID, limit + 1],
  );
  return pageOf(rows, limit, OPERATION_PAGE);
}
