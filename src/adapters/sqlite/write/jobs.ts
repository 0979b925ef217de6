import type { Database } from "bun:sqlite";
import { openChecksummed } from "../../../domain/checksummed.ts";
import type { ProcessingStatus } from "../../../domain/jobs.ts";
import { type MemoryNode, nodeRecord } from "../../../domain/node.ts";
import { asInstant, type Instant } from "../../../lib/instant.ts";
import type { JsonObject } from "../../../lib/json.ts";
import { type Uuid, uuidV5 } from "../../../lib/uuid.ts";
import type { MaterializationJob } from "../../../ports/store/work-queue.ts";
import { isGone } from "../connection/process-identity.ts";
import { readAuditRecord } from "../read/audit-records.ts";
import type { Lease } from "./admit.ts";
import { ownerKey } from "./owners.ts";
import { EVENT_COLUMNS, type EventRow, toEvent } from "./rows.ts";
import { readUnindexed } from "./unindexed.ts";

/** The id of the operation that records the plan of a direct store. */
function directStoreId(eventId: Uuid): Uuid {
  return uuidV5(eventId, "svc:direct-store:v1");
}

/**
 * Leases up to `limit` free jobs: pending, and without a holder, held by a process that is gone, or with an expired lease. Runs
 * inside a write transaction.
 */
export function claimJobs(
  database: Database,
  userId: string | undefined,
  limit: number,
  lease: Lease,
  now: Instant,
): MaterializationJob[] {
  const owner = userId === undefined ? undefined : ownerKey(database, userId);
  if (userId !== undefined && owner === undefined) return [];
  freeJobsOfGoneProcesses(database, lease.owner);
  const ofOwner = owner === undefined ? "" : "AND j.owner = ?3";
  const rows = database
    .query<EventRow, (string | number)[]>(
      `SELECT ${EVENT_COLUMNS} FROM jobs j
       CROSS JOIN events e ON e.key = j.event_key JOIN owners o ON o.owner = j.owner
       WHERE j.status = 'pending' AND j.kind = 'materialization' AND (j.lease_owner IS NULL OR j.lease_expires_at < ?1) ${ofOwner}
       ORDER BY j.attempts, j.event_key LIMIT ?2`,
    )
    .all(now, limit, ...(owner === undefined ? [] : [owner]));
  const take = database.query(
    "UPDATE jobs SET lease_owner = ?, lease_expires_at = ? WHERE event_key = ? AND kind = 'materialization'",
  );
  for (const row of rows) take.run(lease.owner, lease.expiresAt, row.key);
  return rows.map((row) => {
    const event = toEvent(row);
    const plan = plannedNode(database, event.id);
    // The plan has the owner's name at that time.
    const planned = plan && { ...plan, userId: event.userId };
    const place = { key: row.key, id: event.id };
    const unindexed = readUnindexed(database, place, planned?.id ?? event.id);
    return { event, plannedNode: planned, ...(unindexed.length > 0 && { unindexed }) };
  });
}

/** Frees jobs of processes that ended without giving them back. */
function freeJobsOfGoneProcesses(database: Database, self: string): void {
  const holders = database
    .query<{ lease_owner: string }, []>(
      "SELECT DISTINCT lease_owner FROM jobs WHERE lease_owner IS NOT NULL",
    )
    .all();
  for (const { lease_owner: holder } of holders) {
    if (holder === self || !isGone(holder)) continue;
    database
      .query("UPDATE jobs SET lease_owner = NULL, lease_expires_at = NULL WHERE lease_owner = ?")
      .run(holder);
  }
}

/** The node that a direct store planned for an event. */
export function plannedNode(database: Database, eventId: Uuid): MemoryNode | undefined {
  const operation = readAuditRecord(database, directStoreId(eventId));
  if (operation === undefined) return undefined;
  const { node } = openChecksummed(operation.payload);
  // SAFETY: the record's checksum matches, and store() always writes the planned node into it.
  return nodeRecord.from(node as JsonObject);
}

/** Gives back unfinished jobs that `holder` leased. Runs inside a write transaction. */
export function releaseJobs(database: Database, eventIds: readonly Uuid[], holder: string): void {
  const release = database.query(
    `UPDATE jobs SET lease_owner = NULL, lease_expires_at = NULL
     WHERE kind = 'materialization' AND event_key = (SELECT key FROM events WHERE id = ?) AND lease_owner = ?`,
  );
  for (const id of eventIds) release.run(id, holder);
}

/** Records a finished attempt. Runs inside a write transaction. */
export function settleJob(
  database: Database,
  eventKey: number,
  failure: string | undefined,
  at: Instant,
): void {
  database
    .query(
      `UPDATE jobs SET status = ?, attempts = attempts + 1, last_error = ?, lease_owner = NULL,
         lease_expires_at = NULL, updated_at = ?
       WHERE event_key = ? AND kind = 'materialization' AND status = 'pending'`,
    )
    .run(failure === undefined ? "complete" : "pending", failure ?? null, at, eventKey);
}

/** Records a failed attempt at the jobs of events. Runs inside a write transaction. */
export function failJobs(
  database: Database,
  eventIds: readonly Uuid[],
  reason: string,
  at: Instant,
): void {
  const key = database.query<{ key: number }, [string]>("SELECT key FROM events WHERE id = ?");
  for (const id of eventIds) {
    const event = key.get(id);
    if (event !== null) settleJob(database, event.key, reason, at);
  }
}

type StatusRow = {
  readonly id: Uuid;
  readonly status: "pending" | "complete";
  readonly attempts: number;
  readonly last_error: string | null;
  readonly updated_at: string;
};

/** The state of one event's job. */
export function jobStatus(
  database: Database,
  eventId: Uuid,
  userId: string | undefined,
): ProcessingStatus | undefined {
  const row = database
    .query<StatusRow, [string, string | null]>(
      `SELECT e.id, j.status, j.attempts, j.last_error, j.updated_at
       FROM events e JOIN jobs j ON j.event_key = e.key AND j.kind = 'materialization'
       JOIN owners o ON o.owner = e.owner
       WHERE e.id = ?1 AND (?2 IS NULL OR o.user_id = ?2)`,
    )
    .get(eventId, userId ?? null);
  if (row === null) return undefined;
  return {
    eventId: row.id,
    status: row.status,
    attempts: row.attempts,
    lastError: row.last_error ?? undefined,
    updatedAt: asInstant(row.updated_at),
  };
}

/** Number of pending jobs, and how many of them failed at least once since their last success. */
export function countJobs(
  database: Database,
  userId: string | undefined,
): { readonly pending: number; readonly failed: number } {
  const owner = userId === undefined ? undefined : ownerKey(database, userId);
  if (userId !== undefined && owner === undefined) return { pending: 0, failed: 0 };
  const row = database
    .query<{ pending: number; failed: number }, number[]>(
      `SELECT count(*) AS pending, count(last_error) AS failed FROM jobs
       WHERE status = 'pending' AND kind = 'materialization' ${owner === undefined ? "" : "AND owner = ?"}`,
    )
    .get(...(owner === undefined ? [] : [owner]));
  return row ?? { pending: 0, failed: 0 };
}
