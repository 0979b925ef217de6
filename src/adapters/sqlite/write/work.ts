import type { Database } from "bun:sqlite";
import { dueAfter, type Lease, latestEnd } from "../../../domain/jobs.ts";
import { isEverybody, type Owner } from "../../../domain/owner.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { Outcome, WorkClaim } from "../../../ports/store/work.ts";
import { isGone } from "../../native/process-identity.ts";
import { ownerKey } from "./owners.ts";

/** Key of the owner of work for all owners. */
const ALL = 0;

/** A piece of work that was claimed. */
export type ClaimedRow = {
  readonly subject: number;
  readonly owner: number;
  readonly generation: number;
};

export type ClaimFilter = {
  readonly kind: string;
  /** Key of the owner. Absent: any. */
  readonly owner?: number | undefined;
  readonly limit: number;
  /** Whether what waits for its time is passed over. */
  readonly isDueOnly: boolean;
};

/**
 * The rule for all claims: work that is pending, that nobody holds, that is due unless the caller does not ask, and that is the
 * first of its lane; fewest attempts first, then by subject. Runs inside a write transaction.
 */
export function claimWork(
  database: Database,
  { kind, owner, limit, isDueOnly }: ClaimFilter,
  { holder, from: now, until }: Lease,
): readonly ClaimedRow[] {
  freeEndedLeases(database, holder, now);
  // What was written in the future was written before the clock was set back.
  const due = "(w.due IS NULL OR w.due <= ?3 OR w.updated_at > ?3)";
  const rows = database
    .query<ClaimedRow, (string | number)[]>(
      `SELECT w.subject, w.owner, w.generation + 1 AS generation FROM work w
       WHERE w.status = 'pending' AND w.kind = ?1 AND w.lease_owner IS NULL
         AND ${isDueOnly ? due : "?3 IS NOT NULL"} ${owner === undefined ? "" : "AND w.owner = ?4"}
         AND (w.lane IS NULL OR NOT EXISTS (SELECT 1 FROM work b WHERE b.status = 'pending' AND b.lane = w.lane
           AND b.kind = w.kind AND b.owner = w.owner AND b.subject < w.subject))
       ORDER BY w.attempts, w.subject LIMIT ?2`,
    )
    .all(kind, limit, now, ...(owner === undefined ? [] : [owner]));
  const take = database.query(
    `UPDATE work SET lease_owner = ?, lease_expires_at = ?, generation = generation + 1
     WHERE subject = ? AND kind = ? AND owner = ?`,
  );
  for (const row of rows) take.run(holder, until, row.subject, kind, row.owner);
  return rows;
}

/** Frees what a holder did not renew, and what processes of this machine left behind that are gone. Runs inside a write transaction. */
export function freeEndedLeases(database: Database, self: string, now: Instant): void {
  const holders = database
    .query<{ lease_owner: string }, []>(
      "SELECT DISTINCT lease_owner FROM work WHERE lease_owner IS NOT NULL",
    )
    .all();
  if (holders.length === 0) return;
  const free = "UPDATE work SET lease_owner = NULL, lease_expires_at = NULL WHERE lease_owner";
  database
    .query(`${free} IS NOT NULL AND lease_expires_at NOT BETWEEN ? AND ?`)
    .run(now, latestEnd(now));
  for (const { lease_owner: holder } of holders) {
    if (holder !== self && isGone(holder)) database.query(`${free} = ?`).run(holder);
  }
}

/**
 * Claims work that comes again and again. Runs inside a write transaction.
 * @returns the claim, or when to ask again; undefined for an owner that has nothing in the pack
 */
export function takeWork(
  database: Database,
  { kind, owner: of }: Pick<WorkClaim, "kind" | "owner">,
  isDueOnly: boolean,
  lease: Lease,
): WorkClaim | Instant | undefined {
  const owner = workOwner(database, of);
  if (owner === undefined) return undefined;
  database
    .query(
      "INSERT OR IGNORE INTO work (subject, kind, owner, status, updated_at) VALUES (0, ?, ?, 'pending', ?)",
    )
    .run(kind, owner, lease.from);
  const [row] = claimWork(database, { kind, owner, limit: 1, isDueOnly }, lease);
  if (row !== undefined) return { kind, owner: of, generation: row.generation };
  return (
    database
      .query<{ at: Instant | null }, [string, number]>(
        "SELECT coalesce(lease_expires_at, due) AS at FROM work WHERE subject = 0 AND kind = ? AND owner = ?",
      )
      .get(kind, owner)?.at ?? undefined
  );
}

function workOwner(database: Database, owner: Owner): number | undefined {
  return isEverybody(owner) ? ALL : ownerKey(database, owner);
}

/** How often work has failed in a row; undefined when the claim is over. */
export function failuresOf(database: Database, claim: WorkClaim): number | undefined {
  return database
    .query<{ attempts: number }, ClaimKey>(`SELECT attempts FROM work WHERE ${IS_CLAIMED}`)
    .get(...keyOf(database, claim))?.attempts;
}

/** Whether a claim of recurring work is still held. */
const IS_CLAIMED =
  "subject = 0 AND kind = ? AND owner = ? AND generation = ? AND lease_owner IS NOT NULL";
type ClaimKey = [kind: string, owner: number | null, generation: number];

function keyOf(database: Database, { kind, owner, generation }: WorkClaim): ClaimKey {
  return [kind, workOwner(database, owner) ?? null, generation];
}

/** @returns whether the claim was still held. Runs inside a write transaction. */
export function renewWork(database: Database, claim: WorkClaim, { until }: Lease): boolean {
  return update(database, claim, "lease_expires_at = ?", [until]);
}

/** Ends a claim. Runs inside a write transaction. @returns whether it was still held; else nothing is written */
export function finishWork(
  database: Database,
  claim: WorkClaim,
  outcome: Outcome | "stopped",
  at: Instant,
): boolean {
  const free = "lease_owner = NULL, lease_expires_at = NULL";
  if (outcome === "stopped") return update(database, claim, free, []);
  const before = failuresOf(database, claim);
  if (before === undefined) return false;
  const { failure, cooldownSeconds } = outcome;
  const failures = failure === undefined ? 0 : before + 1;
  return update(database, claim, `${free}, attempts = ?, last_error = ?, due = ?, updated_at = ?`, [
    failures,
    failure ?? null,
    dueAfter(at, failures, cooldownSeconds),
    at,
  ]);
}

function update(
  database: Database,
  claim: WorkClaim,
  set: string,
  values: readonly (string | number | null)[],
): boolean {
  const { changes } = database
    .query(`UPDATE work SET ${set} WHERE ${IS_CLAIMED}`)
    .run(...values, ...keyOf(database, claim));
  return changes === 1;
}
