import type { Database } from "bun:sqlite";
import { auditRecordForm } from "../../../domain/records/audit.ts";
import { type RowOf, rowReader } from "../../../domain/records/rows.ts";
import type { PageForm } from "../../../domain/search/pages.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type {
  AuditRecord,
  AuditRecordPage,
  AuditRecordsOnTarget,
  ChangePage,
  Page,
} from "../../../ports/store/records.ts";
import type { Parameter } from "../connection/ask.ts";
import { readOwnerNames } from "../owners/owner-names.ts";
import { ownerKey } from "../write/owners.ts";
import { Conditions } from "./filter-sql.ts";
import { readPage } from "./pages.ts";

export type OperationRow = RowOf<AuditRecord>;
export const toAuditRecord = rowReader(auditRecordForm);

export const FROM_OPERATIONS =
  "SELECT id, op_type, target_id, payload, actor_id, namespace_id, created_at FROM operations";
/** Sorts after every instant. */
const END_OF_TIME = "~";
/** The only kind that is not in the index of operations that callers list. */
const UNLISTED = "DIRECT_STORE_REQUESTED";

export function readAuditRecord(database: Database, id: Uuid): AuditRecord | undefined {
  const row = database.query<OperationRow, [string]>(`${FROM_OPERATIONS} WHERE id = ?`).get(id);
  return row === null ? undefined : toAuditRecord(row);
}

const OPERATION_PAGE: PageForm<OperationRow, AuditRecord> = {
  toItem: toAuditRecord,
  charsOf: ({ payload }) => payload.length,
};

/** A page of one owner's operations of one kind, under whatever name they were recorded, by target. */
export function readAuditRecords(database: Database, page: AuditRecordPage): Page<AuditRecord> {
  // SQLite uses a partial index only if the query repeats the condition of the index.
  const listed = page.opType === UNLISTED ? "" : `AND op_type <> '${UNLISTED}'`;
  const after = page.afterTargetId ?? "";
  const parts = readOwnerNames(database, page.userId).map(({ userId, since, until }) => ({
    sql: `${FROM_OPERATIONS} WHERE namespace_id = ? AND op_type = ? AND target_id > ? ${listed}
      AND created_at > ? AND created_at <= ? AND instr(payload, ?) > 0`,
    parameters: [
      ...[userId, page.opType, after, since ?? "", until ?? END_OF_TIME],
      // Every text has an empty one in it.
      page.mentions ?? "",
    ],
  }));
  const statement = database.query<OperationRow, Parameter[]>(
    `${parts.map(({ sql }) => sql).join(" UNION ALL ")} ORDER BY target_id LIMIT ?`,
  );
  const parameters = [...parts.flatMap((part) => part.parameters), page.limit + 1];
  return readPage(statement, parameters, page.limit, OPERATION_PAGE);
}

/** A page of the operations on one target, in the order in which they were recorded. */
export function readAuditRecordsOn(
  database: Database,
  page: AuditRecordsOnTarget,
): Page<AuditRecord> {
  const { createdAt = "", id = "" } = page.after ?? {};
  const statement = database.query<OperationRow, Parameter[]>(
    `${FROM_OPERATIONS} WHERE target_id = ? AND (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ?`,
  );
  const parameters = [page.targetId, createdAt, id, page.limit + 1];
  return readPage(statement, parameters, page.limit, OPERATION_PAGE);
}

/** A page of the changes of an owner's memories, newest first. */
export function readChanges(database: Database, page: ChangePage): Page<AuditRecord> {
  const owner = ownerKey(database, page.userId);
  if (owner === undefined) return { items: [], hasMore: false };
  const { opTypes, actorId, timeFrom, timeTo, before, limit } = page;
  const conditions = new Conditions();
  conditions.add("m.owner = ?", owner);
  if (opTypes !== undefined) conditions.addAny("o.op_type", opTypes);
  if (actorId !== undefined) conditions.add("o.actor_id = ?", actorId);
  if (timeFrom !== undefined) conditions.add("m.at >= ?", timeFrom);
  if (timeTo !== undefined) conditions.add("m.at < ?", timeTo);
  if (before !== undefined) {
    conditions.add("m.at <= ? AND (m.at, o.id) < (?, ?)", before.at, before.at, before.id);
  }
  const { sql, parameters } = conditions.build();
  const statement = database.query<OperationRow, Parameter[]>(
    `SELECT o.id, o.op_type, o.target_id, o.payload, o.actor_id, o.namespace_id, o.created_at
     FROM memory_operations m CROSS JOIN operations o ON o.key = m.operation
     WHERE ${sql} ORDER BY m.at DESC, o.id DESC LIMIT ?`,
  );
  return readPage(statement, [...parameters, limit + 1], limit, OPERATION_PAGE);
}
