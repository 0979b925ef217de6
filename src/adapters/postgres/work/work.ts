import { dueAfter, type Lease, latestEnd } from "../../../domain/jobs.ts";
import { isEverybody, type Owner } from "../../../domain/owner.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { Outcome, WorkClaim } from "../../../ports/store/work.ts";
import type { Sql, SqlValue } from "../connection/sql.ts";
import { NO_OWNER, type OwnerKey, ownerKey } from "../owner-key.ts";
import { claimWork } from "./claim.ts";
import { isFree } from "./lease.ts";

/** No holders, as an array literal. */
const NOBODY = "{}";

/**
 * Claims work that comes again and again. Runs inside a transaction.
 * @returns the claim, or when to ask again; undefined for an owner that has nothing
 */
export async function takeWork(
  sql: Sql,
  { kind, owner: of }: Pick<WorkClaim, "kind" | "owner">,
  isDueOnly: boolean,
  lease: Lease,
): Promise<WorkClaim | Instant | undefined> {
  const owner = workOwner(of);
  if (owner !== NO_OWNER) {
    const known = await sql.get("SELECT 1 FROM owners WHERE owner = $1::bigint", owner);
    if (known === undefined) return undefined;
  }
  await sql.run(
    `INSERT INTO work (owner, kind, subject, status, updated_at) VALUES ($1::bigint, $2, 0, 'pending', $3)
     ON CONFLICT (owner, kind, subject) DO NOTHING`,
    owner,
    kind,
    lease.from,
  );
  const [row] = await claimWork(sql, { kind, owner, limit: 1, isDueOnly }, lease);
  if (row !== undefined) return { kind, owner: of, generation: row.generation };
  const found = await sql.get<{ at: Instant | null }>(
    `SELECT CASE WHEN ${isFree("$3", "$4", "$5")} THEN w.due ELSE w.lease_expires_at END AS at FROM work w
     WHERE w.owner = $1::bigint AND w.kind = $2 AND w.subject = 0`,
    owner,
    kind,
    lease.from,
    latestEnd(lease.from),
    NOBODY,
  );
  // Another claim is taking it at the moment: its lease begins now.
  return found?.at ?? lease.until;
}

function workOwner(owner: Owner): OwnerKey {
  return isEverybody(owner) ? NO_OWNER : ownerKey(owner);
}

/** Whether a claim of recurring work is still held. */
const IS_CLAIMED =
  "owner = $1::bigint AND kind = $2 AND subject = 0 AND generation = $3 AND lease_owner IS NOT NULL";

function keyOf({ kind, owner, generation }: WorkClaim): readonly SqlValue[] {
  return [workOwner(owner), kind, generation];
}

/** How often work has failed in a row; undefined when the claim is over. Nobody takes it over before the transaction ends. */
export async function failuresOf(sql: Sql, claim: WorkClaim): Promise<number | undefined> {
  const row = await sql.get<{ attempts: number }>(
    `SELECT attempts FROM work WHERE ${IS_CLAIMED} FOR UPDATE`,
    ...keyOf(claim),
  );
  return row?.attempts;
}

/** @returns whether the claim was still held. Runs inside a transaction. */
export async function renewWork(sql: Sql, claim: WorkClaim, { until }: Lease): Promise<boolean> {
  return await update(sql, claim, "lease_expires_at = $4", until);
}

/** Ends a claim. Runs inside a transaction. @returns whether it was still held; else nothing is written */
export async function finishWork(
  sql: Sql,
  claim: WorkClaim,
  outcome: Outcome | "stopped",
  at: Instant,
): Promise<boolean> {
  const free = "lease_owner = NULL, lease_expires_at = NULL";
  if (outcome === "stopped") return await update(sql, claim, free);
  const before = await failuresOf(sql, claim);
  if (before === undefined) return false;
  const { failure, cooldownSeconds } = outcome;
  const failures = failure === undefined ? 0 : before + 1;
  return await update(
    sql,
    claim,
    `${free}, attempts = $4, last_error = $5, due = $6, updated_at = $7`,
    failures,
    failure ?? null,
    dueAfter(at, failures, cooldownSeconds),
    at,
  );
}

async function update(
  sql: Sql,
  claim: WorkClaim,
  set: string,
  ...values: readonly SqlValue[]
): Promise<boolean> {
  const changed = await sql.run(
    `UPDATE work SET ${set} WHERE ${IS_CLAIMED}`,
    ...keyOf(claim),
    ...values,
  );
  return changed === 1;
}
