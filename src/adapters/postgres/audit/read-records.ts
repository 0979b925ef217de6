import type { OwnerName } from "../../../domain/owner.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type {
  AuditRecord,
  AuditRecordPage,
  AuditRecordsOnTarget,
  ChangePage,
  Page,
} from "../../../ports/store/records.ts";
import { END_OF_TIME, FIRST_ID } from "../conditions.ts";
import { OPERATION_PAGE, pageOf } from "../connection/pages.ts";
import { beyondWall } from "../connection/row-security.ts";
import type { Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import { NO_OWNER, ownerKey } from "../owner-key.ts";
import { readOwnerNames } from "../owners/owner-names.ts";
import { FROM_OPERATIONS, type OperationRow, toAuditRecord } from "../rows.ts";
import { IS_TOLD } from "../schema/tables-core.ts";

/** The only kind that is not in the index of operations that callers list. */
const UNLISTED = "DIRECT_STORE_REQUESTED";
/** The pattern of the ids that memories have, as SQL. */
const IS_ID = "'^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'";

export async function readAuditRecord(sql: Sql, id: Uuid): Promise<AuditRecord | undefined> {
  const row = await beyondWall(sql).get<OperationRow>(`${FROM_OPERATIONS} WHERE id = $1::uuid`, id);
  return row && toAuditRecord(row);
}

/** Records by their ids; missing ones are absent. */
export async function readAuditRecordsById(
  sql: Sql,
  ids: readonly Uuid[],
): Promise<ReadonlyMap<Uuid, AuditRecord>> {
  if (ids.length === 0) return new Map();
  const rows = await beyondWall(sql).all<OperationRow>(
    `${FROM_OPERATIONS} WHERE id = ANY ($1::uuid[])`,
    listText(ids),
  );
  return new Map(rows.map(toAuditRecord).map((record) => [record.id, record]));
}

/** A page of one owner's operations of one kind, under whatever name they were recorded, by target. */
export async function readAuditRecords(
  sql: Sql,
  { userId, opType, mentions, afterTargetId = "", limit }: AuditRecordPage,
): Promise<Page<AuditRecord>> {
  // A partial index is used only if the statement repeats its condition.
  const listed = opType === UNLISTED ? "" : `AND op_type <> '${UNLISTED}'`;
  const names: readonly OwnerName[] = await readOwnerNames(sql, userId);
  const parts = names.map((_, place) => {
    const [name, since, until] = [5, 6, 7].map((first) => `$${first + 3 * place}`);
    return `(${FROM_OPERATIONS} WHERE namespace_id = ${name} AND op_type = $1 AND target_id > $2 ${listed}
      AND created_at > ${since} AND created_at <= ${until} AND strpos(payload, $4) > 0 ORDER BY target_id LIMIT $3)`;
  });
  const rows = await beyondWall(sql).all<OperationRow>(
    `SELECT * FROM (${parts.join(" UNION ALL ")}) found ORDER BY target_id LIMIT $3`,
    // Every text has an empty one in it.
    ...[opType, afterTargetId, limit + 1, mentions ?? ""],
    ...names.flatMap((name) => [name.userId, name.since ?? "", name.until ?? END_OF_TIME]),
  );
  return pageOf(rows, limit, OPERATION_PAGE);
}

/** A page of the operations on one target, in the order in which they were recorded. */
export async function readAuditRecordsOn(
  sql: Sql,
  { targetId, after, limit }: AuditRecordsOnTarget,
): Promise<Page<AuditRecord>> {
  const rows = await beyondWall(sql).all<OperationRow>(
    `${FROM_OPERATIONS} WHERE target_id = $1 AND (created_at, id) > ($2, $3::uuid) ORDER BY created_at, id LIMIT $4`,
    ...[targetId, after?.createdAt ?? "", after?.id ?? FIRST_ID, limit + 1],
  );
  return pageOf(rows, limit, OPERATION_PAGE);
}

/**
 * A page of the changes of an owner's memories, newest first. A record stays with the owner who had the memory when it was written;
 * some, which changed no memory, are nobody's.
 */
export async function readChanges(sql: Sql, page: ChangePage): Promise<Page<AuditRecord>> {
  const { userId, opTypes, actorId, timeFrom = "", timeTo = END_OF_TIME, before, limit } = page;
  const names = await readOwnerNames(sql, userId);
  const writers = new Set([...names.map((name) => ownerKey(name.userId)), NO_OWNER]);
  const rows = await beyondWall(sql).all<OperationRow>(
    `SELECT c.* FROM unnest($2::bigint[]) writer CROSS JOIN LATERAL (
       ${FROM_OPERATIONS} o WHERE o.owner = writer AND ${IS_TOLD}
         AND ($3::text[] IS NULL OR op_type = ANY ($3::text[])) AND ($4::text IS NULL OR actor_id = $4)
         AND created_at >= $5 AND created_at < $6 AND (created_at, id) < ($7, $8::uuid)
         AND EXISTS (SELECT 1 FROM nodes n WHERE n.owner = $1::bigint AND n.id = CASE WHEN o.target_id ~ ${IS_ID} THEN o.target_id::uuid END)
       ORDER BY created_at DESC, id DESC LIMIT $9) c
     ORDER BY c.created_at DESC, c.id DESC LIMIT $9`,
    ...[ownerKey(userId), listText(writers)],
    ...[opTypes === undefined ? null : listText(opTypes), actorId ?? null, timeFrom, timeTo],
    ...[before?.at ?? END_OF_TIME, before?.id ?? FIRST_ID, limit + 1],
  );
  return pageOf(rows, limit, OPERATION_PAGE);
}
