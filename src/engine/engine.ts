import { parseId, parseOwner } from "../domain/arguments.ts";
import { invalid, reasonCode, SvcError } from "../domain/errors.ts";
import { forgetStatements } from "../domain/replacement.ts";
import type { Uuid } from "../lib/uuid.ts";
import type { Upkeep } from "../ports/store/work.ts";
import {
  aggregateAssertions,
  aggregateFromText,
  aggregateQuantities,
} from "./aggregate/aggregations.ts";
import { assertionState } from "./aggregate/state.ts";
import {
  browse,
  changes,
  facets,
  getEdges,
  getNodeEdges,
  getNodes,
  listChanges,
  listContradictions,
  listEntities,
  listEvents,
  listSessions,
  timeline,
} from "./browse/browse.ts";
import { createGate } from "./concurrency.ts";
import type { EngineDeps } from "./deps.ts";
import {
  createExtractions,
  type Extractions,
  processExtractions,
  retryExtraction,
} from "./extract/extractions.ts";
import { forget } from "./forget/forget.ts";
import { getForgetting, listForgettings, verifyForgetting } from "./forget/receipt.ts";
import { importSource, undoImport } from "./import/import.ts";
import {
  chain,
  createReadiness,
  findBlob,
  getEventNodes,
  getNode,
  iterNodes,
  neighborhood,
  parseEventQuery,
  parseNodeQuery,
  readStats,
  scanNodes,
} from "./inspect/nodes.ts";
import { extractionStatus, getExtraction, getProvenance } from "./inspect/provenance.ts";
import { createStoreSteps } from "./lifecycle/after-store.ts";
import { opponentsOf, settleUnopposed } from "./lifecycle/disputes.ts";
import { CONTRADICT, changePair, RESOLVE, SUPERSEDE } from "./lifecycle/pair.ts";
import { restore, restoreFaded } from "./lifecycle/restore.ts";
import { evaluateCondition, pin, reinforce, transition } from "./lifecycle/transitions.ts";
import type { MemoryEngine } from "./memory-engine.ts";
import { observe, observeSource } from "./observe/observe.ts";
import type { ObserveDeps } from "./observe/observe-frame.ts";
import { createFeedback, type Feedback } from "./organize/feedback.ts";
import { createRunner, jobsOf, type Occasion } from "./organize/jobs.ts";
import { endSession, organize, rebuildIndexes } from "./organize/organize.ts";
import type { OrganizerJob } from "./organize/organizer/job.ts";
import { snapshot } from "./organize/organizer/jobs.ts";
import { createOverviews, type Overviews } from "./overview.ts";
import { claimPack, moveOwner, ownersWithMemories, packOwner, usePackOwner } from "./owners.ts";
import { consolidateKnowledge } from "./profiles.ts";
import {
  getAnswerCitations,
  listAnswerCitations,
  recordAnswerCitations,
} from "./receipts/citations.ts";
import { explainReceipt } from "./receipts/explain.ts";
import { createReceiptKeeper, type ReceiptKeeper } from "./receipts/keep.ts";
import { listRetrievals, listUses } from "./receipts/list.ts";
import { type RetrieveContext, retrieve } from "./retrieve/pipeline.ts";
import type { IngestInput, StoreInput, StoreReceipt } from "./write/api.ts";
import { ingest, ingestBatch, ingestFast, ingestFastMany } from "./write/ingest.ts";
import { drainBefore, matchesPack, processPending } from "./write/materialize.ts";
import { store } from "./write/store.ts";
import { storeMany } from "./write/store-many.ts";

