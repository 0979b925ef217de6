import { SCOPES, type Scope } from "../../domain/enums.ts";
import { idsIn } from "../../domain/erasure.ts";
import { SvcError } from "../../domain/errors.ts";
import {
  type DerivationPlan,
  ownedBy,
  PLAN_OPERATION,
  type Publication,
  planProblem,
  publish,
  toCommittedRecord,
  toPreparedRecord,
  toReplanRecord,
} from "../../domain/extraction/plan/derivation.ts";
import {
  afterTry,
  type ExtractionWork,
  extractionRecordId,
  fits,
  jobOfWork,
  type LetGo,
  planIdOfWork,
} from "../../domain/extraction/work.ts";
import { type ExtractionJob, type Lease, latestEnd, takenOver } from "../../domain/jobs.ts";
import type { MemoryEvent } from "../../domain/node.ts";
import { ALL_OWNERS, isEverybody, type Owner } from "../../domain/owner.ts";
import { brokenChange, momentAfter } from "../../domain/search/change.ts";
import type { Instant } from "../../lib/instant.ts";
import { compareUnits } from "../../lib/text.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { AuditRecord } from "../../ports/store/records.ts";
import type {
  ExtractionClaim,
  ExtractionEnd,
  ExtractionFilter,
  ExtractionLane,
  ExtractionQueue,
  PlanPublication,
  WaitingTurn,
} from "../../ports/store/work.ts";
import { readAuditRecord, readAuditRecordsById, writeAuditRecords } from "./audit.ts";
import { type Entry, type IndexWrites, writeNodes } from "./change.ts";
import type { Dialect } from "./dialect.ts";
import { writeEdge } from "./edges.ts";
import { reopenJob } from "./jobs.ts";
import { readNodeRows } from "./nodes.ts";
import {
  EVENT_COLUMNS,
  type EventRow,
  FROM_EVENTS,
  toEvent,
  toNode,
  updateOfNode,
} from "./rows.ts";
import { isOfModel } from "./settings.ts";
import * as sql from "./statement.ts";
import { isFree, leased, newLease, type Present, presentOf, timeOf, type Worker } from "./work.ts";

/** The extraction role of a store, except known claims and entities. */
export function bindExtraction(
  { read, snapshot, write, writeAny }: sql.Access,
  worker: Worker,
  indexes: IndexWrites,
) {
  return {
    publishPlan: (claim, publication) =>
      write(claim.event.userId, () => publishPlan(claim, publication, indexes)),
    claimExtraction: (filter, seconds) =>
      writeAny(() => leased(worker, (lease) => claimExtraction(filter, lease), seconds)),
    renewExtraction: (claim, seconds) =>
      writeAny(() => leased(worker, (lease) => renewExtraction(claim, lease), seconds)),
    waitingTurns: (claim, page) => read(claim.event.userId, () => waitingTurns(claim, page)),
    earlierTurns: (claim, limit) => read(claim.event.userId, () => earlierTurns(claim, limit)),
    saveExtractions: (claim, records) =>
      write(claim.event.userId, () => saveExtractions(claim, records)),
    savePlan: (claim, plan, at) => write(claim.event.userId, () => savePlan(claim, plan, at)),
    endExtraction: (claim, end, at) =>
      write(claim.event.userId, () => endExtraction(worker, claim, end, at)),
    extractionJob: (eventId, owner) => read(owner, () => extractionJob(worker, eventId, owner)),
    retryExtraction: async (eventId, owner, how) => {
      const found = await read(owner, () => readJobRow(eventId, owner));
      return found && (await write(found.user_id, () => retry(worker, found, how)));
    },
    countExtractions: (owner) => read(owner, () => countExtractions(owner)),
    extractionLanes: (owner) => snapshot(owner, () => extractionLanes(owner)),
  } satisfies Partial<ExtractionQueue>;
}

/** Extraction work of an event, as in its row. */
export type JobRow = ExtractionWork & {
  readonly subject: number;
  readonly owner: sql.OwnerKey;
  readonly user_id: string;
};

