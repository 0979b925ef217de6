import type { MemoryEvent } from "../domain/event.ts";
import type { ProcessingResult, ProcessingStatus } from "../domain/jobs.ts";
import type { MemoryNode } from "../domain/node.ts";
import type { Uuid } from "../lib/uuid.ts";
import type {
  EventQuery,
  FastIngestInput,
  FastIngestManyInput,
  NodeQuery,
  ProcessPendingInput,
  RetrieveInput,
  StoreInput,
} from "./inputs.ts";
import type { RetrievalResponse, Stats, StoreReceipt } from "./results.ts";

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
  /** Finishes queued work, then releases model and files. Idempotent. */
  close(): Promise<void>;
};
