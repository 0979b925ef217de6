import type { Database } from "bun:sqlite";
import {
  dueAfter,
  fromPlanRecord,
  type Lease,
  type ProcessingStatus,
  planRecordId,
  processingStatusForm,
} from "../../../domain/jobs.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { isEverybody, type Owner } from "../../../domain/owner.ts";
import { type RowOf, rowReader } from "../../../domain/records/rows.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { Uuid } from "../../../lib/uuid.ts";

import type { MaterializationJob } from "../../../ports/store/work.ts";
import { readAuditRecord } from "../../sql/audit.ts";
import {
  EVENT_COLUMNS,
  type EventRow,
  NODE_COLUMNS,
  type NodeRow,
  toEvent,
  toNode,
} from "../../sql/rows.ts";
import { type ClaimFilter, claimWork } from "../../sql/work.ts";
import { run } from "../connection/run.ts";
import { documentNumber } from "./lexical-index.ts";
import { ownerKeyOrAll, userIdOf } from "./owners.ts";
import { ACTIVE, HAS_TEXT, IS_EXTRACTED_ENTITY } from "./turns.ts";

const KIND = "materialization";

/** Claims jobs and reads what they are about. Runs inside a write transaction. */
export function claimJobs(
  database: Database,
  of: Owner,
  { limit, isDueOnly }: Pick<ClaimFilter, "limit" | "isDueOnly">,
  lease: Lease,
): MaterializationJob[] {
  const owner = ownerKeyOrAll(database, of);
  if (owner === undefined) return [];
  const read = database.query<EventRow, [number]>(
    `SELECT ${EVENT_COLUMNS} FROM events e JOIN owners o ON o.owner = e.owner WHERE e.key = ?`,
  );
  const filter = { kind: KIND, owner: isEverybody(owner) ? undefined : owner, limit, isDueOnly };
  return run(database, claimWork(filter, lease)).flatMap((claimed) => {
    const row = read.get(claimed.subject);
    if (row === null) return [];
    const event = toEvent(row);
    const plan = plannedNode(database, event.id);
    // The plan has the owner's name at that time.
    const planned = plan && { ...plan, userId: event.userId };
    const place = { key: row.key, id: event.id };
    const unindexed = readUnindexed(database, place, planned?.id ?? event.id);
    const { generation } = claimed;
    return {
      ...{ event, plannedNode: planned, generation },
      ...(unindexed.length > 0 && { unindexed }),
    };
  });
}

/** The node that a direct store planned for an event. */
export function plannedNode(database: Database, eventId: Uuid): MemoryNode | undefined {
  const record = run(database, readAuditRecord(planRecordId(eventId)));
  return record && fromPlanRecord(record.payload)?.node;
}

/** Gives jobs that somebody holds another end of their lease; undefined: gives them back. Runs inside a write transaction. */
export function leaseJobs(
  database: Database,
  eventIds: readonly Uuid[],
  holder: string,
  until: Instant | undefined,
): void {
  const lease = database.query(
    `UPDATE work SET lease_owner = ?, lease_expires_at = ?
     WHERE kind = '${KIND}' AND subject = (SELECT key FROM events WHERE id = ?) AND lease_owner = ?`,
  );
  for (const id of eventIds) {
    lease.run(until === undefined ? null : holder, until ?? null, id, holder);
  }
}

/** A job whose work may be written. */
export type OpenJob = {
  readonly subject: number;
  readonly owner: number;
  readonly attempts: number;
};

/** The job of an event that is still to be done, unless another claim than the given one was made. */
export function openJob(
  database: Database,
  eventId: Uuid,
  generation: number | undefined,
): OpenJob | undefined {
  const job = database
    .query<OpenJob, [string, number | null]>(
      `SELECT w.subject, w.owner, w.attempts FROM events e JOIN work w ON w.subject = e.key AND w.kind = '${KIND}'
       WHERE e.id = ?1 AND w.status = 'pending' AND (?2 IS NULL OR w.generation = ?2)`,
    )
    .get(eventId, generation ?? null);
  return job ?? undefined;
}

