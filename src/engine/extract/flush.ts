import type { Scope } from "../../domain/enums.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { ExtractionClaim } from "../../ports/store/extraction-queue.ts";
import type { ExtractDeps } from "./deps.ts";
import { type JobEnd, runJob } from "./run-job.ts";

/** What a flush takes on. */
export type FlushBounds = {
  readonly userId: string;
  /** Absent: all scopes of the owner. */
  readonly scope?: Scope | undefined;
  /** Highest order, inclusive. */
  readonly upTo: number | undefined;
  /** Whether what waits after a failure is passed over. */
  readonly isDueOnly: boolean;
  /** Events at most. Absent: all. */
  readonly limit?: number | undefined;
  /** Asked before each event. Absent: as long as there are any. */
  readonly goesOn?: ((done: ReadonlyMap<Uuid, JobEnd>) => boolean) | undefined;
  readonly signal: AbortSignal;
};

/**
 * Extracts queued events, one after the other in their order. One that has to be tried again later ends it where there is one scope,
 * because all that follow wait for it.
 * @returns how each ended that was tried
 */
export async function flush(
  deps: ExtractDeps,
  bounds: FlushBounds,
): Promise<ReadonlyMap<Uuid, JobEnd>> {
  const { userId: owner, scope, upTo, isDueOnly, goesOn = () => true, signal } = bounds;
  const { limit = Number.POSITIVE_INFINITY } = bounds;
  const { store, settings } = deps;
  const filter = { owner, scope, upTo, isDueOnly };
  const done = new Map<Uuid, JobEnd>();
  while (!signal.aborted && done.size < limit && goesOn(done)) {
    const claim = await store.claimExtraction(filter, settings.leaseSeconds);
    if (claim === undefined) break;
    const isTriedAgain = done.has(claim.event.id);
    const end = await runHeld(deps, claim, { upTo, maxTurns: limit - done.size, signal });
    done.set(claim.event.id, end);
    const isBlocked = end.kind !== "complete" && end.kind !== "failed";
    if (isTriedAgain || (isBlocked && (scope !== undefined || end.kind === "cancelled"))) break;
  }
  return done;
}

/** Runs a job. One that is lost meanwhile is claimed again, once and at once. */
async function runHeld(
  deps: ExtractDeps,
  claim: ExtractionClaim,
  options: Parameters<typeof runJob>[2],
): Promise<JobEnd> {
  const end = await runJob(deps, claim, options);
  if (end.kind !== "lost" || options.signal.aborted) return end;
  const { userId: owner, scope, id: eventId } = claim.event;
  const again = await deps.store.claimExtraction(
    { owner, scope, eventId, isDueOnly: false },
    deps.settings.leaseSeconds,
  );
  return again === undefined ? end : await runJob(deps, again, options);
}
