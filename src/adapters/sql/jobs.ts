import {
  dueAfter,
  fromPlanRecord,
  LEASE_SECONDS,
  type Lease,
  type ProcessingStatus,
  planRecordId,
  processingStatusForm,
  withoutVector,
} from "../../domain/jobs.ts";
import type { MemoryNode } from "../../domain/node.ts";
import { ALL_OWNERS, isEverybody, type Owner } from "../../domain/owner.ts";
import { type RowOf, rowReader } from "../../domain/records/rows.ts";
import { withWordsOf } from "../../domain/search/turns.ts";
import type { Instant } from "../../lib/instant.ts";
import { asUuid, type Uuid } from "../../lib/uuid.ts";
import type { Materialization, MaterializationJob, WorkQueue } from "../../ports/store/work.ts";
import { snowball } from "../stemming/stem.ts";
import { readAuditRecord, readAuditRecordsById } from "./audit.ts";
import { type Entry, type IndexWrites, writeNodes } from "./change.ts";
import { ACTIVE, keyOf, keyOrNull, ofOwner, Params } from "./conditions.ts";
import type { Dialect } from "./dialect.ts";
import { type EventRow, FROM_EVENTS, FROM_NODES, type NodeRow, toEvent, toNode } from "./rows.ts";
import { isOfModel } from "./settings.ts";
import * as sql from "./statement.ts";
import {
  type ClaimedRow,
  type ClaimFilter,
  claimWork,
  isDue,
  isFree,
  leased,
  newLease,
  presentOf,
  type Worker,
} from "./work.ts";

const KIND = "materialization";

/** The indexing work of each event: its node, with entries in the indexes. */
export function bindJobs(access: sql.Access, worker: Worker, indexes: IndexWrites) {
  const { read } = access;
  /** Changes jobs of events without naming and locking their owners. */
  const onJobs = async (
    eventIds: readonly Uuid[],
    change: (userId: string, ids: readonly Uuid[]) => sql.Steps<void>,
  ): Promise<void> => {
    const owners = await read(ALL_OWNERS, () => ownersOfJobs(eventIds));
    await sql.writeEach({ ...access, write: (_, work) => access.writeAny(work) }, owners, change);
  };
  return {
    claimJobs: (owner, limit, isDueOnly = false) =>
      claimJobs({ access, worker, indexes }, owner, { limit, isDueOnly }),
    renewJobs: (eventIds) =>
      onJobs(eventIds, (userId, ids) =>
        leased(worker, ({ until }) => leaseJobs(userId, ids, worker.holder, until)),
      ),
    releaseJobs: (eventIds) =>
      onJobs(eventIds, (userId, ids) => leaseJobs(userId, ids, worker.holder, undefined)),
    materialize: (items) => withWordsOf(items, snowball, () => materialize(access, items, indexes)),
    failJobs: (eventIds, reason, at, generation) =>
      onJobs(eventIds, (userId, ids) => failJobs(userId, ids, { failure: reason, at, generation })),
    jobStatus: (eventId, owner) => read(owner, () => jobStatus(eventId, owner)),
    countJobs: (owner) => read(owner, () => countJobs(owner)),
  } satisfies Partial<WorkQueue>;
}

/** Whether a job `w` is about one of some events, as SQL. @param place parameter number of a list of ids */
const isOf = ({ isOwnerInKeys }: Dialect, place: string): string =>
  isOwnerInKeys
    ? `w.event_id = ANY (${place}::uuid[])`
    : `w.subject IN (SELECT key FROM events WHERE id = ANY (${place}::uuid[]))`;
/** The id of the event of a job `w`, as SQL. */
const eventId = ({ isOwnerInKeys }: Dialect): string =>
  isOwnerInKeys ? "w.event_id" : "(SELECT e.id FROM events e WHERE e.key = w.subject)";
const OF_KIND = `w.kind = '${KIND}'`;
/** Jobs of the events $2 of the owner $1. */
const wanted = (d: Dialect): string =>
  `${d.free("w.owner")} = $1::bigint AND ${OF_KIND} AND ${isOf(d, "$2")}`;

/** The job of an event as in its row. */
type JobRow = RowOf<ProcessingStatus> & {
  readonly event_id: Uuid;
  readonly subject: number;
  readonly generation: number;
};
const toStatus = rowReader(processingStatusForm);
const fromJobs = (d: Dialect): string =>
  `SELECT ${eventId(d)} AS event_id, w.subject, w.status, w.attempts, w.last_error, w.updated_at, w.generation FROM work w`;

const LOCKED = sql.statement(
  (d) =>
    `${fromJobs(d)} WHERE ${wanted(d)} ORDER BY w.subject ${d.isOwnerInKeys ? "FOR UPDATE" : ""}`,
);

