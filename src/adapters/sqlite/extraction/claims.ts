import type { Database } from "bun:sqlite";
import { SCOPES, type Scope } from "../../../domain/enums.ts";
import { extractionRecordId, fits, planIdOfWork } from "../../../domain/extraction/work.ts";
import { type Lease, takenOver } from "../../../domain/jobs.ts";
import type { MemoryEvent } from "../../../domain/node.ts";
import { isEverybody, type Owner } from "../../../domain/owner.ts";
import { asUuid } from "../../../lib/uuid.ts";
import type { AuditRecord } from "../../../ports/store/records.ts";
import type {
  ExtractionClaim,
  ExtractionFilter,
  ExtractionLane,
  WaitingTurn,
} from "../../../ports/store/work.ts";

import { readAuditRecord, writeAuditRecords } from "../../sql/audit.ts";
import { presentOf } from "../../sql/work.ts";
import { ask } from "../connection/ask.ts";
import { run } from "../connection/run.ts";
import { requireUnerased } from "../erasure/names-erased.ts";
import { ownerKeyOrAll } from "../write/owners.ts";
import { EVENT_COLUMNS, type EventRow, toEvent } from "../write/rows.ts";
import { isKept, type JobRow, readJobRow } from "./jobs.ts";

/** Work of a lane that is to be done, by its order. */
const IN_LANE = "w.kind = 'extraction' AND w.owner = ? AND w.lane = ? AND w.status = 'pending'";

/** The first piece of work of a lane that is not done: nothing behind it may be claimed. */
type Head = Omit<JobRow, "status" | "last_error" | "lease_owner"> & { readonly lane: Scope };

/** Claims the first work of a lane that fits. Runs inside a write transaction. */
export function claimExtraction(
  database: Database,
  filter: ExtractionFilter,
  lease: Lease,
): ExtractionClaim | undefined {
  run(database, presentOf(undefined, lease));
  const scopes = filter.scope === undefined ? SCOPES : [filter.scope];
  const [head] = readHeads(database, filter.owner, scopes)
    .filter((one) => one.lease_expires_at === null && fits(one, filter, lease.from))
    .sort((a, b) => a.subject - b.subject);
  if (head === undefined) return undefined;
  database
    .query(
      `UPDATE work SET lease_owner = ?, lease_expires_at = ?, generation = generation + 1, attempts = attempts + 1, updated_at = ?
       WHERE subject = ? AND kind = 'extraction' AND owner = ?`,
    )
    .run(lease.holder, lease.until, lease.from, head.subject, head.owner);
  return toClaim(database, head);
}

function readHeads(database: Database, of: Owner, scopes: readonly Scope[]): readonly Head[] {
  const head = database.query<Head, [number, string]>(
    `SELECT w.subject, w.owner, w.lane, e.id AS event_id, w.generation, w.attempts,
       coalesce(w.payload ->> 'revision', 1) AS revision, w.due, w.updated_at, w.lease_expires_at
     FROM work w CROSS JOIN events e ON e.key = w.subject WHERE ${IN_LANE}
     ORDER BY w.subject LIMIT 1`,
  );
  return ownersWaiting(database, of).flatMap((owner) =>
    scopes.flatMap((scope) => head.get(owner, scope) ?? []),
  );
}

/** Owners with work that is not done. */
function ownersWaiting(database: Database, of: Owner): readonly number[] {
  const owner = ownerKeyOrAll(database, of);
  if (owner === undefined) return [];
  if (!isEverybody(owner)) return [owner];
  const owners: number[] = [];
  for (let last: number | undefined = 0; last !== undefined; ) {
    last = ask<number>(
      database,
      "SELECT min(owner) FROM work WHERE kind = 'extraction' AND status = 'pending' AND owner > ?",
      last,
    );
    if (last !== undefined) owners.push(last);
  }
  return owners;
}

function toClaim(database: Database, head: Head): ExtractionClaim | undefined {
  const row = database
    .query<EventRow, [number]>(
      `SELECT ${EVENT_COLUMNS} FROM events e JOIN owners o ON o.owner = e.owner WHERE e.key = ?`,
    )
    .get(head.subject);
  if (row === null) return undefined;
  const event = toEvent(row);
  const { revision } = head;
  return {
    event,
    order: head.subject,
    generation: head.generation + 1,
    attempts: head.attempts + 1,
    revision,
    plan: run(database, readAuditRecord(planIdOfWork(head))),
    record: run(database, readAuditRecord(extractionRecordId(event.id))),
  };
}