/** Columns of a JobRow; `w` is `work`, `e` its event, `o` its `owners`. */
const COLUMNS = `w.subject, w.owner, o.user_id, e.id AS event_id, w.status, w.attempts, w.generation,
  coalesce((w.payload::json ->> 'revision')::integer, 1) AS revision, w.due, w.last_error, w.lease_owner, w.lease_expires_at,
  w.updated_at`;
const jobOf = ({ join }: Dialect): string => `SELECT ${COLUMNS} FROM events e
  ${join} work w ON w.subject = e.key AND w.kind = 'extraction' AND w.owner = e.owner ${join} owners o ON o.owner = w.owner
  WHERE e.id = $1::uuid`;
const JOB = sql.statement((d) => `${jobOf(d)} AND ($2::bigint IS NULL OR w.owner = $2::bigint)`);
const LOCKED_JOB = sql.statement(
  (d) => `${jobOf(d)} AND w.owner = $2::bigint ${d.isOwnerInKeys ? "FOR UPDATE OF w" : ""}`,
);

/** @returns undefined for an unknown event, one of another owner, or one without extraction work */
export function* readJobRow(eventId: Uuid, of: Owner): sql.Steps<JobRow | undefined> {
  const owner = isEverybody(of) ? null : yield* sql.ownerKey(of);
  return owner === undefined ? undefined : yield* sql.get<JobRow>(JOB, eventId, owner);
}

/**
 * The work of a current claim, locked until the transaction ends. A claim ends when another one is made, and when the event moves to
 * another owner.
 */
export function* heldJob({ event, generation }: ExtractionClaim): sql.Steps<JobRow | undefined> {
  const owner = (yield* sql.ownerKey(event.userId)) ?? null;
  const row = yield* sql.get<JobRow>(LOCKED_JOB, event.id, owner);
  const isHeld =
    row?.status === "pending" && row.generation === generation && row.lease_owner !== null;
  return isHeld ? row : undefined;
}

const KEPT = sql.statement("SELECT id FROM operations WHERE id = ANY ($1::uuid[])");

/** Those of the ids that are operations. */
function* keptIds(ids: readonly Uuid[]): sql.Steps<ReadonlySet<Uuid>> {
  const rows = yield* sql.beyondWall(sql.all<{ id: Uuid }>(KEPT, ids));
  return new Set(rows.map(({ id }) => id));
}

function* toJob({ clock }: Worker, row: JobRow): sql.Steps<ExtractionJob> {
  const kept = yield* keptIds([planIdOfWork(row), extractionRecordId(row.event_id)]);
  return jobOfWork(row, yield* timeOf(clock), (id) => kept.has(id));
}

export function* extractionJob(
  worker: Worker,
  eventId: Uuid,
  owner: Owner,
): sql.Steps<ExtractionJob | undefined> {
  const row = yield* readJobRow(eventId, owner);
  return row && (yield* toJob(worker, row));
}

function* requireJob(worker: Worker, eventId: Uuid): sql.Steps<ExtractionJob> {
  const job = yield* extractionJob(worker, eventId, ALL_OWNERS);
  if (job === undefined) throw new SvcError("internal", `the event ${eventId} has no extraction`);
  return job;
}

/** The first unfinished work of a lane: nothing after it may be claimed. */
type Head = JobRow & { readonly lane: Scope; readonly is_free: boolean | number };

/** Unfinished extraction work `w`. */
const WAITING = "w.kind = 'extraction' AND w.status = 'pending' AND w.lane IS NOT NULL";
const HEAD_COLUMNS = `${COLUMNS}, w.lane, ${isFree("$1", "$2", "$3")} AS is_free`;
const ofWork = ({ join }: Dialect): string => `FROM work w
  ${join} events e ON e.key = w.subject AND e.owner = w.owner ${join} owners o ON o.owner = w.owner`;
const HEAD = sql.statement(
  (d) => `SELECT ${HEAD_COLUMNS} ${ofWork(d)}
    WHERE ${WAITING} AND w.owner = $4::bigint AND w.lane = $5 ORDER BY w.subject LIMIT 1`,
);
/** Of a server. */
const EVERY_HEAD = sql.statement(
  (d) => `SELECT DISTINCT ON (w.owner, w.lane) ${HEAD_COLUMNS} ${ofWork(d)}
    WHERE ${WAITING} AND w.lane = ANY ($4::text[]) ORDER BY w.owner, w.lane, w.subject`,
);
/** Of a pack. */
const NEXT_WAITING = sql.statement(
  "SELECT min(owner) AS owner FROM work WHERE kind = 'extraction' AND status = 'pending' AND owner > $1::bigint",
);