/** Creates the engine, which resumes what an earlier process left and owns its dependencies: `close()` closes them. */
export function createEngine(given: EngineDeps): MemoryEngine {
  const receipts = createReceiptKeeper(given);
  const lastUses: Upkeep["lastUses"] = async (ids) => {
    await receipts.settle();
    return given.store.lastUses(ids);
  };
  const deps: EngineDeps = { ...given, store: { ...given.store, lastUses } };
  const extractions = createExtractions(deps);
  const life = new Lifetime(deps, {
    drain: async () => extractions?.close(),
    finish: () => receipts.close(),
  });
  const background: Lifetime["background"] = (...work) => life.background(...work);
  const runner = createRunner({ ...deps, background }, jobsOf(deps));
  runner.after("opening");
  const feedback = createFeedback(deps);
  const parts: Parts = {
    ...deps,
    receipts,
    extractions,
    feedback,
    overviews: createOverviews(deps),
    steps: createStoreSteps(deps),
    gate: createGate(1),
    closing: life.closing,
    isReady: createReadiness(deps),
    // Loaded by the first call, as most programs need none.
    jobs: async () =>
      (await import("./organize/organizer/jobs.ts")).organizerJobs(deps, feedback.job),
  };
  /** A call that writes for an owner, followed by the owner's background jobs. */
  const writing =
    <I extends { readonly userId: string }, T>(
      write: (parts: Parts, input: I) => Promise<T>,
      { occasion = "call", isMessage = false }: { occasion?: Occasion; isMessage?: boolean } = {},
    ) =>
    (input: I): Promise<T> =>
      life.use(async () => {
        requireInput([input]);
        const result = await write(parts, input);
        // The text is indexed in the background, even if the provider fails.
        if (isMessage && extractions !== undefined) runner.after("admission");
        runner.after(occasion, input.userId);
        return result;
      });
  return {
    ...bind(life, parts, USE_CASES),
    ...bind(life, parts, USE_CASES_WITH_INPUT, requireInput),
    iterNodes: (query) => iterNodes(life, deps, query),
    store: writing<StoreInput, Uuid>(async (_, input) => (await store(parts, input)).eventId),
    storeWithReceipt: writing<StoreInput, StoreReceipt>((_, input) =>
      store(parts, input, { near: true }),
    ),
    storeMany: writing(storeMany),
    ingest: writing<IngestInput, Uuid>((_, input) => ingest(parts, input), {
      occasion: "ingest",
      isMessage: true,
    }),
    ingestBatch: writing(ingestBatch, { isMessage: true }),
    importSource: writing(importSource),
    retrieve: (input) =>
      life.use(async () => {
        requireInput([input]);
        const answer = await answerQuestion(parts, input);
        // A question without a receipt triggers no maintenance.
        if (input.keepReceipt !== false) runner.after("retrieval", input.userId);
        return answer;
      }),
    rebuildIndexes: (input) =>
      life.use(async () => {
        const rebuilt = await rebuildIndexes(deps, input ?? {});
        // As after opening: parts of long texts may have no vectors yet.
        runner.after("opening");
        return rebuilt;
      }),
    lock: () =>
      life.use(async () => {
        await receipts.settle();
        await runner.stop();
        await extractions?.pause();
        await deps.packLock.lock();
        parts.steps.forget();
        forgetStatements();
      }),
    unlock: (key) =>
      life.use(async () => {
        await deps.packLock.unlock(key);
        runner.after("opening");
      }),
    close: () => life.close(),
  };
}

/** Dependencies of the use cases. */
type Parts = EngineDeps &
  ObserveDeps & {
    readonly receipts: ReceiptKeeper;
    readonly extractions: Extractions | undefined;
    readonly feedback: Feedback;
    readonly overviews: Overviews;
    readonly isReady: () => Promise<void>;
    readonly jobs: () => Promise<readonly OrganizerJob[]>;
  };

/** Methods as functions of their dependencies. */
type UseCases = {
  readonly [M in keyof MemoryEngine]?: MemoryEngine[M] extends (
    ...args: infer A
  ) => Promise<infer R>
    ? (parts: Parts, ...args: A) => R | Promise<R>
    : never;
};

type UseCase = (parts: Parts, ...args: never[]) => unknown;

