import { readlinkSync } from "node:fs";
import { type Lease, latestEnd, leaseOf } from "../../../domain/jobs.ts";
import { asInstant, type Instant } from "../../../lib/instant.ts";
import type { Clock } from "../../../ports/system.ts";
import { isGone, processIdentity } from "../../native/process-identity.ts";
import type { Sql } from "../connection/sql.ts";
import type { OwnerKey } from "../owner-key.ts";

/** Who takes work, and by which time. */
export type Worker = {
  /** Differs for each open store, in all processes on all machines. */
  readonly holder: string;
  /** Undefined: the server's time, so that servers whose clocks differ agree on what is over. */
  readonly clock: Clock | undefined;
};

let stores = 0;

/**
 * Names a store so that another one on this machine can find out whether its process is still alive: the numbers of processes mean
 * something only where they are counted together.
 */
export function newHolder(): string {
  stores += 1;
  return `${counting()}|${processIdentity()}|${stores}`;
}

function isHolderGone(holder: string): boolean {
  const [where = "", ...identity] = holder.split("|");
  return where === counting() && isGone(identity.join("|"));
}

/** Where the numbers of processes are counted, which differs from container to container. */
function counting(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    // Not Linux: the name of the host has to do.
    return "";
  }
}

const SERVER_TIME = `to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/** The time by which leases are given and end. */
export async function timeOf(sql: Sql, clock: Clock | undefined): Promise<Instant> {
  if (clock !== undefined) return clock.now();
  const row = await sql.get<{ now: string }>(`SELECT ${SERVER_TIME} AS now`);
  return asInstant(row?.now ?? "");
}

/** A lease for a store from now on. */
export async function newLease(
  sql: Sql,
  { holder, clock }: Worker,
  seconds: number,
): Promise<Lease> {
  return leaseOf(holder, await timeOf(sql, clock), seconds);
}

/** What decides whether work is free, beside its row. */
export type Present = {
  readonly now: Instant;
  /** The latest end of a lease that holds something; a later one was given by a clock that has been set back. */
  readonly latest: Instant;
  /** Holders that are known to be gone. */
  readonly gone: readonly string[];
};

/**
 * Which holders of work are gone, those of this machine; nothing is known of others before their leases end.
 * @param owner whose work; undefined: anybody's
 */
export async function presentOf(
  sql: Sql,
  owner: OwnerKey | undefined,
  { holder: self, from: now }: Lease,
): Promise<Present> {
  const rows = await sql.all<{ holder: string }>(
    `SELECT DISTINCT lease_owner AS holder FROM work
     WHERE ${owner === undefined ? "" : "owner = $1::bigint AND "}lease_owner IS NOT NULL`,
    ...(owner === undefined ? [] : [owner]),
  );
  const gone = rows.map(({ holder }) => holder).filter((one) => one !== self && isHolderGone(one));
  return { now, latest: latestEnd(now), gone };
}

/** Whether nobody holds work `w`, as SQL. @param now, latest, gone: parameters with `Present` */
export function isFree(now: string, latest: string, gone: string): string {
  return `(w.lease_owner IS NULL OR w.lease_expires_at NOT BETWEEN ${now} AND ${latest}
    OR w.lease_owner = ANY(${gone}::text[]))`;
}

/**
 * Whether work `w` is due, as SQL. What was written in the future was written before the clock was set back.
 * @param now a parameter
 */
export function isDue(now: string): string {
  return `(w.due IS NULL OR w.due <= ${now} OR w.updated_at > ${now})`;
}
