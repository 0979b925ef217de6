import { dueAfter, type ProcessingStatus, processingStatusForm } from "../../../domain/jobs.ts";
import type { Owner } from "../../../domain/owner.ts";
import { type RowOf, rowReader } from "../../../domain/records/rows.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { Sql } from "../connection/sql.ts";
import { type OwnerKey, ownerKeyOrNull } from "../owner-key.ts";

export const MATERIALIZATION = "materialization";
const OF_KIND = `kind = '${MATERIALIZATION}'`;

/** The job of an event as its row has it. */
export type JobRow = RowOf<ProcessingStatus> & {
  readonly subject: number;
  readonly generation: number;
};

const FROM_JOBS = `SELECT event_id, subject, status, attempts, last_error, updated_at, generation FROM work WHERE ${OF_KIND}`;
export const toStatus = rowReader(processingStatusForm);

/** The jobs of events of one owner, which nobody else changes before the transaction ends. */
export async function lockJobs(
  sql: Sql,
  owner: OwnerKey,
  eventIds: readonly Uuid[],
): Promise<readonly JobRow[]> {
  if (eventIds.length === 0) return [];
  return await sql.all<JobRow>(
    `${FROM_JOBS} AND owner = $1::bigint AND event_id = ANY($2::uuid[]) ORDER BY subject FOR UPDATE`,
    owner,
    eventIds,
  );
}

/** Whose the jobs of events are: user ids with the events of each. */
export async function ownersOfJobs(
  sql: Sql,
  eventIds: readonly Uuid[],
): Promise<ReadonlyMap<string, readonly Uuid[]>> {
  if (eventIds.length === 0) return new Map();
  const rows = await sql.all<{ user_id: string; event_id: Uuid }>(
    `SELECT o.user_id, w.event_id FROM work w JOIN owners o ON o.owner = w.owner
     WHERE w.${OF_KIND} AND w.event_id = ANY($1::uuid[])`,
    eventIds,
  );
  const byOwner = Map.groupBy(rows, ({ user_id }) => user_id);
  return new Map(
    Array.from(byOwner, ([userId, jobs]) => [userId, jobs.map(({ event_id }) => event_id)]),
  );
}

/** What came of a try. */
export type Settled = {
  readonly subject: number;
  readonly attempts: number;
  readonly failure: string | undefined;
  readonly at: Instant;
};

/** Records finished tries of an owner's jobs. Runs inside a write transaction of the owner. */
export async function settleJobs(
  sql: Sql,
  owner: OwnerKey,
  settled: readonly Settled[],
): Promise<void> {
  if (settled.length === 0) return;
  const rows = settled.map(({ subject, attempts, failure, at }) => ({
    subject,
    status: failure === undefined ? "complete" : "pending",
    attempts: attempts + 1,
    last_error: failure ?? null,
    due: failure === undefined ? null : dueAfter(at, attempts + 1),
    updated_at: at,
  }));
  await sql.run(
    `UPDATE work w SET status = r.status, attempts = r.attempts, last_error = r.last_error, due = r.due,
       lease_owner = NULL, lease_expires_at = NULL, updated_at = r.updated_at
     FROM json_to_recordset($2::text::json) AS
       r (subject integer, status text, attempts integer, last_error text, due text, updated_at text)
     WHERE w.owner = $1::bigint AND w.${OF_KIND} AND w.subject = r.subject`,
    owner,
    JSON.stringify(rows),
  );
}

/**
 * Gives an owner's jobs that a store holds another end of their lease; undefined: gives them back. Runs inside a transaction.
 */
export async function leaseJobs(
  sql: Sql,
  owner: OwnerKey,
  eventIds: readonly Uuid[],
  holder: string,
  until: Instant | undefined,
): Promise<void> {
  await sql.run(
    `UPDATE work SET lease_owner = $3, lease_expires_at = $4
     WHERE owner = $1::bigint AND ${OF_KIND} AND event_id = ANY($2::uuid[]) AND lease_owner = $5`,
    owner,
    eventIds,
    until === undefined ? null : holder,
    until ?? null,
    holder,
  );
}

/** Makes the job of an owner's event pending again, so that it writes the index entries which are missing. Runs inside a write transaction. */
export async function reopenJob(sql: Sql, owner: OwnerKey, eventId: Uuid): Promise<void> {
  await sql.run(
    `UPDATE work SET status = 'pending', due = NULL, lease_owner = NULL, lease_expires_at = NULL
     WHERE owner = $1::bigint AND ${OF_KIND} AND event_id = $2::uuid`,
    owner,
    eventId,
  );
}

export async function jobStatus(
  sql: Sql,
  eventId: Uuid,
  owner: Owner,
): Promise<ProcessingStatus | undefined> {
  const row = await sql.get<JobRow>(
    `${FROM_JOBS} AND event_id = $1::uuid AND ($2::bigint IS NULL OR owner = $2::bigint)`,
    eventId,
    ownerKeyOrNull(owner),
  );
  return row && toStatus(row);
}

/** Number of pending jobs, and how many of them failed at least once since their last success. */
export async function countJobs(
  sql: Sql,
  of: Owner,
): Promise<{ readonly pending: number; readonly failed: number }> {
  const owner = ownerKeyOrNull(of);
  const row = await sql.get<{ pending: number; failed: number }>(
    `SELECT count(*)::int AS pending, count(last_error)::int AS failed FROM work
     WHERE status = 'pending' AND ${OF_KIND} AND ${owner === null ? "$1::bigint IS NULL" : "owner = $1::bigint"}`,
    owner,
  );
  return row ?? { pending: 0, failed: 0 };
}
