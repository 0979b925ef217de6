import { SvcError } from "../../domain/errors.ts";
import { pause } from "../../lib/pause.ts";
import { untilAborted } from "../../lib/until-aborted.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { IngestInput } from "../write/api.ts";
import { ingest, type KeptWith } from "../write/ingest.ts";
import { store } from "../write/store.ts";
import type { ObserveDeps } from "./deps.ts";

/** Jobs of the owner that one further try of extraction may take along. */
const RETRIED_JOBS = 10;

/** A described frame, ready to be stored. */
export type FrameMemory = Pick<
  IngestInput,
  "content" | "userId" | "sessionId" | "metadata" | "eventTime" | "scope"
>;

/** How far extraction from a frame is; undefined: nothing is extracted from it. */
export type Admitted = { readonly extraction: string | undefined };

/**
 * Stores the description of a frame. Once its event is durable, the frame counts as admitted, whatever becomes of the extraction: it
 * is tried again after each delay, and then left to its queue.
 * @throws SvcError as `store`: nothing was stored; the reason of the signal
 */
export async function admitFrame(
  deps: ObserveDeps,
  memory: FrameMemory,
  kept: KeptWith & { readonly eventId: Uuid },
  signal: AbortSignal,
): Promise<Admitted> {
  const { extract } = deps.settings.observation;
  const input = { ...memory, role: "tool" } as const;
  if (!extract || deps.extractions === undefined) {
    // Without extraction a message is a note as well, which shares the id of its event.
    await orIndexedLater(store(deps, input, { ...kept, isRawNote: extract }));
    return { extraction: undefined };
  }
  const whole = ingest(deps, { ...input, waitForExtraction: true }, kept);
  await orExtractedLater(untilAborted(whole, signal));
  return { extraction: await settled(deps, kept.eventId, memory.userId, signal) };
}

/** The event is safe, and its work is done later. */
async function orIndexedLater(step: Promise<unknown>): Promise<void> {
  await step.catch((error: unknown) => {
    if (!(error instanceof SvcError && error.code === "materialization_failed")) throw error;
  });
}

async function orExtractedLater(step: Promise<unknown>): Promise<void> {
  await step.catch((error: unknown) => {
    if (!(error instanceof SvcError && error.code === "extraction_failed")) throw error;
  });
}

/** The status of an extraction, after as many further tries as the settings allow. */
async function settled(
  { store: pack, extractions, clock, settings }: ObserveDeps,
  id: Uuid,
  userId: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const delayMs of settings.observation.extractionRetryDelaysMs) {
    const job = await pack.extractionJob(id, userId);
    if (job === undefined || job.status === "complete") break;
    await pause(delayMs, signal);
    await pack.retryExtraction(id, userId, { isReplan: false, at: clock.now() });
    const bounds = { userId, limit: RETRIED_JOBS, budgetMs: Number.MAX_SAFE_INTEGER };
    await untilAborted(extractions?.process(bounds) ?? Promise.resolve(0), signal);
  }
  return (await pack.extractionJob(id, userId))?.status;
}
