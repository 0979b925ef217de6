import type { Lease } from "../../../domain/jobs.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import type { OwnerKey } from "../owner-key.ts";
import { isDue, isFree, presentOf } from "./lease.ts";

/** A piece of work that was claimed. */
export type ClaimedRow = {
  readonly subject: number;
  readonly event_id: Uuid | null;
  readonly generation: number;
  readonly attempts: number;
};

export type ClaimFilter = {
  readonly kind: string;
  readonly owner: OwnerKey;
  readonly limit: number;
  /** Whether what waits for its time is passed over. */
  readonly isDueOnly: boolean;
};

/**
 * The rule for all claims: work that is pending, that nobody holds, that is due unless the caller does not ask, and that is the
 * first of its lane; fewest attempts first, then by subject. What another claim is taking at the moment is passed over. Runs inside
 * a transaction; the owner need not be locked.
 */
export async function claimWork(
  sql: Sql,
  { kind, owner, limit, isDueOnly }: ClaimFilter,
  lease: Lease,
): Promise<readonly ClaimedRow[]> {
  const { now, latest, gone } = await presentOf(sql, owner, lease);
  const rows = await sql.all<ClaimedRow>(
    `WITH picked AS MATERIALIZED (SELECT w.subject FROM work w
       WHERE w.owner = $1::bigint AND w.kind = $2 AND w.status = 'pending' AND ${isFree("$4", "$5", "$6")}
         ${isDueOnly ? `AND ${isDue("$4")}` : ""}
         AND (w.lane IS NULL OR NOT EXISTS (SELECT 1 FROM work b WHERE b.owner = $1::bigint AND b.kind = $2
           AND b.status = 'pending' AND b.lane = w.lane AND b.subject < w.subject))
       ORDER BY w.attempts, w.subject LIMIT $3 FOR UPDATE OF w SKIP LOCKED)
     UPDATE work w SET lease_owner = $7, lease_expires_at = $8, generation = w.generation + 1
     FROM picked p WHERE w.owner = $1::bigint AND w.kind = $2 AND w.subject = p.subject
     RETURNING w.subject, w.event_id, w.generation, w.attempts`,
    owner,
    kind,
    limit,
    now,
    latest,
    listText(gone),
    lease.holder,
    lease.until,
  );
  return rows.sort((a, b) => a.attempts - b.attempts || a.subject - b.subject);
}
