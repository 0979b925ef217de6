import { SvcError } from "../../domain/errors.ts";
import { isEverybody, type Owner } from "../../domain/owner.ts";
import type { Activity } from "../../ports/store/activity.ts";
import type { Blobs } from "../../ports/store/blobs.ts";
import type { EventLog } from "../../ports/store/event-log.ts";
import type { ExtractionQueue } from "../../ports/store/extraction-queue.ts";
import type { Graph } from "../../ports/store/graph.ts";
import type { Store } from "../../ports/store/store.ts";
import type { WorkQueue } from "../../ports/store/work-queue.ts";
import type { EngineDeps } from "../deps.ts";
import type { Stats, StatsDetails } from "./api.ts";

type StatsDeps = Pick<
  EngineDeps<
    EventLog &
      Graph &
      Blobs &
      Activity &
      WorkQueue &
      ExtractionQueue &
      Pick<Store, "backend" | "manifest">
  >,
  "store" | "warn" | "isReadOnly" | "embedder"
>;

/** Failures of which all counts would fail. */
const OF_ALL: ReadonlySet<string> = new Set(["pack_locked", "storage_unavailable"]);

/** Counts of an owner. One that fails reads 0 and is reported. @throws SvcError pack_locked, storage_unavailable */
export async function readStats(deps: StatsDeps, owner: Owner): Promise<Stats> {
  const attempt = async <T>(count: Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await count;
    } catch (error) {
      if (error instanceof SvcError && OF_ALL.has(error.code)) throw error;
      deps.warn("stats: a count failed");
      return otherwise;
    }
  };
  const [nodeCount, eventCount, details] = await Promise.all([
    attempt(deps.store.countNodes(owner), 0),
    attempt(deps.store.countEvents(owner), 0),
    attempt<StatsDetails | undefined>(readDetails(deps, owner), undefined),
  ]);
  return { nodeCount, eventCount, backend: deps.store.backend, details };
}

async function readDetails(
  { store, embedder, isReadOnly = false }: StatsDeps,
  owner: Owner,
): Promise<StatsDetails> {
  const [state, { embedding }, jobs, extractions, blobs] = await Promise.all([
    store.storeState(owner),
    store.manifest(),
    store.countJobs(owner),
    store.countExtractions(owner),
    store.blobTotals(owner),
  ]);
  const { changeSequence, bytes, isEncrypted, states, receipts } = state;
  return {
    changeSequence,
    bytes: isEverybody(owner) ? bytes : undefined,
    encrypted: isEncrypted,
    readOnly: isReadOnly,
    model: embedding,
    states,
    jobs,
    extractions,
    embeddings: isEverybody(owner) ? embedder.use?.() : undefined,
    receipts,
    blobs,
  };
}