/** Lane by lane: the cost depends on the number of lanes, not of waiting jobs. */
function* readHeads(
  of: Owner,
  scopes: readonly Scope[],
  { now, latest, gone }: Omit<Present, "now" | "latest"> & Record<"now" | "latest", string>,
): sql.Steps<readonly Head[]> {
  const given = [now, latest, gone] as const;
  const owners: sql.OwnerKey[] = [];
  if (!isEverybody(of)) {
    const owner = yield* sql.ownerKey(of);
    if (owner !== undefined) owners.push(owner);
  } else if ((yield* sql.dialect()).isOwnerInKeys) {
    return yield* sql.all<Head>(EVERY_HEAD, ...given, scopes);
  } else {
    for (let last: sql.OwnerKey | null = 0; last !== null; ) {
      const next: { owner: sql.OwnerKey | null } | undefined = yield* sql.get(NEXT_WAITING, last);
      last = next?.owner ?? null;
      if (last !== null) owners.push(last);
    }
  }
  const lanes = owners.flatMap((owner) =>
    scopes.map((scope) => sql.get<Head>(HEAD, ...given, owner, scope)),
  );
  return (yield* sql.together(...lanes)).flatMap((head) => head ?? []);
}

const CLAIM =
  sql.statement(`UPDATE work SET lease_owner = $4, lease_expires_at = $5, generation = generation + 1,
    attempts = attempts + 1, updated_at = $6
  WHERE owner = $1::bigint AND kind = 'extraction' AND subject = $2 AND generation = $3 AND status = 'pending'`);

/** Claims the first matching work of a lane. Runs inside a write transaction. */
function* claimExtraction(
  filter: ExtractionFilter,
  lease: Lease,
): sql.Steps<ExtractionClaim | undefined> {
  const { owner, scope } = filter;
  const key = isEverybody(owner) ? undefined : yield* sql.ownerKey(owner);
  const present = yield* presentOf(key, lease);
  const heads = yield* readHeads(owner, scope === undefined ? SCOPES : [scope], present);
  const fitting = heads
    .filter((one) => Boolean(one.is_free) && fits(one, filter, lease.from))
    .sort((a, b) => a.subject - b.subject);
  for (const head of fitting) {
    // Does nothing if another claim was made meanwhile.
    const place = [head.owner, head.subject, head.generation];
    const taken = yield* sql.run(CLAIM, ...place, lease.holder, lease.until, lease.from);
    if (taken > 0) return yield* toClaim(head);
  }
  return undefined;
}

const EVENT_OF = sql.statement(`${FROM_EVENTS} WHERE e.id = $1::uuid AND e.owner = $2::bigint`);

function* readEventOf({ event_id: id, owner }: JobRow): sql.Steps<MemoryEvent | undefined> {
  const row = yield* sql.get<EventRow>(EVENT_OF, id, owner);
  return row && toEvent(row);
}

function* toClaim(head: Head): sql.Steps<ExtractionClaim | undefined> {
  const event = yield* readEventOf(head);
  if (event === undefined) return undefined;
  const [planId, recordId] = [planIdOfWork(head), extractionRecordId(event.id)];
  const records = yield* readAuditRecordsById([planId, recordId]);
  return {
    event,
    order: head.subject,
    generation: head.generation + 1,
    attempts: head.attempts + 1,
    revision: head.revision,
    plan: records.get(planId),
    record: records.get(recordId),
  };
}

const OF_JOB = "WHERE owner = $1::bigint AND kind = 'extraction' AND subject = $2";
const RENEW = sql.statement(`UPDATE work SET lease_expires_at = $3 ${OF_JOB}`);

/** @returns whether the claim is current. Runs inside a write transaction. */
function* renewExtraction(claim: ExtractionClaim, { until }: Lease): sql.Steps<boolean> {
  const row = yield* heldJob(claim);
  if (row === undefined) return false;
  yield* sql.run(RENEW, row.owner, row.subject, until);
  return true;
}

