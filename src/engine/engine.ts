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
import {
  getAnswerCitations,
  listAnswerCitations,
  recordAnswerCitations,
} from "./receipts/citations.ts";
import { type Explanation, explainReceipt } from "./receipts/explain.ts";
import { createReceiptKeeper } from "./receipts/keep.ts";
import type {
  AnswerCitations,
  AnswerCitationsInput,
  AnswerCitationsQuery,
  KeptReceipt,
} from "./records.ts";
import type {
  MemoryBundle,
  RebuildResult,
  RetrievalResponse,
  Stats,
  StoreReceipt,
} from "./results.ts";
import { retrieve } from "./retrieve/pipeline.ts";
import type {
  AnswerabilityAssessment,
  ClaimVerification,
  Evidence,
  VerifyBundleOptions,
  VerifyClaimOptions,
} from "./verification.ts";
import { type AnswerabilityInput, assessAnswerability } from "./verify/answerability.ts";
import { verifyBundle, verifyClaim } from "./verify/claims.ts";
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
  /**
   * The receipt of a retrieval, checked anew. Undefined for an unknown or foreign request, and once it is no longer kept.
   * @throws SvcError storage_failed naming the retrieval when the receipt is damaged
   */
  getRetrievalReceipt(requestId: string, userId?: string): Promise<KeptReceipt | undefined>;
  /** Why each record was or was not in the context of a retrieval, from its receipt alone. As `getRetrievalReceipt`. */
  explain(requestId: string, userId?: string): Promise<Explanation | undefined>;
  /**
   * Records which memories an answer was made from. Changes neither memories nor ranking; an exact retry returns the first
   * record.
   * @throws SvcError not_found without such a receipt; bad_citation for a memory whose text was not in that context;
   *   request_conflict when the citation's id was used with other inputs
   */
  recordAnswerCitations(input: AnswerCitationsInput, userId: string): Promise<AnswerCitations>;
  /** Undefined for an unknown or foreign record. */
  getAnswerCitations(citationId: string, userId: string): Promise<AnswerCitations | undefined>;
  /** By ascending id. */
  listAnswerCitations(query: AnswerCitationsQuery): Promise<readonly AnswerCitations[]>;
  /**
   * Whether the context of a retrieval holds what an answer needs, as a language model sees it. Needs a context whose
   * records can be cited (`packing.context_citations`).
   * @throws SvcError unsupported without such a model in the settings; model_failed; model_timeout
   */
  assessAnswerability(input: AnswerabilityInput): Promise<AnswerabilityAssessment>;
  /**
   * Whether evidence supports or refutes a claim, as a local model sees it.
   * @throws SvcError unsupported without such a model in the settings; model_failed
   */
  verifyClaim(
    claim: string,
    evidence: readonly Evidence[],
    options?: VerifyClaimOptions,
  ): Promise<ClaimVerification>;
  /** The same with the records of a context as evidence; they have to be citable. */
  verifyBundle(
    claim: string,
    bundle: MemoryBundle,
    options?: VerifyBundleOptions,
  ): Promise<ClaimVerification>;
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
  const receipts = createReceiptKeeper(deps);
  const life = new Lifetime(deps, () => receipts.close());
  life.repair();
  const claims = { entailment: deps.entailment, settings: deps.settings.claims };
  const receiptOf = async (requestId: string, userId: string | undefined) =>
    receipts.read(parseId(requestId, "request_id"), userId);
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
          keep: (material) => receipts.keep(material),
        }),
      ),
    getRetrievalReceipt: (requestId, userId) => life.use(() => receiptOf(requestId, userId)),
    explain: (requestId, userId) =>
      life.use(async () => {
        const kept = await receiptOf(requestId, userId);
        return kept && explainReceipt(kept);
      }),
    recordAnswerCitations: (input, userId) =>
      life.use(() => recordAnswerCitations({ ...deps, receipts }, input, userId)),
    getAnswerCitations: (citationId, userId) =>
      life.use(() => getAnswerCitations(deps, citationId, userId)),
    listAnswerCitations: (query) => life.use(() => listAnswerCitations(deps, query)),
    assessAnswerability: (input) =>
      life.use(() =>
        assessAnswerability(
          { languageModel: deps.answerabilityModel, settings: deps.settings.answerability },
          input,
        ),
      ),
    verifyClaim: (claim, evidence, options) =>
      life.use(() => verifyClaim(claims, claim, evidence, options)),
    verifyBundle: (claim, bundle, options) =>
      life.use(() => verifyBundle(claims, claim, bundle, options)),
    stats: (userId) => life.use(() => readStats(deps, userId)),
    rebuildIndexes: (input = {}) => life.use(() => rebuildIndexes(deps, input)),
    lock: () =>
      life.use(async () => {
        await receipts.settle();
        await deps.store.lock();
      }),
    unlock: (key) =>
      life.use(async () => {
        await deps.store.unlock(key);
        life.repair();
      }),
    close: () => life.close(),
  };
}
