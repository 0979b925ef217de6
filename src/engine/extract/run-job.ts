import { failureCode } from "../../domain/extraction/failure.ts";
import { isTakenOver, takenOver } from "../../domain/jobs.ts";
import type { Instant } from "../../lib/instant.ts";
import type { ExtractionClaim } from "../../ports/store/extraction-queue.ts";
import { whileHeld } from "../while-held.ts";
import type { ExtractDeps, JobOptions } from "./deps.ts";

/** How one try at an event ended. */
export type JobEnd =
  | { readonly kind: "complete" }
  /** Nobody tries again by itself. */
  | { readonly kind: "failed"; readonly code: string }
  /** To be tried again from then on. */
  | { readonly kind: "waits"; readonly code: string; readonly due: Instant | undefined }
  | { readonly kind: "cancelled" }
  /** Another process has it. */
  | { readonly kind: "lost" };

/**
 * Tries a claimed event once, holding its lease, and writes down how that ended.
 * @throws what the store throws when it cannot be written to
 */
export async function runJob(
  deps: ExtractDeps,
  claim: ExtractionClaim,
  options: JobOptions,
): Promise<JobEnd> {
  const { store, settings } = deps;
  const lost = new AbortController();
  const signal = AbortSignal.any([options.signal, lost.signal]);
  const renew = async (): Promise<void> => {
    if (!(await store.renewExtraction(claim, settings.leaseSeconds))) lost.abort(takenOver());
  };
  // The rules of extraction are many patterns: who does not extract does not wait for them at the start.
  const { derive } = await import("./derive.ts");
  let code: string | undefined;
  try {
    code = await whileHeld(
      renew,
      () => derive(deps, claim, { ...options, signal }),
      settings.leaseSeconds,
    );
  } catch (error) {
    if (isTakenOver(error) || lost.signal.aborted) return { kind: "lost" };
    if (options.signal.aborted) return await endWith(deps, claim, "cancelled");
    code = failureCode(error);
  }
  return code === undefined ? { kind: "complete" } : await endWith(deps, claim, { failure: code });
}

async function endWith(
  { store, clock }: ExtractDeps,
  claim: ExtractionClaim,
  end: Parameters<ExtractDeps["store"]["endExtraction"]>[1],
): Promise<JobEnd> {
  const { status, nextAttemptAt } = await store.endExtraction(claim, end, clock.now());
  if (status === "complete") return { kind: "complete" };
  if (status === "running") return { kind: "lost" };
  if (end === "cancelled") return { kind: "cancelled" };
  return status === "failed"
    ? { kind: "failed", code: end.failure }
    : { kind: "waits", code: end.failure, due: nextAttemptAt };
}