const ERASED = sql.statement("SELECT 1 FROM erasures WHERE event_id = ANY ($1::uuid[]) LIMIT 1");

/** @throws SvcError (`isTakenOver`) if extraction records name something erased: it is repeated without that */
function* requireUnerased(records: readonly AuditRecord[]): sql.Steps<void> {
  const named = records.flatMap(({ targetId, payload }) => [targetId, JSON.stringify(payload)]);
  const ids = idsIn(named);
  if (ids.length > 0 && (yield* sql.beyondWall(sql.get(ERASED, ids))) !== undefined)
    throw takenOver();
}

/** Stores records of answers; existing ones stay. Runs inside a write transaction. @throws SvcError (`isTakenOver`) */
function* saveExtractions(
  claim: ExtractionClaim,
  records: readonly AuditRecord[],
): sql.Steps<void> {
  const row = yield* heldJob(claim);
  if (row === undefined) throw takenOver();
  yield* requireUnerased(records);
  const kept = yield* keptIds(records.map(({ id }) => id));
  const fresh = records.filter(({ id }) => !kept.has(id));
  yield* writeAuditRecords(row.owner, fresh);
}

/**
 * Stores a plan; an existing one of this revision stays. Runs inside a write transaction.
 * @throws SvcError (`isTakenOver`); internal for an invalid plan
 */
function* savePlan(
  claim: ExtractionClaim,
  plan: DerivationPlan,
  at: Instant,
): sql.Steps<AuditRecord> {
  const row = yield* heldJob(claim);
  if (row === undefined) throw takenOver();
  const problem = planProblem(plan);
  if (problem !== undefined) throw brokenChange(problem);
  const kept = yield* readAuditRecord(plan.id);
  if (kept !== undefined) return kept;
  const record = toPreparedRecord(plan, claim.event, at);
  yield* requireUnerased([record]);
  yield* writeAuditRecords(row.owner, [record]);
  return record;
}

const TURNS_WAITING = sql.statement(
  (d) => `SELECT ${EVENT_COLUMNS} ${ofWork(d)}
    WHERE w.owner = $1::bigint AND ${WAITING} AND w.lane = $2 AND w.subject > $3
      AND ($4::integer IS NULL OR w.subject <= $4::integer) AND ${d.isSession("e.session_id", "$5")}
    ORDER BY w.subject LIMIT $6`,
);

/** Turns of the claimed one's session that wait after it, in order. */
export function* waitingTurns(
  { event, order }: ExtractionClaim,
  { upTo, limit }: { readonly upTo: number | undefined; readonly limit: number },
): sql.Steps<readonly WaitingTurn[]> {
  const { sessionId, scope } = event;
  if (sessionId === undefined) return [];
  const owner = (yield* sql.ownerKey(event.userId)) ?? null;
  const given = [owner, scope, order, upTo ?? null, sessionId, limit];
  const rows = yield* sql.all<EventRow>(TURNS_WAITING, ...given);
  const turns = rows.map((row) => ({ event: toEvent(row), order: row.key }));
  const recordOf = (turn: { readonly event: MemoryEvent }) => extractionRecordId(turn.event.id);
  const recorded = yield* keptIds(turns.map(recordOf));
  return turns.map((turn) => ({ ...turn, isRecorded: recorded.has(recordOf(turn)) }));
}

const TURNS_BEFORE = sql.statement(
  (
    d,
  ) => `${FROM_EVENTS} WHERE e.owner = $1::bigint AND ${d.isSession("e.session_id", "$2")} AND e.scope = $3 AND e.key < $4
      AND trim(e.content, ' \t\n\v\f\r') <> ''
    ORDER BY e.timestamp DESC, e.id DESC LIMIT $5`,
);

/** Turns of the claimed one's session before it, oldest first. */
export function* earlierTurns(
  { event: { sessionId, scope, userId }, order }: ExtractionClaim,
  limit: number,
): sql.Steps<readonly MemoryEvent[]> {
  if (sessionId === undefined) return [];
  const owner = (yield* sql.ownerKey(userId)) ?? null;
  const rows = yield* sql.all<EventRow>(TURNS_BEFORE, owner, sessionId, scope, order, limit);
  return rows.map(toEvent).reverse();
}