/** The jobs of one owner's events, locked until the transaction ends. */
function* lockJobs(owner: sql.OwnerKey, eventIds: readonly Uuid[]): sql.Steps<readonly JobRow[]> {
  return eventIds.length === 0 ? [] : yield* sql.all<JobRow>(LOCKED, owner, eventIds);
}

const OWNERS = sql.statement(
  (d) => `SELECT o.user_id, ${eventId(d)} AS event_id FROM work w JOIN owners o ON o.owner = w.owner
    WHERE ${OF_KIND} AND ${isOf(d, "$1")}`,
);

/** The owners of jobs: user ids with the events of each. */
function* ownersOfJobs(eventIds: readonly Uuid[]): sql.Steps<ReadonlyMap<string, readonly Uuid[]>> {
  if (eventIds.length === 0) return new Map();
  const rows = yield* sql.all<{ user_id: string; event_id: Uuid }>(OWNERS, eventIds);
  const owners = Map.groupBy(rows, ({ user_id: userId }) => userId);
  return new Map(Array.from(owners, ([userId, jobs]) => [userId, jobs.map((job) => job.event_id)]));
}

/** What came of a try. */
type Outcome = {
  readonly failure: string | undefined;
  readonly at: Instant;
  /** The claim that was attempted; absent: any. */
  readonly generation?: number | undefined;
};

/** Whether a claim's result may be written: the job was not claimed again since. */
function isOpen(job: JobRow, { generation = job.generation }: Pick<Outcome, "generation">) {
  return job.status === "pending" && generation === job.generation;
}

const SETTLE = sql.statement(
  `UPDATE work SET status = $4, attempts = $5, last_error = $6, due = $7, lease_owner = NULL, lease_expires_at = NULL,
     updated_at = $8 WHERE owner = $1::bigint AND kind = $2 AND subject = $3`,
);

/** Records a finished attempt. Runs inside a write transaction. @returns the state afterwards */
function* settle(
  owner: sql.OwnerKey,
  job: JobRow,
  { failure, at }: Outcome,
): sql.Steps<ProcessingStatus> {
  const attempts = job.attempts + 1;
  const status = failure === undefined ? "complete" : "pending";
  const due = failure === undefined ? null : dueAfter(at, attempts);
  const place = [owner, KIND, job.subject];
  yield* sql.run(SETTLE, ...place, status, attempts, failure ?? null, due, at);
  return { eventId: job.event_id, status, attempts, lastError: failure, updatedAt: at };
}

function* failJobs(userId: string, eventIds: readonly Uuid[], outcome: Outcome): sql.Steps<void> {
  const owner = (yield* sql.ownerKey(userId)) ?? 0;
  const jobs = yield* lockJobs(owner, eventIds);
  const open = jobs.filter((job) => isOpen(job, outcome));
  yield* sql.together(...open.map((job) => settle(owner, job, outcome)));
}

const LEASE = sql.statement(
  (d) =>
    `UPDATE work AS w SET lease_owner = $3, lease_expires_at = $4 WHERE ${wanted(d)} AND w.lease_owner = $5`,
);

/** Extends the leases of an owner's jobs that a store holds; undefined: releases them. */
function* leaseJobs(
  userId: string,
  eventIds: readonly Uuid[],
  holder: string,
  until: Instant | undefined,
): sql.Steps<void> {
  const owner = (yield* sql.ownerKey(userId)) ?? 0;
  const lease = until === undefined ? [null, null] : [holder, until];
  yield* sql.run(LEASE, owner, eventIds, ...lease, holder);
}

const REOPEN = sql.statement(
  (d) =>
    `UPDATE work AS w SET status = 'pending', due = NULL, lease_owner = NULL, lease_expires_at = NULL WHERE ${wanted(d)}`,
);

/** Makes the job of an owner's event pending again, to write missing index entries. Runs inside a write transaction. */
export function* reopenJob(owner: sql.OwnerKey, event: Uuid): sql.Steps<void> {
  yield* sql.run(REOPEN, owner, [event]);
}

const STATUS = sql.statement(
  (d) =>
    `${fromJobs(d)} WHERE ${OF_KIND} AND ${isOf(d, "$1")} AND ($2::bigint IS NULL OR w.owner = $2::bigint)`,
);

function* jobStatus(event: Uuid, of: Owner): sql.Steps<ProcessingStatus | undefined> {
  const owner = yield* keyOrNull(of);
  const row = owner === undefined ? undefined : yield* sql.get<JobRow>(STATUS, [event], owner);
  return row && toStatus(row);
}

type Counts = { readonly pending: number; readonly failed: number };

