import { readlinkSync } from "node:fs";
import { dueAfter, LEASE_SECONDS, type Lease, latestEnd, leaseOf } from "../../domain/jobs.ts";
import { isEverybody, type Owner } from "../../domain/owner.ts";
import { asInstant, type Instant } from "../../lib/instant.ts";
import type { Outcome, WorkClaim, WorkQueue } from "../../ports/store/work.ts";
import type { Clock } from "../../ports/system.ts";
import { isGone, processIdentity } from "../native/process-identity.ts";
import * as sql from "./statement.ts";

/** Who takes work, and by which clock. */
export type Worker = {
  /** Different for each open store, in all processes on all machines. */
  readonly holder: string;
  /** Undefined: the server's time, so that clients with different clocks agree on what has expired. */
  readonly clock: Clock | undefined;
};

/** Work that comes again and again. */
export function bindWork({ writeAny }: sql.Access, worker: Worker) {
  return {
    takeWork: (work, isDueOnly) =>
      writeAny(() => leased(worker, (lease) => takeWork(work, isDueOnly, lease))),
    renewWork: (claim) => writeAny(() => leased(worker, (lease) => renewWork(claim, lease))),
    finishWork: (claim, outcome) =>
      writeAny(() => leased(worker, ({ from }) => finishWork(claim, outcome, from))),
  } satisfies Partial<WorkQueue>;
}

let stores = 0;

/**
 * Identifies a store so that another one on this machine can find out whether its process is still alive: process ids are only comparable
 * within one namespace.
 */
export function newHolder(): string {
  stores += 1;
  return `${counting()}|${processIdentity()}|${stores}`;
}

function isHolderGone(holder: string): boolean {
  const [where = "", ...identity] = holder.split("|");
  return where === counting() && isGone(identity.join("|"));
}

/** The process id namespace, which differs between containers. */
function counting(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    // Not Linux: use the host name.
    return "";
  }
}

const SERVER_TIME = `SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS now`;

/** The clock for leases. */
export function* timeOf(clock: Clock | undefined): sql.Steps<Instant> {
  if (clock !== undefined) return clock.now();
  return asInstant((yield* sql.get<{ now: string }>(SERVER_TIME))?.now ?? "");
}

/** A lease for a store from now on. */
export function* newLease({ holder, clock }: Worker, seconds: number): sql.Steps<Lease> {
  return leaseOf(holder, yield* timeOf(clock), seconds);
}

export function* leased<T>(
  worker: Worker,
  use: (lease: Lease) => sql.Steps<T>,
  seconds = LEASE_SECONDS,
): sql.Steps<T> {
  return yield* use(yield* newLease(worker, seconds));
}

/** What determines whether work is free, besides its row. */
export type Present = {
  readonly now: Instant;
  /** The latest valid end of a lease; a later one was issued by a clock set back since. */
  readonly latest: Instant;
  /** Holders known to be gone. */
  readonly gone: readonly string[];
};

const HOLDERS = "SELECT DISTINCT lease_owner AS holder FROM work WHERE lease_owner IS NOT NULL";
const ALL_HOLDERS = sql.statement(HOLDERS);
const HOLDERS_OF = sql.statement((d) => `${HOLDERS} AND ${d.free("owner")} = $1::bigint`);
const FREE = "UPDATE work SET lease_owner = NULL, lease_expires_at = NULL WHERE lease_owner";
const FREE_ENDED = sql.statement(`${FREE} IS NOT NULL AND lease_expires_at NOT BETWEEN $1 AND $2`);
const FREE_GONE = sql.statement(`${FREE} = ANY ($1::text[])`);

/**
 * Which local holders of work are gone; others are unknown until their leases end. A pack, which has no other writer meanwhile, then drops
 * expired leases. Runs inside a write transaction, but on a server it only reads.
 * @param owner whose work; undefined: all
 */
export function* presentOf(
  owner: sql.OwnerKey | undefined,
  { holder: self, from: now }: Lease,
): sql.Steps<Present> {
  const { isOwnerInKeys } = yield* sql.dialect();
  const rows =
    owner === undefined || !isOwnerInKeys
      ? yield* sql.all<{ holder: string }>(ALL_HOLDERS)
      : yield* sql.all<{ holder: string }>(HOLDERS_OF, owner);
  const holders = rows.map(({ holder }) => holder);
  const gone = holders.filter((one) => one !== self && isHolderGone(one));
  const latest = latestEnd(now);
  if (!isOwnerInKeys && holders.length > 0) {
    yield* sql.run(FREE_ENDED, now, latest);
    if (gone.length > 0) yield* sql.run(FREE_GONE, gone);
  }
  return { now, latest, gone };
}

