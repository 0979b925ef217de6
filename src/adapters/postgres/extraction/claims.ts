import { SCOPES, type Scope } from "../../../domain/enums.ts";
import { extractionRecordId, fits, planIdOfWork } from "../../../domain/extraction/work.ts";
import { type Lease, takenOver } from "../../../domain/jobs.ts";
import type { MemoryEvent } from "../../../domain/node.ts";
import { isEverybody, type Owner } from "../../../domain/owner.ts";
import { compareUnits } from "../../../lib/text.ts";
import type { AuditRecord } from "../../../ports/store/records.ts";
import type {
  ExtractionClaim,
  ExtractionFilter,
  ExtractionLane,
  WaitingTurn,
} from "../../../ports/store/work.ts";

import { readAuditRecordsById, writeAuditRecords } from "../../sql/audit.ts";
import { isFree, presentOf } from "../../sql/work.ts";
import { isSession } from "../conditions.ts";
import { run } from "../connection/run.ts";
import type { Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import { requireUnerased } from "../erasure/names-erased.ts";
import { readEvent } from "../events/read-events.ts";
import { ownerKey } from "../owner-key.ts";
import { type EventRow, FROM_EVENTS, toEvent } from "../rows.ts";
import { JOB_COLUMNS, type JobRow, keptIds, lockJobRow } from "./jobs.ts";

/** The first piece of work of a lane that is not done: nothing behind it may be claimed. */
type Head = JobRow & { readonly lane: Scope; readonly is_free: boolean };

/** Claims the first work of a lane that fits. Runs inside a transaction. */
export async function claimExtraction(
  sql: Sql,
  filter: ExtractionFilter,
  lease: Lease,
): Promise<ExtractionClaim | undefined> {
  const heads = await readHeads(sql, filter.owner, filter.scope, lease);
  const fitting = heads
    .filter((one) => one.is_free && fits(one, filter, lease.from))
    .sort((a, b) => a.subject - b.subject);
  for (const head of fitting) {
    // Nothing happens where another claim was made meanwhile.
    const taken = await sql.run(
      `UPDATE work SET lease_owner = $4, lease_expires_at = $5, generation = generation + 1, attempts = attempts + 1,
         updated_at = $6
       WHERE owner = $1::bigint AND kind = 'extraction' AND subject = $2 AND generation = $3 AND status = 'pending'`,
      ...[head.owner, head.subject, head.generation, lease.holder, lease.until, lease.from],
    );
    if (taken > 0) return await toClaim(sql, head);
  }
  return undefined;
}

/** Work of extraction `w` that is not done. */
const WAITING = "w.kind = 'extraction' AND w.status = 'pending' AND w.lane IS NOT NULL";

async function readHeads(
  sql: Sql,
  of: Owner,
  scope: Scope | undefined,
  lease: Lease,
): Promise<readonly Head[]> {
  const owner = isEverybody(of) ? undefined : ownerKey(of);
  const { now, latest, gone } = await run(sql, presentOf(owner, lease));
  const columns = `${JOB_COLUMNS}, w.lane, ${isFree("$1", "$2", "$3")} AS is_free`;
  const scopes = listText(scope === undefined ? SCOPES : [scope]);
  const present = [now, latest, listText(gone), scopes];
  if (owner === undefined) {
    return await sql.all<Head>(
      `SELECT DISTINCT ON (w.owner, w.lane) ${columns} FROM work w JOIN owners o ON o.owner = w.owner
       WHERE ${WAITING} AND w.lane = ANY ($4::text[]) ORDER BY w.owner, w.lane, w.subject`,
      ...present,
    );
  }
  // Lane by lane: it costs as much as there are lanes, however much waits in them.
  return await sql.all<Head>(
    `SELECT w.* FROM unnest($4::text[]) scope CROSS JOIN LATERAL (
       SELECT ${columns} FROM work w JOIN owners o ON o.owner = w.owner
       WHERE ${WAITING} AND w.owner = $5::bigint AND w.lane = scope ORDER BY w.subject LIMIT 1) w`,
    ...present,
    owner,
  );
}

async function toClaim(sql: Sql, head: Head): Promise<ExtractionClaim | undefined> {
  const event = await readEvent(sql, head.event_id, head.user_id);
  if (event === undefined) return undefined;
  const { revision } = head;
  const [planId, recordId] = [planIdOfWork(head), extractionRecordId(event.id)];
  const records = await run(sql, readAuditRecordsById([planId, recordId]));
  return {
    event,
    order: head.subject,
    generation: head.generation + 1,
    attempts: head.attempts + 1,
    revision,
    plan: records.get(planId),
    record: records.get(recordId),
  };
}

/** @returns whether the claim is not over. Runs inside a transaction. */
export async function renewExtraction(
  sql: Sql,
  claim: ExtractionClaim,
  { until }: Lease,
): Promise<boolean> {
  const row = await heldJob(sql, claim);
  if (row === undefined) return false;
  await sql.run(
    "UPDATE work SET lease_expires_at = $3 WHERE owner = $1::bigint AND kind = 'extraction' AND subject = $2",
    ...[row.owner, row.subject, until],
  );
  return true;
}

/**
 * The work of a claim that is not over, which nobody takes over before the transaction ends. A claim ends when another one is made,
 * and when the event is given to another owner.
 */
export async function heldJob(
  sql: Sql,
  { event, generation }: ExtractionClaim,
): Promise<JobRow | undefined> {
  const row = await lockJobRow(sql, event.id, ownerKey(event.userId));
  const isHeld =
    row?.status === "pending" && row.generation === generation && row.lease_owner !== null;
  return isHeld ? row : undefined;
}

/** Keeps records of answers; those that are there already stay. Runs inside a write transaction. @throws SvcError (`isTakenOver`) */
export async function saveExtractions(
  sql: Sql,
  claim: ExtractionClaim,
  records: readonly AuditRecord[],
): Promise<void> {
  const row = await heldJob(sql, claim);
  if (row === undefined) throw takenOver();
  await requireUnerased(sql, records);
  const kept = await keptIds(
    sql,
    records.map(({ id }) => id),
  );
  const fresh = records.filter(({ id }) => !kept.has(id));
  await run(sql, writeAuditRecords(row.owner, fresh));
}

/** Turns of the session of a claimed one that wait behind it, in their order. */
export async function waitingTurns(
  sql: Sql,
  { event, order }: ExtractionClaim,
  { upTo, limit }: { readonly upTo: number | undefined; readonly limit: number },
): Promise<readonly WaitingTurn[]> {
  if (event.sessionId === undefined) return [];
  const rows = await sql.all<EventRow>(
    `${FROM_EVENTS} JOIN work w ON w.owner = e.owner AND w.subject = e.key
     WHERE e.owner = $1::bigint AND ${WAITING} AND w.lane = $2 AND w.subject > $3
       AND ($4::integer IS NULL OR w.subject <= $4::integer) AND ${isSession("e.session_id", "$5")}
     ORDER BY w.subject LIMIT $6`,
    ...[ownerKey(event.userId), event.scope, order, upTo ?? null, event.sessionId, limit],
  );
  const turns = rows.map((row) => ({ event: toEvent(row), order: row.key }));
  const recorded = await keptIds(
    sql,
    turns.map(({ event: { id } }) => extractionRecordId(id)),
  );
  return turns.map((turn) => ({
    ...turn,
    isRecorded: recorded.has(extractionRecordId(turn.event.id)),
  }));
}

/** Turns of the session of a claimed one before it, oldest first. */
export async function earlierTurns(
  sql: Sql,
  { event, order }: ExtractionClaim,
  limit: number,
): Promise<readonly MemoryEvent[]> {
  if (event.sessionId === undefined) return [];
  const rows = await sql.all<EventRow>(
    `${FROM_EVENTS} WHERE e.owner = $1::bigint AND ${isSession("e.session_id", "$2")} AND e.scope = $3 AND e.key < $4
       AND btrim(e.content, E' \\t\\n\\u000b\\f\\r') <> ''
     ORDER BY e.timestamp DESC, e.id DESC LIMIT $5`,
    ...[ownerKey(event.userId), event.sessionId, event.scope, order, limit],
  );
  return rows.map(toEvent).reverse();
}

/** Lanes with work that is not done, those of an owner beside each other. */
export async function extractionLanes(
  sql: Sql,
  of: Owner,
  lease: Lease,
): Promise<readonly ExtractionLane[]> {
  const heads = await readHeads(sql, of, undefined, lease);
  const owners = listText(new Set(heads.map(({ owner }) => owner)));
  const ends = await sql.all<{ owner: string; lane: Scope; up_to: number }>(
    `SELECT w.owner, w.lane, max(w.subject) AS up_to FROM work w
     WHERE ${WAITING} AND w.owner = ANY ($1::bigint[]) GROUP BY w.owner, w.lane`,
    owners,
  );
  const upTo = new Map(ends.map(({ owner, lane, up_to }) => [`${owner} ${lane}`, up_to]));
  return heads
    .toSorted(
      (a, b) =>
        compareUnits(a.user_id, b.user_id) || SCOPES.indexOf(a.lane) - SCOPES.indexOf(b.lane),
    )
    .map(({ owner, user_id: userId, lane, subject, due, lease_expires_at: end }) => ({
      userId,
      scope: lane,
      upTo: upTo.get(`${owner} ${lane}`) ?? subject,
      due: end ?? due ?? undefined,
    }));
}
