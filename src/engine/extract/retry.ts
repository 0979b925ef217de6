import { parseId, parseOptionalBoolean, parseOwner } from "../../domain/arguments.ts";
import type { ExtractionJob } from "../../domain/jobs.ts";
import type { EventLog } from "../../ports/store/event-log.ts";
import type { ExtractionQueue } from "../../ports/store/extraction-queue.ts";
import type { EngineDeps } from "../deps.ts";
import type { RetryExtractionOptions } from "./api.ts";
import type { Extractions } from "./extractions.ts";

export type RetryDeps = Pick<EngineDeps<ExtractionQueue & EventLog>, "store" | "clock"> & {
  readonly extractions: Extractions | undefined;
};

/**
 * Makes extraction from an event due now, if it waits or has failed. It is extracted with what is queued next of its owner and scope.
 * @throws SvcError invalid_argument
 */
export async function retryExtraction(
  { store, clock, extractions }: RetryDeps,
  eventId: string,
  options: RetryExtractionOptions,
): Promise<ExtractionJob | undefined> {
  const id = parseId(eventId, "event_id");
  const owner = parseOwner(options.userId);
  const isReplan = parseOptionalBoolean(options.replan, "replan") ?? false;
  const job = await store.retryExtraction(id, owner, { isReplan, at: clock.now() });
  const event = job?.status === "pending" ? await store.event(id, owner) : undefined;
  if (event !== undefined) extractions?.retried(event);
  return job;
}