/** Whether work `w` is free, as SQL. @param now, latest, gone: parameters of `Present` */
export function isFree(now: string, latest: string, gone: string): string {
  return `(w.lease_owner IS NULL OR w.lease_expires_at NOT BETWEEN ${now} AND ${latest}
    OR w.lease_owner = ANY (${gone}::text[]))`;
}

/** Whether work `w` is due, as SQL. A time in the future was written before the clock was set back. @param now a parameter */
export function isDue(now: string): string {
  return `(w.due IS NULL OR w.due <= ${now} OR w.updated_at > ${now})`;
}

/** A claimed piece of work. */
export type ClaimedRow = {
  readonly subject: number;
  readonly owner: sql.OwnerKey;
  readonly generation: number;
  readonly attempts: number;
};

export type ClaimFilter = {
  readonly kind: string;
  /** Absent: any, in a pack. */
  readonly owner?: sql.OwnerKey | undefined;
  readonly limit: number;
  /** Whether work that is not due yet is skipped. */
  readonly isDueOnly: boolean;
};

/** In a pack, which drops expired leases, the last value is not used. */
const pick = (ofOwner: string, isDueOnly: boolean) =>
  sql.statement(
    ({
      isOwnerInKeys,
    }) => `SELECT w.subject, w.owner, w.generation + 1 AS generation, w.attempts FROM work w
      WHERE w.status = 'pending' AND w.kind = $1 ${ofOwner}
        AND ${isOwnerInKeys ? isFree("$3", "$4", "$5") : "w.lease_owner IS NULL AND $5 IS NOT NULL"} ${isDueOnly ? `AND ${isDue("$3")}` : ""}
        AND (w.lane IS NULL OR NOT EXISTS (SELECT 1 FROM work b WHERE b.status = 'pending' AND b.lane = w.lane
          AND b.kind = w.kind AND b.owner = w.owner AND b.subject < w.subject))
      ORDER BY w.attempts, w.subject LIMIT $2 ${isOwnerInKeys ? "FOR UPDATE OF w SKIP LOCKED" : ""}`,
  );
const OF_OWNER = "AND w.owner = $6::bigint";
const PICKS = {
  one: { due: pick(OF_OWNER, true), any: pick(OF_OWNER, false) },
  all: { due: pick("", true), any: pick("", false) },
};
const take = (ofOwner: string) =>
  sql.statement(`UPDATE work SET lease_owner = $3, lease_expires_at = $4, generation = generation + 1
    WHERE kind = $1 AND subject = ANY ($2::integer[]) ${ofOwner}`);
const TAKE_OF = take("AND owner = $5::bigint");
const TAKE = take("");

/**
 * The rule for all claims: work that is pending, free, due (if requested), and first in its lane; fewest attempts first, then by subject.
 * Rows locked by another claim are skipped. Runs inside a write transaction; the owner need not be locked.
 */
export function* claimWork(
  { kind, owner, limit, isDueOnly }: ClaimFilter,
  lease: Lease,
): sql.Steps<readonly ClaimedRow[]> {
  const { now, latest, gone } = yield* presentOf(owner, lease);
  const of = owner === undefined ? [] : [owner];
  const picks = PICKS[owner === undefined ? "all" : "one"];
  const rows = yield* sql.all<ClaimedRow>(
    isDueOnly ? picks.due : picks.any,
    ...[kind, limit, now, latest, gone, ...of],
  );
  if (rows.length === 0) return rows;
  const subjects = rows.map(({ subject }) => subject);
  const given = [kind, subjects, lease.holder, lease.until, ...of];
  yield* sql.run(owner === undefined ? TAKE : TAKE_OF, ...given);
  return rows;
}

/** The owner of work for all owners. */
const ALL = 0;

function* workOwner(owner: Owner): sql.Steps<sql.OwnerKey | undefined> {
  return isEverybody(owner) ? ALL : yield* sql.ownerKey(owner);
}

