import { isEverybody } from "../../../domain/owner.ts";
import type { WorkClaim } from "../../../ports/store/work-queue.ts";
import type { Sql } from "../connection/sql.ts";
import { NO_OWNER, ownerKey } from "../owner-key.ts";

/** Whether recurring work still has this holder; then it has until the transaction ends. Runs inside a write transaction. */
export async function isClaimHeld(sql: Sql, claim: WorkClaim): Promise<boolean> {
  const { kind, owner, generation } = claim;
  const row = await sql.get(
    `SELECT 1 FROM work WHERE owner = $1::bigint AND kind = $2 AND subject = 0 AND generation = $3
       AND lease_owner IS NOT NULL FOR UPDATE`,
    ...[isEverybody(owner) ? NO_OWNER : ownerKey(owner), kind, generation],
  );
  return row !== undefined;
}
