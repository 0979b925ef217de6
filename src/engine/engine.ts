import type { MemoryEvent } from "../domain/event.ts";
import type { ProcessingResult, ProcessingStatus } from "../domain/jobs.ts";
import type { MemoryNode } from "../domain/node.ts";
import type { Uuid } from "../lib/uuid.ts";
import type { EngineDeps } from "./deps.ts";
import type {
  EventQuery,
  FastIngestInput,
  FastIngestManyInput,
  NodeQuery,
  ProcessPendingInput,
  RebuildInput,
  RetrieveInput,
  StoreInput,
} from "./inputs.ts";
import { getNode, parseEventQuery, parseId, parseNodeQuery } from "./inspect/nodes.ts";
import { readStats } from "./inspect/stats.ts";
import { Lifetime } from "./lifetime.ts";
import { rebuildIndexes } from "./maintain/rebuild.ts";
import type { RebuildResult, RetrievalResponse, Stats, StoreReceipt } from "./results.ts";
import { retrieve } from "./retrieve/pipeline.ts";
import { ingestFast, ingestFastMany } from "./write/ingest-fast.ts";
import { drainBefore, matchesPack, processPending } from "./write/materialize.ts";
import { store } from "./write/store.ts";

/**
 * The memory of one pack or database. Every method checks its input before it does anything, and rejects with SvcError.
 * After `close()` every method rejects at once with code engine_closed.
 */
export type MemoryEngine = {
  /** Stores one memory and waits until it can be found. Returns the event's id. */
  store(input: StoreInput): Promise<Uuid>;
  /**
   * As `store`; returns the created node too.
   * @throws SvcError materialization_failed when the event is safe but its node could not be written
   */
  storeWithReceipt(input: StoreInput): Promise<StoreReceipt>;
  /** Admits one event durably, without embedding it; `processPending` makes it findable. Returns the event's id. */
  ingestFast(input: FastIngestInput): Promise<Uuid>;
  /**
   * Admits many events in one transaction; ids in input order.
   * @throws SvcError request_conflict when `requestId` was used with other items
   */
  ingestFastMany(input: FastIngestManyInput): Promise<readonly Uuid[]>;
  /** Builds nodes and index entries of admitted events until the work or the budget ends. */
  processPending(input?: ProcessPendingInput): Promise<ProcessingResult>;
  /** Undefined for an unknown or foreign event. */
  processingStatus(eventId: string, userId?: string): Promise<ProcessingStatus | undefined>;
  getEvent(eventId: string, userId?: string): Promise<MemoryEvent | undefined>;
  /** Newest first. */
  getEvents(query: EventQuery): Promise<readonly MemoryEvent[]>;
  /** Undefined for an unknown, foreign or (unless `includeSuperseded`) inactive node. */
  getNode(
    nodeId: string,
    options?: { readonly userId?: string | undefined; readonly includeSuperseded?: boolean },
  ): Promise<MemoryNode | undefined>;
  queryNodes(query?: NodeQuery): Promise<readonly MemoryNode[]>;
  retrieve(input: RetrieveInput): Promise<RetrievalResponse>;
  /** A count that fails reads 0. */
  stats(userId?: string): Promise<Stats>;
  /**
   * Makes the indexes anew from the graph, with the configured model; other processes keep reading and writing. What is
   * current is kept unless `all`. An interrupted run is continued by the next call.
   * @throws SvcError storage_busy while another process rebuilds; the signal's reason when aborted
   */
  rebuildIndexes(input?: RebuildInput): Promise<RebuildResult>;
  /**
   * Closes the files of an encrypted directory pack and forgets its key: every call fails with pack_locked until `unlock`.
   * @throws SvcError unsupported for a single-file pack, and for one in clear
   */
  lock(): Promise<void>;
  /** Opens a locked pack again. @throws SvcError encryption_failed for a wrong key; the pack stays locked */
  unlock(key: string): Promise<void>;
  /** Finishes queued work, then releases model and files. Idempotent. */
  close(): Promise<void>;
};

/**
 * Binds the engine's operations to what they stand on, and begins to finish work that an earlier process left behind.
 * The caller owns nothing any more: `close()` closes store and embedder.
 */
export function createEngine(deps: EngineDeps): MemoryEngine {
  const life = new Lifetime(deps);
  life.repair();
  return {
    store: (input) => life.use(async () => (await store(deps, input)).eventId),
    storeWithReceipt: (input) => life.use(() => store(deps, input)),
    ingestFast: (input) => life.use(() => ingestFast(deps, input)),
    ingestFastMany: (input) => life.use(() => ingestFastMany(deps, input)),
    processPending: (input = {}) => life.use(async () => processPending(deps, input)),
    processingStatus: (eventId, userId) =>
      life.use(async () => deps.store.jobStatus(parseId(eventId, "event_id"), userId)),
    getEvent: (eventId, userId) =>
      life.use(async () => deps.store.event(parseId(eventId, "event_id"), userId)),
    getEvents: (query) => life.use(async () => deps.store.events(parseEventQuery(query))),
    getNode: (nodeId, options = {}) => life.use(() => getNode(deps, nodeId, options)),
    queryNodes: (query = {}) => life.use(async () => deps.store.queryNodes(parseNodeQuery(query))),
    retrieve: (input) =>
      life.use(() =>
        retrieve(deps, input, {
          comparable: matchesPack(deps),
          drain: ({ filter, signal }) => drainBefore(deps, filter.userId, signal),
        }),
      ),
    stats: (userId) => life.use(() => readStats(deps, userId)),
    rebuildIndexes: (input = {}) => life.use(() => rebuildIndexes(deps, input)),
    lock: () => life.use(() => deps.store.lock()),
    unlock: (key) =>
      life.use(async () => {
        await deps.store.unlock(key);
        life.repair();
      }),
    close: () => life.close(),
  };
}