const IS_KNOWN = sql.statement("SELECT 1 FROM owners WHERE owner = $1::bigint");
const BEGIN =
  sql.statement(`INSERT INTO work (owner, kind, subject, status, updated_at) VALUES ($1::bigint, $2, 0, 'pending', $3)
  ON CONFLICT DO NOTHING`);
const NEXT = sql.statement(
  `SELECT CASE WHEN ${isFree("$3", "$4", "$5")} THEN w.due ELSE w.lease_expires_at END AS at FROM work w
   WHERE w.owner = $1::bigint AND w.kind = $2 AND w.subject = 0`,
);

/** Claims recurring work. Runs inside a write transaction. @returns the claim, or when to ask again; undefined for an owner without data */
export function* takeWork(
  { kind, owner: of }: Pick<WorkClaim, "kind" | "owner">,
  isDueOnly: boolean,
  lease: Lease,
): sql.Steps<WorkClaim | Instant | undefined> {
  const owner = yield* workOwner(of);
  if (owner === undefined) return undefined;
  if (owner !== ALL && (yield* sql.get(IS_KNOWN, owner)) === undefined) return undefined;
  yield* sql.run(BEGIN, owner, kind, lease.from);
  const [row] = yield* claimWork({ kind, owner, limit: 1, isDueOnly }, lease);
  if (row !== undefined) return { kind, owner: of, generation: row.generation };
  const given = [owner, kind, lease.from, latestEnd(lease.from), []];
  const found = yield* sql.get<{ at: Instant | null }>(NEXT, ...given);
  if (found?.at != null) return found.at;
  // On a server another claim is taking it right now: its lease begins now.
  return (yield* sql.dialect()).isOwnerInKeys ? lease.until : undefined;
}

/** Whether a claim of recurring work is still held. */
const IS_CLAIMED =
  "owner = $1::bigint AND kind = $2 AND subject = 0 AND generation = $3 AND lease_owner IS NOT NULL";

function* keyOf({ kind, owner, generation }: WorkClaim): sql.Steps<readonly sql.SqlValue[]> {
  return [(yield* workOwner(owner)) ?? null, kind, generation];
}

const FAILURES = sql.statement(
  (d) => `SELECT attempts FROM work WHERE ${IS_CLAIMED} ${d.isOwnerInKeys ? "FOR UPDATE" : ""}`,
);

/** The number of failures in a row; undefined if the claim is over. It is locked until the transaction ends. */
export function* failuresOf(claim: WorkClaim): sql.Steps<number | undefined> {
  const row = yield* sql.get<{ attempts: number }>(FAILURES, ...(yield* keyOf(claim)));
  return row?.attempts;
}

const RENEW = sql.statement(`UPDATE work SET lease_expires_at = $4 WHERE ${IS_CLAIMED}`);
const LET_GO = "lease_owner = NULL, lease_expires_at = NULL";
const STOP = sql.statement(`UPDATE work SET ${LET_GO} WHERE ${IS_CLAIMED}`);
const FINISH = sql.statement(
  `UPDATE work SET ${LET_GO}, attempts = $4, last_error = $5, due = $6, updated_at = $7 WHERE ${IS_CLAIMED}`,
);

/** @returns whether the claim was still held. Runs inside a write transaction. */
export function* renewWork(claim: WorkClaim, { until }: Lease): sql.Steps<boolean> {
  return (yield* sql.run(RENEW, ...(yield* keyOf(claim)), until)) === 1;
}

/** Ends a claim. Runs inside a write transaction. @returns whether it was still held; otherwise nothing is written */
export function* finishWork(
  claim: WorkClaim,
  outcome: Outcome | "stopped",
  at: Instant,
): sql.Steps<boolean> {
  const key = yield* keyOf(claim);
  if (outcome === "stopped") return (yield* sql.run(STOP, ...key)) === 1;
  const before = yield* failuresOf(claim);
  if (before === undefined) return false;
  const { failure, cooldownSeconds } = outcome;
  const failures = failure === undefined ? 0 : before + 1;
  const due = dueAfter(at, failures, cooldownSeconds);
  return (yield* sql.run(FINISH, ...key, failures, failure ?? null, due, at)) === 1;
}
