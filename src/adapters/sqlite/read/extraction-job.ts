import type { Database } from "bun:sqlite";
import type { Owner } from "../../../domain/owner.ts";
import { asInstant } from "../../../lib/instant.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { ExtractionJob } from "../../../ports/store/work-queue.ts";
import { userIdOf } from "../write/owners.ts";

type JobRow = {
  readonly status: "pending" | "complete";
  readonly attempts: number;
  readonly lease_expires_at: string | null;
  readonly last_error: string | null;
  readonly updated_at: string;
};

export function readExtractionJob(
  database: Database,
  eventId: Uuid,
  owner: Owner,
): ExtractionJob | undefined {
  const row = database
    .query<JobRow, [string, string | null]>(
      `SELECT j.status, j.attempts, j.lease_expires_at, j.last_error, j.updated_at
       FROM events e JOIN owners o ON o.owner = e.owner JOIN work j ON j.subject = e.key AND j.kind = 'extraction'
       WHERE e.id = ?1 AND (?2 IS NULL OR o.user_id = ?2)`,
    )
    .get(eventId, userIdOf(owner));
  if (row === null) return undefined;
  return {
    eventId,
    status: row.status,
    attempts: row.attempts,
    leaseExpiresAt: row.lease_expires_at === null ? undefined : asInstant(row.lease_expires_at),
    lastError: row.last_error ?? undefined,
    updatedAt: asInstant(row.updated_at),
  };
}
