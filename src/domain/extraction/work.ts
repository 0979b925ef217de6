import { addSeconds, type Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import { type ExtractionJob, retryAfterSeconds } from "../jobs.ts";
import { planIdOf } from "./plan/nodes.ts";
import { extractionRecordId } from "./records.ts";

// What the row of a piece of extraction work says, and what becomes of it, in every store.

/** The last try is this one. */
const TRIES = 4;

/** Work of extraction from an event, as its row has it. */
export type ExtractionWork = {
  readonly event_id: Uuid;
  readonly status: "pending" | "complete" | "failed";
  readonly attempts: number;
  readonly generation: number;
  readonly revision: number;
  readonly due: Instant | null;
  readonly last_error: string | null;
  readonly lease_owner: string | null;
  readonly lease_expires_at: Instant | null;
  readonly updated_at: Instant;
};

/** The id of the plan of the present revision, whether or not it is kept. */
export function planIdOfWork({
  event_id: id,
  revision,
}: Pick<ExtractionWork, "event_id" | "revision">): Uuid {
  return planIdOf({ event: { id }, revision });
}

/** @param isKept whether there is an operation with an id: that of the plan, then that of the answers' record */
export function jobOfWork(
  row: ExtractionWork,
  now: Instant,
  isKept: (id: Uuid) => boolean,
): ExtractionJob {
  const planId = planIdOfWork(row);
  const hasPlan = isKept(planId);
  const isRunning = row.status === "pending" && isHeld(row, now);
  return {
    eventId: row.event_id,
    status: isRunning ? "running" : row.status,
    phase: phaseOf(row, hasPlan, isKept),
    attempts: row.attempts,
    generation: row.generation,
    planId: hasPlan ? planId : undefined,
    planRevision: row.revision,
    leaseExpiresAt: isRunning ? (row.lease_expires_at ?? undefined) : undefined,
    nextAttemptAt: row.due ?? undefined,
    lastError: row.last_error ?? undefined,
    updatedAt: row.updated_at,
  };
}

function isHeld({ lease_owner, lease_expires_at }: ExtractionWork, now: Instant): boolean {
  return lease_owner !== null && lease_expires_at !== null && lease_expires_at > now;
}

function phaseOf(
  { status, event_id }: ExtractionWork,
  hasPlan: boolean,
  isKept: (id: Uuid) => boolean,
): ExtractionJob["phase"] {
  if (status === "complete") return "complete";
  if (hasPlan) return "publication";
  return isKept(extractionRecordId(event_id)) ? "preparation" : "extraction";
}

/** What a piece of work that was let go of is from then on. */
export type LetGo = {
  readonly status: ExtractionWork["status"];
  readonly due: Instant | undefined;
  readonly lastError: string | undefined;
  readonly at: Instant;
};

/** What work is after a try that published nothing. */
export function afterTry(
  { attempts }: Pick<ExtractionWork, "attempts">,
  end: { readonly failure: string } | "cancelled",
  at: Instant,
): LetGo {
  if (end === "cancelled") return { status: "pending", due: at, lastError: "Cancelled", at };
  const isLast = attempts >= TRIES;
  return {
    status: isLast ? "failed" : "pending",
    due: isLast ? undefined : addSeconds(at, retryAfterSeconds(attempts)),
    lastError: end.failure,
    at,
  };
}

/** Which of the work that comes first in its lane a claim takes. */
type Wish = {
  readonly eventId?: Uuid | undefined;
  /** Highest place in the queue, inclusive. */
  readonly upTo?: number | undefined;
  /** Whether what waits for its time is passed over. */
  readonly isDueOnly: boolean;
};

/** Whether a claim takes a piece of work that comes first in its lane and that nobody holds. */
export function fits(
  {
    event_id,
    subject,
    due,
    updated_at,
  }: Pick<ExtractionWork, "event_id" | "due" | "updated_at"> & { readonly subject: number },
  { eventId, upTo, isDueOnly }: Wish,
  now: Instant,
): boolean {
  if (eventId !== undefined && event_id !== eventId) return false;
  if (upTo !== undefined && subject > upTo) return false;
  // What was written in the future was written before the clock was set back.
  return !isDueOnly || due === null || due <= now || updated_at > now;
}