/** Use cases as methods. Null stands for an absent argument. @param check refuses arguments */
function bind<F extends UseCases>(
  life: Lifetime,
  parts: Parts,
  useCases: F,
  check?: (args: readonly unknown[], name: string) => void,
) {
  const methods = Object.entries(useCases).map(([name, useCase]: [string, UseCase]) => [
    name,
    (...args: readonly unknown[]) =>
      life.use(async () => {
        check?.(args, name);
        // SAFETY: use cases check their arguments.
        return useCase(parts, ...(args.map((one) => one ?? undefined) as never[]));
      }),
  ]);
  // SAFETY: `UseCases` pairs each name with the arguments and result of its method.
  return Object.fromEntries(methods) as Pick<MemoryEngine, keyof F & keyof MemoryEngine>;
}

function requireInput([input]: readonly unknown[], name = ""): void {
  if (typeof input === "object" && input !== null && !Array.isArray(input)) return;
  const isQuery = name === "aggregateAssertions" || name === "aggregateQuantities";
  throw invalid(isQuery ? "query" : "input", "must be an object");
}

const USE_CASES = {
  getNode,
  getNodes,
  getNodeEdges,
  getEdges: (parts, query) => getEdges(parts, query),
  neighborhood,
  chain,
  getProvenance,
  getEventNodes,
  getExtraction,
  extractionStatus,
  snapshot,
  retryExtraction,
  processPending,
  pin,
  reinforce,
  restore,
  evaluateCondition,
  undoImport: async (parts, userId, importId) => {
    await parts.receipts.settle();
    return undoImport(parts, userId, importId);
  },
  getForgetting,
  listForgettings,
  verifyForgetting,
  getAnswerCitations,
  packOwner,
  claimPack,
  usePackOwner,
  ownersWithMemories,
  readBlob: findBlob,
  getBlob: async (parts, key, options) => (await findBlob(parts, key, options))?.bytes ?? null,
  ready: ({ isReady }) => isReady(),
  isReadOnly: ({ isReadOnly = false }) => isReadOnly,
  listOwners: ({ store }) => store.owners.list(),
  stats: (parts, userId) => readStats(parts, parseOwner(userId)),
  storeCounts: ({ store }, userId) => store.storeCounts(parseOwner(userId)),
  processingStatus: ({ store }, eventId, userId) =>
    store.jobStatus(parseId(eventId, "event_id"), parseOwner(userId)),
  getEvent: ({ store }, eventId, userId) =>
    store.event(parseId(eventId, "event_id"), parseOwner(userId)),
  queryNodes: ({ store }, query = {}) => store.queryNodes(parseNodeQuery(query)),
  promote: (parts, nodeId, options) => transition(parts, "promote", nodeId, options),
  archive: async (parts, nodeId, options) => {
    const archived = await transition(parts, "archive", nodeId, options);
    await settleUnopposed(parts, await opponentsOf(parts, [archived]));
    return archived;
  },
  restoreFaded: (parts, input = {}) => restoreFaded(parts, input, parts.closing),
  supersede: (parts, oldId, newId, options) =>
    changePair(parts, SUPERSEDE, [oldId, newId], options),
  contradict: (parts, firstId, secondId, options) =>
    changePair(parts, CONTRADICT, [firstId, secondId], options),
  resolveContradiction: (parts, winnerId, loserId, options) =>
    changePair(parts, RESOLVE, [winnerId, loserId], options),
  organize: async (parts, input = {}) => organize(parts, await parts.jobs(), input, parts.closing),
  endSession: async (parts, userId, sessionId) =>
    endSession(parts, await parts.jobs(), { userId, sessionId }, parts.closing),
  getRetrievalReceipt: receiptOf,
  explain: async (parts, requestId, userId) => {
    const kept = await receiptOf(parts, requestId, userId);
    return kept && explainReceipt(kept);
  },
  nodeRetrievals: async (parts, nodeId, query = {}) => {
    await parts.receipts.settle();
    return listUses(parts, nodeId, query);
  },
} satisfies UseCases;