const UP_TO = sql.statement(
  `SELECT max(w.subject) AS "upTo" FROM work w WHERE ${WAITING} AND w.owner = $1::bigint AND w.lane = $2`,
);

/** Lanes with unfinished work, grouped by owner. */
export function* extractionLanes(of: Owner): sql.Steps<readonly ExtractionLane[]> {
  // Regardless of leases.
  const heads = yield* readHeads(of, SCOPES, { now: "", latest: "", gone: [] });
  const ends = yield* sql.together(
    ...heads.map(({ owner, lane }) => sql.get<{ upTo: number | null }>(UP_TO, owner, lane)),
  );
  return heads
    .map(({ user_id: userId, lane: scope, subject, due, lease_expires_at: end }, place) => {
      return { userId, scope, upTo: ends[place]?.upTo ?? subject, due: end ?? due ?? undefined };
    })
    .sort(
      (a, b) =>
        compareUnits(a.userId, b.userId) || SCOPES.indexOf(a.scope) - SCOPES.indexOf(b.scope),
    );
}

const UPDATE = sql.statement(
  `UPDATE work SET status = $3, due = $4, last_error = $5, lease_owner = NULL, lease_expires_at = NULL, updated_at = $6 ${OF_JOB}`,
);

function* update(
  { subject, owner }: JobRow,
  { status, due, lastError, at }: LetGo,
): sql.Steps<void> {
  yield* sql.run(UPDATE, owner, subject, status, due ?? null, lastError ?? null, at);
}

/** Ends an attempt that published nothing. Runs inside a write transaction; an expired claim changes nothing. */
function* endExtraction(
  worker: Worker,
  claim: ExtractionClaim,
  end: ExtractionEnd,
  at: Instant,
): sql.Steps<ExtractionJob> {
  const row = yield* heldJob(claim);
  if (row !== undefined) yield* update(row, afterTry(row, end, at));
  return yield* requireJob(worker, claim.event.id);
}

/** Ends the work of an event. Runs inside a write transaction, under a current claim. */
export function* completeJob(row: JobRow, at: Instant): sql.Steps<void> {
  yield* update(row, { status: "complete", due: undefined, lastError: undefined, at });
}

type Retry = Parameters<ExtractionQueue["retryExtraction"]>[2];

/** Runs inside a write transaction. */
function* retry(
  worker: Worker,
  { event_id: eventId, owner }: JobRow,
  { isReplan, at }: Retry,
): sql.Steps<ExtractionJob | undefined> {
  const present = yield* presentOf(owner, yield* newLease(worker, 0));
  const row = yield* sql.get<JobRow>(LOCKED_JOB, eventId, owner);
  if (row === undefined) return undefined;
  if (isOpen(row, present)) {
    if (isReplan) yield* replanJob(row, at);
    else {
      const lastError = row.last_error ?? undefined;
      yield* update(row, { status: "pending", due: at, lastError, at });
    }
  }
  return yield* requireJob(worker, eventId);
}

/** Whether the work has no holder and is not complete. */
function isOpen(row: JobRow, { now, gone }: Present): boolean {
  if (row.status === "complete") return false;
  if (row.lease_owner === null || gone.includes(row.lease_owner)) return true;
  const end = row.lease_expires_at;
  return end === null || end < now || end > latestEnd(now);
}

const REPLAN = sql.statement(`UPDATE work SET generation = $3, payload = $4 ${OF_JOB}`);

/** Drops the stored plan of work, so that another one is made. */
function* replanJob(row: JobRow, at: Instant): sql.Steps<void> {
  const planId = planIdOfWork(row);
  const event = yield* readEventOf(row);
  if (event === undefined || !(yield* keptIds([planId])).has(planId)) return;
  const revision = row.revision + 1;
  const generation = row.generation + 1;
  yield* update(row, { status: "pending", due: at, lastError: undefined, at });
  yield* sql.run(REPLAN, row.owner, row.subject, generation, JSON.stringify({ revision }));
  const record = toReplanRecord(event, { planId, revision, generation }, at);
  yield* writeAuditRecords(row.owner, [record]);
}