/** Records a finished attempt. Runs inside a write transaction. */
export function settleJob(
  database: Database,
  { subject, owner, attempts }: OpenJob,
  failure: string | undefined,
  at: Instant,
): void {
  database
    .query(
      `UPDATE work SET status = ?, attempts = attempts + 1, last_error = ?, due = ?, lease_owner = NULL,
         lease_expires_at = NULL, updated_at = ?
       WHERE subject = ? AND kind = '${KIND}' AND owner = ?`,
    )
    .run(
      failure === undefined ? "complete" : "pending",
      failure ?? null,
      failure === undefined ? null : dueAfter(at, attempts + 1),
      at,
      subject,
      owner,
    );
}

/** Records a failed attempt at the jobs of events. Runs inside a write transaction. */
export function failJobs(
  database: Database,
  eventIds: readonly Uuid[],
  reason: string,
  at: Instant,
  generation: number | undefined,
): void {
  for (const id of eventIds) {
    const job = openJob(database, id, generation);
    if (job !== undefined) settleJob(database, job, reason, at);
  }
}

/** Makes the job of an event pending again, so that it writes the index entries which are missing. Runs inside a write transaction. */
export function reopenJob(database: Database, eventId: string): void {
  database
    .query(
      `UPDATE work SET status = 'pending', due = NULL, lease_owner = NULL WHERE kind = '${KIND}'
         AND subject = (SELECT key FROM events WHERE id = ?)`,
    )
    .run(eventId);
}

const toStatus = rowReader(processingStatusForm);

export function jobStatus(
  database: Database,
  eventId: Uuid,
  owner: Owner,
): ProcessingStatus | undefined {
  const row = database
    .query<RowOf<ProcessingStatus>, [string, string | null]>(
      `SELECT e.id AS event_id, j.status, j.attempts, j.last_error, j.updated_at
       FROM events e JOIN work j ON j.subject = e.key AND j.kind = '${KIND}' JOIN owners o ON o.owner = e.owner
       WHERE e.id = ?1 AND (?2 IS NULL OR o.user_id = ?2)`,
    )
    .get(eventId, userIdOf(owner));
  return row === null ? undefined : toStatus(row);
}

/** Number of pending jobs, and how many of them failed at least once since their last success. */
export function countJobs(
  database: Database,
  of: Owner,
): { readonly pending: number; readonly failed: number } {
  const owner = ownerKeyOrAll(database, of);
  if (owner === undefined) return { pending: 0, failed: 0 };
  const row = database
    .query<{ pending: number; failed: number }, number[]>(
      `SELECT count(*) AS pending, count(last_error) AS failed FROM work
       WHERE status = 'pending' AND kind = '${KIND}' ${isEverybody(owner) ? "" : "AND owner = ?"}`,
    )
    .get(...(isEverybody(owner) ? [] : [owner]));
  return row ?? { pending: 0, failed: 0 };
}

/**
 * Active nodes with text that an event created besides the node of its job, and that lack an entry in one of the indexes. An
 * event creates the nodes that cite it first; nodes that cite it later belong to other events.
 * @param own the node of the job
 */
export function readUnindexed(
  database: Database,
  event: { readonly key: number; readonly id: Uuid },
  own: Uuid,
): MemoryNode[] {
  return database
    .query<NodeRow, [number, string, string]>(
      `SELECT ${NODE_COLUMNS} FROM node_evidence c CROSS JOIN nodes n ON n.key = c.node
       JOIN owners o ON o.owner = n.owner
       WHERE c.event = ?1 AND n.evidence_refs ->> 0 = ?2 AND n.id <> ?3
         AND n.lifecycle_state IN ${ACTIVE} AND ${HAS_TEXT}
         AND (n.key NOT IN (SELECT node_key FROM vector_metadata)
           OR ${documentNumber("n.owner", "n.key")} NOT IN (SELECT id FROM lexical_documents_docsize)
             AND NOT (${IS_EXTRACTED_ENTITY}))
       ORDER BY n.id`,
    )
    .all(event.key, event.id, own)
    .map(toNode);
}