/** Use cases whose first argument is an object. */
const USE_CASES_WITH_INPUT = {
  aggregateAssertions,
  aggregateQuantities,
  aggregateQuantitiesFromText: aggregateFromText,
  getAssertionState: assertionState,
  browse,
  timeline,
  facets,
  listEntities,
  listContradictions,
  listEvents,
  changes,
  listChanges,
  listSessions,
  scanNodes,
  ingestFast,
  ingestFastMany,
  observe,
  observeSource,
  consolidateKnowledge,
  moveOwner: (parts, input) => {
    parts.overviews.forget(input.into);
    return moveOwner(parts, input);
  },
  recordAnswerCitations,
  listAnswerCitations,
  getEvents: ({ store }, query) => store.events(parseEventQuery(query)),
  feedback: ({ feedback }, signal) => feedback.note(signal),
  overview: ({ overviews }, input) => overviews.of(input),
  processExtractions,
  listRetrievals: async (parts, query) => {
    await parts.receipts.settle();
    return listRetrievals(parts, query);
  },
  forget: async (parts, input) => {
    // A receipt still being written could name what is forgotten.
    await parts.receipts.settle();
    parts.overviews.forget(input.userId);
    return forget(parts, input);
  },
} satisfies UseCases;

async function receiptOf({ receipts }: Parts, requestId: string, userId?: string) {
  return receipts.read(parseId(requestId, "request_id"), parseOwner(userId));
}

async function answerQuestion(parts: Parts, input: Parameters<MemoryEngine["retrieve"]>[0]) {
  const { receipts, isReadOnly = false } = parts;
  const deps = { ...parts, settings: parts.feedback.settings() };
  const context: RetrieveContext = {
    comparable: await matchesPack(parts),
    drain: async ({ filter, signal }) => {
      if (!isReadOnly) await drainBefore(parts, filter.userId, signal);
    },
    keep: async (material) => !isReadOnly && receipts.keep(material),
    explain: async (material) => {
      const receipt = await receipts.make(material);
      return { receipt, explanation: explainReceipt(receipt) };
    },
  };
  return await receipts.answering(() => retrieve(deps, input, context));
}

/** Whether the engine is open, and what is running. */
class Lifetime {
  readonly #deps: EngineDeps;
  readonly #running = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  readonly #drain: () => Promise<void>;
  readonly #finish: () => Promise<void>;
  #closed: Promise<void> | undefined;

  /** @param drain ends background work once calls are refused @param finish runs before the store closes */
  constructor(
    deps: EngineDeps,
    given: { readonly drain: () => Promise<void>; readonly finish: () => Promise<void> },
  ) {
    const { drain, finish } = given;
    this.#deps = deps;
    this.#drain = drain;
    this.#finish = finish;
  }

  use<T>(call: () => Promise<T>): Promise<T> {
    if (this.#closed !== undefined) return Promise.reject(closed());
    const running = call();
    this.#running.add(running);
    const done = () => this.#running.delete(running);
    running.then(done, done);
    return running;
  }

  /** Aborted when the engine begins to close. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** @throws SvcError engine_closed */
  requireOpen(): void {
    if (this.#closed !== undefined) throw closed();
  }

  /** Runs background work and reports its failure; `close` aborts its signal and waits. */
  async background(failure: string, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.#closed !== undefined) return;
    const running = work(this.#closing.signal)
      .catch((error) => this.#deps.warn(`${failure} (${reasonCode(error)})`))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
    await running;
  }

  close(): Promise<void> {
    this.#closed ??= this.#shutDown();
    return this.#closed;
  }

  async #shutDown(): Promise<void> {
    this.#closing.abort();
    await this.#drain();
    while (this.#running.size > 0) await Promise.allSettled([...this.#running]);
    await this.#finish();
    await this.#deps.embedder.close();
    await this.#deps.reranker?.close();
    await this.#deps.store.close();
  }
}

function closed(): SvcError {
  return new SvcError("engine_closed", "the engine was closed; open it again");
}