/** Number of pending jobs, and how many of them failed since their last success. */
function* countJobs(of: Owner): sql.Steps<Counts> {
  const owner = yield* keyOf(of);
  const params = new Params();
  const found =
    owner === undefined
      ? undefined
      : yield* sql.get<Counts>(
          `SELECT count(*)::float8 AS pending, count(last_error)::float8 AS failed FROM work w
           WHERE w.status = 'pending' AND ${OF_KIND} AND ${ofOwner(params, "w.owner", owner)}`,
          ...params.values,
        );
  return found ?? { pending: 0, failed: 0 };
}

type Claims = {
  readonly access: sql.Access;
  readonly worker: Worker;
  readonly indexes: Pick<IndexWrites, "isIncomplete">;
};
type Wish = Pick<ClaimFilter, "limit" | "isDueOnly">;
type Claimed = { readonly job: MaterializationJob; readonly attempts: number };

/** Claims jobs, on a server in one transaction per owner, and reads their subjects. */
async function claimJobs(
  { access, worker, indexes }: Claims,
  of: Owner,
  wish: Wish,
): Promise<readonly MaterializationJob[]> {
  if (wish.limit <= 0) return [];
  const claim = (owner: sql.OwnerKey | undefined, limit: number): sql.Steps<readonly Claimed[]> =>
    leased(worker, (lease) => claimOf({ ...wish, kind: KIND, owner, limit }, lease, indexes));
  const claimed: Claimed[] = [];
  if (access.dialect.isOwnerInKeys && isEverybody(of)) {
    // Locks nothing: if owners are spread over servers, claiming several at once would lock on all of them.
    const shares = await access.read(ALL_OWNERS, () => nextShares(wish, worker));
    for (const [owner, some] of shares) {
      claimed.push(...(await access.writeAny(() => claim(owner, some.length))));
    }
    if (shares.size > 1) claimed.sort(byAttemptsAndTime);
  } else {
    const found = await access.writeAny(function* (): sql.Steps<readonly Claimed[]> {
      const owner = yield* keyOf(of);
      if (owner === undefined) return [];
      return yield* claim(typeof owner === "object" ? undefined : owner, wish.limit);
    });
    claimed.push(...found);
  }
  return claimed.map(({ job }) => job);
}

function byAttemptsAndTime(one: Claimed, other: Claimed): number {
  if (one.attempts !== other.attempts) return one.attempts - other.attempts;
  return one.job.event.timestamp < other.job.event.timestamp ? -1 : 1;
}

/** Which owners' jobs come next, and how many of each. */
function* nextShares(
  { limit, isDueOnly }: Wish,
  worker: Worker,
): sql.Steps<ReadonlyMap<sql.OwnerKey, readonly unknown[]>> {
  const { now, latest, gone } = yield* presentOf(undefined, yield* newLease(worker, LEASE_SECONDS));
  const rows = yield* sql.all<{ owner: sql.OwnerKey }>(
    `SELECT w.owner FROM work w WHERE w.kind = $1 AND w.status = 'pending' AND ${isFree("$3", "$4", "$5")}
       ${isDueOnly ? `AND ${isDue("$3")}` : ""} ORDER BY w.attempts, w.updated_at LIMIT $2`,
    ...[KIND, limit, now, latest, gone],
  );
  return Map.groupBy(rows, ({ owner }) => owner);
}

/** Claims jobs in one transaction, with their events, plans and unindexed nodes. */
function* claimOf(
  filter: ClaimFilter,
  lease: Lease,
  indexes: Claims["indexes"],
): sql.Steps<readonly Claimed[]> {
  const rows = yield* claimWork(filter, lease);
  const known = new Map<ClaimedRow, MaterializationJob>();
  for (const [owner, some] of Map.groupBy(rows, (row) => row.owner)) {
    const events = yield* readEvents(owner, some);
    const ids = events.map(({ id }) => asUuid(id));
    const [plans, unindexed] = yield* sql.together(
      readAuditRecordsById(ids.map(planRecordId)),
      readUnindexed(owner, ids, indexes),
    );
    const byKey = new Map(events.map((row) => [row.key, toEvent(row)]));
    for (const row of some) {
      const event = byKey.get(row.subject);
      if (event === undefined) continue;
      const record = plans.get(planRecordId(event.id));
      const plan = record && fromPlanRecord(record.payload)?.node;
      // The plan has the owner's name at that time.
      const plannedNode = plan && { ...plan, userId: event.userId };
      const own = plannedNode?.id ?? event.id;
      const lost = unindexed.filter((node) => node.evidenceRefs[0] === event.id && node.id !== own);
      const { generation } = row;
      known.set(row, {
        event,
        plannedNode,
        generation,
        ...(lost.length > 0 && { unindexed: lost }),
      });
    }
  }
  return rows.flatMap((row) => {
    const job = known.get(row);
    return job === undefined ? [] : [{ job, attempts: row.attempts }];
  });
}