const counted = (ofOwner: string) => {
  const count = (status: JobRow["status"]): string =>
    `(SELECT count(*)::float8 FROM work WHERE kind = 'extraction' AND status = '${status}' ${ofOwner})`;
  return sql.statement(`SELECT ${count("pending")} AS pending, ${count("failed")} AS failed`);
};
const COUNT_ALL = counted("");
const COUNT_OF = counted("AND owner = $1::bigint");

/** An owner's waiting or held work, and failed work. */
function* countExtractions(
  of: Owner,
): sql.Steps<{ readonly pending: number; readonly failed: number }> {
  type Row = { readonly pending: number; readonly failed: number };
  const row = isEverybody(of)
    ? yield* sql.get<Row>(COUNT_ALL)
    : yield* sql.get<Row>(COUNT_OF, (yield* sql.ownerKey(of)) ?? null);
  return row ?? { pending: 0, failed: 0 };
}

/** Applies a plan. Runs inside a write transaction of the owner, which must be rolled back if it throws. */
function* publishPlan(
  claim: ExtractionClaim,
  publication: PlanPublication,
  indexes: IndexWrites,
): sql.Steps<{ readonly staleId: Uuid } | undefined> {
  const { event, generation } = claim;
  if ((yield* readJobRow(event.id, ALL_OWNERS))?.status === "complete") return undefined;
  const job = yield* heldJob(claim);
  if (job === undefined) throw takenOver();
  const plan = ownedBy(publication.plan, event.userId);
  const kept = yield* sql.beyondWall(
    sql.get<{ checksum: string }>(CHECKSUM, plan.id, PLAN_OPERATION),
  );
  if (plan.eventId !== event.id || kept === undefined) {
    throw brokenChange(`the plan ${plan.id} of the event ${event.id} was not kept`);
  }
  const concerned = [
    ...plan.snapshots.map(({ id }) => id),
    ...plan.replacements.map(({ oldId }) => oldId),
  ];
  const rows = yield* readNodeRows(concerned, ALL_OWNERS);
  const current = new Map(rows.map(toNode).map((node) => [node.id, node]));
  const replaced = plan.replacements.flatMap(({ oldId }) => current.get(oldId) ?? []);
  const at = momentAfter(replaced, publication.at);
  const outcome = publish(plan, current, at);
  if ("staleId" in outcome) return outcome;
  for (const node of outcome.replaced) {
    const before = current.get(node.id);
    const update = before && updateOfNode(before, node);
    if (update !== undefined) yield* sql.run(update.sql, job.owner, node.id, ...update.values);
  }
  yield* writePublication(job, { ...publication, plan, at }, outcome, indexes);
  const gone = new Set<string>(outcome.replaced.map(({ id }) => id));
  const keys = rows.filter(({ id }) => gone.has(id)).map(({ key }) => key);
  yield* indexes.evict(job.owner, keys);
  const about = { event, generation, at };
  const { checksum } = kept;
  yield* writeAuditRecords(job.owner, [
    toCommittedRecord({ id: plan.id, checksum }, outcome, about),
  ]);
  yield* completeJob(job, at);
  return undefined;
}

/** The checksum of a stored plan, without reading the plan. */
const CHECKSUM = sql.statement(
  "SELECT payload::json ->> 'sha256' AS checksum FROM operations WHERE id = $1::uuid AND op_type = $2",
);

/** Writes new nodes, with their index entries. */
function* writePublication(
  job: JobRow,
  { plan, vectors, at }: PlanPublication,
  { nodes, edges }: Publication,
  indexes: IndexWrites,
): sql.Steps<void> {
  // Another process may have changed the model since these vectors were made.
  const isSame = yield* isOfModel(indexes.embedding);
  const worded = new Set(plan.lexicalIds);
  const keys = yield* writeNodes(job.owner, nodes);
  const entries = nodes.flatMap((node, place): Entry[] => {
    const key = keys.get(node.id);
    const vector = isSame ? vectors[place] : undefined;
    return key === undefined ? [] : [{ key, node, vector, lexical: worded.has(node.id), at }];
  });
  for (const edge of edges) yield* writeEdge(edge);
  yield* indexes.write(job.owner, entries);
  if (entries.some(({ vector }) => vector === undefined)) yield* reopenJob(job.owner, job.event_id);
}