/** @returns whether the claim is not over. Runs inside a write transaction. */
export function renewExtraction(
  database: Database,
  claim: ExtractionClaim,
  { until }: Lease,
): boolean {
  const row = heldJob(database, claim);
  if (row === undefined) return false;
  database
    .query(
      "UPDATE work SET lease_expires_at = ? WHERE subject = ? AND kind = 'extraction' AND owner = ?",
    )
    .run(until, row.subject, row.owner);
  return true;
}

/** The work of a claim that is not over. A claim ends when another one is made, and when the event is given to another owner. */
export function heldJob(
  database: Database,
  { event, generation }: ExtractionClaim,
): JobRow | undefined {
  const row = readJobRow(database, event.id, event.userId);
  const isHeld =
    row?.status === "pending" && row.generation === generation && row.lease_owner !== null;
  return isHeld ? row : undefined;
}

/** Keeps records of answers; those that are there already stay. Runs inside a write transaction. @throws SvcError (`isTakenOver`) */
export function saveExtractions(
  database: Database,
  claim: ExtractionClaim,
  records: readonly AuditRecord[],
): void {
  if (heldJob(database, claim) === undefined) throw takenOver();
  requireUnerased(database, records);
  for (const record of records) {
    if (!isKept(database, record.id)) run(database, writeAuditRecords(0, [record]));
  }
}

/** Turns of the session of a claimed one that wait behind it, in their order. */
export function waitingTurns(
  database: Database,
  { event, order }: ExtractionClaim,
  { upTo, limit }: { readonly upTo: number | undefined; readonly limit: number },
): readonly WaitingTurn[] {
  if (event.sessionId === undefined) return [];
  return database
    .query<EventRow, (string | number)[]>(
      `SELECT ${EVENT_COLUMNS} FROM work w CROSS JOIN events e ON e.key = w.subject CROSS JOIN owners o ON o.owner = e.owner
       WHERE w.kind = 'extraction' AND w.status = 'pending' AND w.owner = (SELECT owner FROM owners WHERE user_id = ?)
         AND w.lane = ? AND w.subject > ? AND w.subject <= ? AND e.session_id = ?
       ORDER BY w.subject LIMIT ?`,
    )
    .all(event.userId, event.scope, order, upTo ?? Number.MAX_SAFE_INTEGER, event.sessionId, limit)
    .map((row) => ({
      event: toEvent(row),
      order: row.key,
      isRecorded: isKept(database, extractionRecordId(asUuid(row.id))),
    }));
}

/** Turns of the session of a claimed one before it, oldest first. */
export function earlierTurns(
  database: Database,
  { event, order }: ExtractionClaim,
  limit: number,
): readonly MemoryEvent[] {
  if (event.sessionId === undefined) return [];
  return database
    .query<EventRow, (string | number)[]>(
      `SELECT ${EVENT_COLUMNS} FROM events e CROSS JOIN owners o ON o.owner = e.owner
       WHERE e.owner = (SELECT owner FROM owners WHERE user_id = ?) AND e.session_id = ? AND e.scope = ? AND e.key < ?
         AND e.content GLOB '*[^ ' || char(9, 10, 11, 12, 13) || ']*'
       ORDER BY e.timestamp DESC, e.id DESC LIMIT ?`,
    )
    .all(event.userId, event.sessionId, event.scope, order, limit)
    .map(toEvent)
    .reverse();
}

/** Lanes with work that is not done, those of an owner beside each other. */
export function extractionLanes(database: Database, of: Owner): readonly ExtractionLane[] {
  const names = database.query<{ user_id: string }, [number]>(
    "SELECT user_id FROM owners WHERE owner = ?",
  );
  return readHeads(database, of, SCOPES).flatMap(
    ({ owner, lane, subject, due, lease_expires_at }) => {
      const userId = names.get(owner)?.user_id;
      if (userId === undefined) return [];
      const upTo =
        ask<number>(database, `SELECT max(w.subject) FROM work w WHERE ${IN_LANE}`, owner, lane) ??
        subject;
      return [{ userId, scope: lane, upTo, due: lease_expires_at ?? due ?? undefined }];
    },
  );
}
