import type { Database } from "bun:sqlite";
import { toReplanRecord } from "../../../domain/extraction/plan/derivation.ts";
import {
  afterTry,
  type ExtractionWork,
  jobOfWork,
  type LetGo,
  planIdOfWork,
} from "../../../domain/extraction/work.ts";
import type { ExtractionJob } from "../../../domain/jobs.ts";
import { isEverybody, type Owner } from "../../../domain/owner.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { Uuid } from "../../../lib/uuid.ts";

import type { ExtractionEnd } from "../../../ports/store/work.ts";
import { writeAuditRecords } from "../../sql/audit.ts";

import { hasRow } from "../connection/ask.ts";
import { run } from "../connection/run.ts";
import { readEvent } from "../read/read.ts";
import { ownerKeyOrAll, userIdOf } from "../write/owners.ts";

/** Work of extraction of an event, as its row has it. */
export type JobRow = ExtractionWork & { readonly subject: number; readonly owner: number };

const FROM_WORK = `SELECT w.subject, w.owner, e.id AS event_id, w.status, w.attempts, w.generation,
    coalesce(w.payload ->> 'revision', 1) AS revision, w.due, w.last_error, w.lease_owner, w.lease_expires_at, w.updated_at
  FROM events e JOIN work w ON w.subject = e.key AND w.kind = 'extraction'`;

/** @returns undefined for an unknown event, one of another owner, or one without such work */
export function readJobRow(database: Database, eventId: Uuid, owner: Owner): JobRow | undefined {
  const row = database
    .query<JobRow, [string, string | null]>(
      `${FROM_WORK} JOIN owners o ON o.owner = e.owner WHERE e.id = ?1 AND (?2 IS NULL OR o.user_id = ?2)`,
    )
    .get(eventId, userIdOf(owner));
  return row ?? undefined;
}

export function extractionJob(
  database: Database,
  eventId: Uuid,
  owner: Owner,
  now: Instant,
): ExtractionJob | undefined {
  const row = readJobRow(database, eventId, owner);
  return row && jobOfWork(row, now, (id) => isKept(database, id));
}

/** Whether there is an operation with an id. */
export function isKept(database: Database, id: Uuid): boolean {
  return hasRow(database, "operations WHERE id = ?", id);
}

/** Ends a try that published nothing. Runs inside a write transaction, under a claim that is not over. */
export function endTry(database: Database, row: JobRow, end: ExtractionEnd, at: Instant): void {
  update(database, row, afterTry(row, end, at));
}

/** Ends the work of an event. Runs inside a write transaction, under a claim that is not over. */
export function completeJob(database: Database, row: JobRow, at: Instant): void {
  update(database, row, { status: "complete", due: undefined, lastError: undefined, at });
}

function update(
  database: Database,
  { subject, owner }: JobRow,
  { status, due, lastError, at }: LetGo,
): void {
  database
    .query(
      `UPDATE work SET status = ?, due = ?, last_error = ?, lease_owner = NULL, lease_expires_at = NULL, updated_at = ?
       WHERE subject = ? AND kind = 'extraction' AND owner = ?`,
    )
    .run(status, due ?? null, lastError ?? null, at, subject, owner);
}

/** Makes work that waits or has failed due now; what is held or complete stays. Runs inside a write transaction. */
export function retryJob(database: Database, row: JobRow, at: Instant): void {
  if (row.status === "complete" || row.lease_owner !== null) return;
  update(database, row, {
    status: "pending",
    due: at,
    lastError: row.last_error ?? undefined,
    at,
  });
}

/**
 * Gives up the kept plan of work that is neither held nor complete, so that another one is made. Runs inside a write transaction.
 */
export function replanJob(database: Database, row: JobRow, owner: Owner, at: Instant): void {
  const planId = planIdOfWork(row);
  const event = readEvent(database, row.event_id, owner);
  const isFree = row.status !== "complete" && row.lease_owner === null;
  if (!isKept(database, planId) || event === undefined || !isFree) return;
  const revision = row.revision + 1;
  const generation = row.generation + 1;
  update(database, row, { status: "pending", due: at, lastError: undefined, at });
  database
    .query(
      `UPDATE work SET generation = ?, payload = json_object('revision', ?)
       WHERE subject = ? AND kind = 'extraction' AND owner = ?`,
    )
    .run(generation, revision, row.subject, row.owner);
  run(
    database,
    writeAuditRecords(0, [toReplanRecord(event, { planId, revision, generation }, at)]),
  );
}

/** Work of an owner that waits or is held, and work that has failed. */
export function countExtractions(
  database: Database,
  of: Owner,
): { readonly pending: number; readonly failed: number } {
  const owner = ownerKeyOrAll(database, of);
  if (owner === undefined) return { pending: 0, failed: 0 };
  const count = (status: JobRow["status"]): number => {
    const row = database
      .query<{ n: number }, number[]>(
        `SELECT count(*) AS n FROM work WHERE kind = 'extraction' AND status = '${status}'
         ${isEverybody(owner) ? "" : "AND owner = ?"}`,
      )
      .get(...(isEverybody(owner) ? [] : [owner]));
    return row?.n ?? 0;
  };
  return { pending: count("pending"), failed: count("failed") };
}
