import { toReplanRecord } from "../../../domain/extraction/plan/derivation.ts";
import {
  afterTry,
  type ExtractionWork,
  extractionRecordId,
  jobOfWork,
  type LetGo,
  planIdOfWork,
} from "../../../domain/extraction/work.ts";
import { type ExtractionJob, latestEnd } from "../../../domain/jobs.ts";
import type { Owner } from "../../../domain/owner.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { Uuid } from "../../../lib/uuid.ts";

import type { ExtractionEnd } from "../../../ports/store/work.ts";
import { writeAuditRecords } from "../../sql/audit.ts";
import type { Present } from "../../sql/work.ts";
import { beyondWall } from "../connection/row-security.ts";
import { run } from "../connection/run.ts";
import type { Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import { readEvent } from "../events/read-events.ts";
import { type OwnerKey, ownerKeyOrNull } from "../owner-key.ts";

/** Work of extraction of an event, as its row has it. */
export type JobRow = ExtractionWork & {
  readonly subject: number;
  readonly owner: OwnerKey;
  readonly user_id: string;
};

const REVISION = "coalesce((w.payload::json ->> 'revision')::integer, 1) AS revision";
/** Columns of a JobRow. */
export const JOB_COLUMNS = `w.subject, w.owner, o.user_id, w.event_id, w.status, w.attempts, w.generation, ${REVISION},
  w.due, w.last_error, w.lease_owner, w.lease_expires_at, w.updated_at`;
const FROM_WORK = `SELECT ${JOB_COLUMNS} FROM work w JOIN owners o ON o.owner = w.owner WHERE w.kind = 'extraction'`;

/** @returns undefined for an unknown event, one of another owner, or one without such work */
export async function readJobRow(
  sql: Sql,
  eventId: Uuid,
  owner: Owner,
): Promise<JobRow | undefined> {
  return await sql.get<JobRow>(
    `${FROM_WORK} AND w.event_id = $1::uuid AND ($2::bigint IS NULL OR w.owner = $2::bigint)`,
    eventId,
    ownerKeyOrNull(owner),
  );
}

/** As `readJobRow`; nobody else changes it before the transaction ends. */
export async function lockJobRow(
  sql: Sql,
  eventId: Uuid,
  owner: OwnerKey,
): Promise<JobRow | undefined> {
  return await sql.get<JobRow>(
    `${FROM_WORK} AND w.event_id = $1::uuid AND w.owner = $2::bigint FOR UPDATE OF w`,
    eventId,
    owner,
  );
}

export async function toJob(sql: Sql, row: JobRow, now: Instant): Promise<ExtractionJob> {
  const kept = await keptIds(sql, [planIdOfWork(row), extractionRecordId(row.event_id)]);
  return jobOfWork(row, now, (id) => kept.has(id));
}

/** Those of the ids that operations have. */
export async function keptIds(sql: Sql, ids: readonly Uuid[]): Promise<ReadonlySet<Uuid>> {
  const rows = await beyondWall(sql).all<{ id: Uuid }>(
    "SELECT id FROM operations WHERE id = ANY ($1::uuid[])",
    listText(ids),
  );
  return new Set(rows.map(({ id }) => id));
}

/** Ends a try that published nothing. Runs inside a write transaction, under a claim that is not over. */
export async function endTry(
  sql: Sql,
  row: JobRow,
  end: ExtractionEnd,
  at: Instant,
): Promise<void> {
  await update(sql, row, afterTry(row, end, at));
}

/** Ends the work of an event. Runs inside a write transaction, under a claim that is not over. */
export async function completeJob(sql: Sql, row: JobRow, at: Instant): Promise<void> {
  await update(sql, row, { status: "complete", due: undefined, lastError: undefined, at });
}

async function update(
  sql: Sql,
  { subject, owner }: JobRow,
  { status, due, lastError, at }: LetGo,
): Promise<void> {
  await sql.run(
    `UPDATE work SET status = $3, due = $4, last_error = $5, lease_owner = NULL, lease_expires_at = NULL, updated_at = $6
     WHERE owner = $1::bigint AND kind = 'extraction' AND subject = $2`,
    ...[owner, subject, status, due ?? null, lastError ?? null, at],
  );
}

/** Whether nobody holds the work and it is not complete. */
function isOpen(row: JobRow, { now, gone }: Present): boolean {
  if (row.status === "complete") return false;
  if (row.lease_owner === null || gone.includes(row.lease_owner)) return true;
  const end = row.lease_expires_at;
  return end === null || end < now || end > latestEnd(now);
}

/** Makes work that waits or has failed due now; what is held or complete stays. Runs inside a write transaction. */
export async function retryJob(
  sql: Sql,
  row: JobRow,
  present: Present,
  at: Instant,
): Promise<void> {
  if (!isOpen(row, present)) return;
  const lastError = row.last_error ?? undefined;
  await update(sql, row, { status: "pending", due: at, lastError, at });
}

/**
 * Gives up the kept plan of work that is neither held nor complete, so that another one is made. Runs inside a write transaction.
 */
export async function replanJob(
  sql: Sql,
  row: JobRow,
  present: Present,
  at: Instant,
): Promise<void> {
  const planId = planIdOfWork(row);
  const event = await readEvent(sql, row.event_id, row.user_id);
  const hasPlan = (await keptIds(sql, [planId])).has(planId);
  if (!hasPlan || event === undefined || !isOpen(row, present)) return;
  const revision = row.revision + 1;
  const generation = row.generation + 1;
  await update(sql, row, { status: "pending", due: at, lastError: undefined, at });
  await sql.run(
    `UPDATE work SET generation = $3, payload = $4 WHERE owner = $1::bigint AND kind = 'extraction' AND subject = $2`,
    ...[row.owner, row.subject, generation, JSON.stringify({ revision })],
  );
  const record = toReplanRecord(event, { planId, revision, generation }, at);
  await run(sql, writeAuditRecords(row.owner, [record]));
}

/** Work of an owner that waits or is held, and work that has failed. */
export async function countExtractions(
  sql: Sql,
  of: Owner,
): Promise<{ readonly pending: number; readonly failed: number }> {
  const owner = ownerKeyOrNull(of);
  const count = (status: JobRow["status"]): string =>
    `(SELECT count(*)::integer FROM work WHERE kind = 'extraction' AND status = '${status}'
       AND ${owner === null ? "$1::bigint IS NULL" : "owner = $1::bigint"})`;
  const row = await sql.get<{ pending: number; failed: number }>(
    `SELECT ${count("pending")} AS pending, ${count("failed")} AS failed`,
    owner,
  );
  return row ?? { pending: 0, failed: 0 };
}