const EVENTS = sql.statement(
  (d) => `${FROM_EVENTS} WHERE ${d.free("e.owner")} = $1::bigint AND e.key = ANY ($2::integer[])`,
);

function* readEvents(owner: sql.OwnerKey, rows: readonly ClaimedRow[]): sql.Steps<EventRow[]> {
  const subjects = rows.map(({ subject }) => subject);
  return yield* sql.all<EventRow>(EVENTS, owner, subjects);
}

/** The node that a direct store planned for an event. */
export function* plannedNode(event: Uuid): sql.Steps<MemoryNode | undefined> {
  const record = yield* readAuditRecord(planRecordId(event));
  return record && fromPlanRecord(record.payload)?.node;
}

/**
 * Active nodes with text, created by some events, that lack an index entry. The event that a node cites first created it; events cited
 * later did not.
 */
function* readUnindexed(
  owner: sql.OwnerKey,
  eventIds: readonly Uuid[],
  { isIncomplete }: Claims["indexes"],
): sql.Steps<readonly MemoryNode[]> {
  if (eventIds.length === 0) return [];
  const { isOwnerInKeys, free } = yield* sql.dialect();
  const citing = isOwnerInKeys
    ? "SELECT c.node_key FROM node_evidence c WHERE c.owner = $1::bigint AND c.event_id = ANY ($2::uuid[])"
    : "SELECT c.node FROM node_evidence c WHERE c.event IN (SELECT key FROM events WHERE id = ANY ($2::uuid[]))";
  const rows = yield* sql.all<NodeRow>(
    `${FROM_NODES} WHERE ${free("n.owner")} = $1::bigint AND n.key IN (${citing})
       AND (n.evidence_refs::json ->> 0) = ANY ($2::text[]) AND n.lifecycle_state IN ${ACTIVE} AND ${isIncomplete} ORDER BY n.id`,
    owner,
    eventIds,
  );
  return rows.map(toNode);
}

/**
 * Writes nodes, index entries and job states. A complete job is left alone; an existing node is kept; an inactive node is not indexed.
 * @returns the states of the jobs afterwards, in the order of the items
 */
async function materialize(
  access: sql.Access,
  items: readonly Materialization[],
  indexes: IndexWrites,
): Promise<readonly ProcessingStatus[]> {
  const states = new Map<Uuid, ProcessingStatus>();
  const write = async (
    groups: Iterable<readonly [string, readonly Materialization[]]>,
  ): Promise<void> => {
    const written = await sql.writeEach(access, groups, (userId, some) =>
      materializeOf(userId, some, indexes),
    );
    for (const state of written.flat()) states.set(state.eventId, state);
  };
  await write(sql.byOwner(access.dialect, items, ({ node }) => node.userId));
  const missing = items.filter(({ eventId: id }) => !states.has(id));
  if (missing.length > 0) {
    // Events that do not exist, or moved to another owner meanwhile.
    const ids = missing.map(({ eventId: id }) => id);
    const owners = await access.read(ALL_OWNERS, () => ownersOfJobs(ids));
    await write(
      new Map(
        Array.from(owners, ([userId, of]) => [
          userId,
          missing.filter(({ eventId: id }) => of.includes(id)),
        ]),
      ),
    );
  }
  return items.flatMap(({ eventId: id }) => states.get(id) ?? []);
}

/** Runs inside a write transaction of the owner. */
function* materializeOf(
  userId: string,
  given: readonly Materialization[],
  indexes: IndexWrites,
): sql.Steps<readonly ProcessingStatus[]> {
  const owner = (yield* sql.ownerKey(userId)) ?? 0;
  const ids = given.map(({ eventId: id }) => id);
  const [isSame, rows] = yield* sql.together(isOfModel(indexes.embedding), lockJobs(owner, ids));
  // Another process may have changed the model since these vectors were made.
  const items = new Map<Uuid, Materialization>();
  for (const item of given) items.getOrInsert(item.eventId, isSame ? item : withoutVector(item));
  const jobs = new Map(rows.map((job) => [job.event_id, job]));
  const open = [...items.values()].flatMap((item) => {
    const job = jobs.get(item.eventId);
    return job !== undefined && isOpen(job, item) ? [{ item, job }] : [];
  });
  const keys = yield* writeNodes(
    owner,
    open.map(({ item }) => item.node),
  );
  const done = yield* sql.together(...open.map(({ item, job }) => settle(owner, job, item)));
  const entries = open.flatMap(({ item }): Entry[] => {
    const key = keys.get(item.node.id);
    return key === undefined ? [] : [{ ...item, key }];
  });
  yield* indexes.write(owner, entries);
  const settled = new Map(done.map((state) => [state.eventId, state]));
  return rows.map((job) => settled.get(job.event_id) ?? toStatus(job));
}
