import { parseId, parseOwner } from "../domain/arguments.ts";
import { invalid } from "../domain/errors.ts";
import {
  aggregateAssertions,
  aggregateFromText,
  aggregateQuantities,
} from "./aggregate/aggregations.ts";
import { assertionState } from "./aggregate/state.ts";
import {
  browse,
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
  type PassBounds,
  processExtractions,
  retryExtraction,
} from "./extract/extractions.ts";
import { forget } from "./forget/forget.ts";
import { getForgetting, listForgettings } from "./forget/forgettings.ts";
import { verifyForgetting } from "./forget/verify.ts";
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
import { Lifetime } from "./lifetime.ts";
import type { MemoryEngine } from "./memory-engine.ts";
import { observe, observeSource } from "./observe/observe.ts";
import type { ObserveDeps } from "./observe/observe-frame.ts";
import { createFeedback, type Feedback } from "./organize/feedback.ts";
import { jobsOf } from "./organize/jobs.ts";
import { endSession, organize } from "./organize/organize.ts";
import { rebuildIndexes } from "./organize/rebuild.ts";
import { createRunner, type Occasion, type Runner } from "./organize/runner.ts";
import { snapshot } from "./organize/snapshot.ts";
import { claimPack, moveOwner, ownersWithMemories, packOwner, usePackOwner } from "./owners.ts";
import { consolidateKnowledge } from "./profiles.ts";
import {
  getAnswerCitations,
  listAnswerCitations,
  recordAnswerCitations,
} from "./receipts/citations.ts";
import { explainReceipt } from "./receipts/explain.ts";
import { createReceiptKeeper, type ReceiptKeeper } from "./receipts/keep.ts";
import { listRetrievals } from "./receipts/list.ts";
import { listUses } from "./receipts/uses.ts";
import { retrieve } from "./retrieve/pipeline.ts";
import { ingest, ingestBatch, ingestFast, ingestFastMany } from "./write/ingest.ts";
import { drainBefore, matchesPack, processPending } from "./write/materialize.ts";
import { type StoreDeps, store } from "./write/store.ts";

/**
 * Binds the engine's operations to their dependencies, and starts to finish work that an earlier process left behind. Ownership
 * passes to the engine: `close()` closes store and embedder.
 */
export function createEngine(deps: EngineDeps): MemoryEngine {
  const receipts = createReceiptKeeper(deps);
  const extractions = createExtractions(deps);
  const life = new Lifetime(deps, {
    drain: async () => extractions?.close(),
    finish: () => receipts.close(),
  });
  const { isReadOnly = false } = deps;
  const background: Lifetime["background"] = (...work) => life.background(...work);
  const runner = createRunner({ ...deps, background }, jobsOf(deps));
  runner.after("opening");
  const serve = serveWith(life, runner);
  const storing: StoreDeps = { ...deps, steps: createStoreSteps(deps) };
  const feedback = createFeedback(deps);
  const engine: MemoryEngine = {
    store: (input) => serve(input, async () => (await store(storing, input)).eventId),
    storeWithReceipt: (input) => serve(input, () => store(storing, input, { near: true })),
    ...bindMessages(
      { ...deps, steps: storing.steps, extractions },
      life,
      (input, call, occasion) => {
        const answer = async () => {
          const result = await call();
          // The text is indexed behind the call, whatever the provider does.
          if (extractions !== undefined) runner.after("admission");
          return result;
        };
        return serve(input, answer, occasion);
      },
    ),
    ...bindObservation({ ...deps, steps: storing.steps, extractions }, life),
    ...bindReads(deps, life),
    ...bindChanges(deps, life),
    ...bindAggregates(deps, life),
    retrieve: (input) =>
      life.use(async () => {
        const answer = await retrieve({ ...deps, settings: feedback.settings() }, input, {
          comparable: await matchesPack(deps),
          drain: async ({ filter, signal }) => {
            if (!isReadOnly) await drainBefore(deps, filter.userId, signal);
          },
          keep: async (material) => !isReadOnly && receipts.keep(material),
          explain: async (material) => {
            const receipt = await receipts.make(material);
            return { receipt, explanation: explainReceipt(receipt) };
          },
        });
        // A question that leaves no receipt only looks: no upkeep follows it.
        if (input.keepReceipt !== false) runner.after("retrieval", input.userId);
        return answer;
      }),
    ...bindReceipts(deps, life, receipts),
    ...bindOwners(deps, life, receipts),
    stats: (userId) => life.use(async () => readStats(deps, parseOwner(userId))),
    isReadOnly: () => life.use(async () => isReadOnly),
    ...bindOrganizer(deps, life, feedback),
    rebuildIndexes: (input) =>
      life.use(async () => {
        const rebuilt = await rebuildIndexes(deps, input ?? {});
        // What an opening finds to do is there again, as parts of long texts.
        runner.after("opening");
        return rebuilt;
      }),
    lock: () =>
      life.use(async () => {
        await receipts.settle();
        await runner.stop();
        await extractions?.pause();
        await deps.packLock.lock();
        storing.steps.forget();
      }),
    unlock: (key) =>
      life.use(async () => {
        await deps.packLock.unlock(key);
        runner.after("opening");
      }),
    close: () => life.close(),
  };
  return requireInputs(engine, life);
}

/** What is kept of answers. */
function bindReceipts(deps: EngineDeps, life: Lifetime, receipts: ReceiptKeeper) {
  const receiptOf = async (requestId: string, userId: string | undefined) =>
    receipts.read(parseId(requestId, "request_id"), parseOwner(userId));
  return {
    getRetrievalReceipt: (requestId, userId) => life.use(() => receiptOf(requestId, userId)),
    explain: (requestId, userId) =>
      life.use(async () => {
        const kept = await receiptOf(requestId, userId);
        return kept && explainReceipt(kept);
      }),
    listRetrievals: (query) =>
      life.use(async () => {
        await receipts.settle();
        return listRetrievals(deps, query);
      }),
    nodeRetrievals: (nodeId, query) =>
      life.use(async () => {
        await receipts.settle();
        return listUses(deps, nodeId, query ?? {});
      }),
    recordAnswerCitations: (input, userId) =>
      life.use(() => recordAnswerCitations({ ...deps, receipts }, input, userId)),
    getAnswerCitations: (citationId, userId) =>
      life.use(() => getAnswerCitations(deps, citationId, userId)),
    listAnswerCitations: (query) => life.use(() => listAnswerCitations(deps, query)),
  } satisfies Partial<MemoryEngine>;
}

/** The operations that put memories in order. */
function bindOrganizer(deps: EngineDeps, life: Lifetime, feedback: Feedback) {
  // Loaded by the first call: a start does not wait for what most programs never ask for.
  const jobs = async () =>
    (await import("./organize/organizer/jobs.ts")).organizerJobs(deps, feedback.job);
  return {
    organize: (input) =>
      life.use(async () => organize(deps, await jobs(), input ?? {}, life.closing)),
    feedback: (signal) => life.use(async () => feedback.note(signal)),
    endSession: (userId, sessionId) =>
      life.use(async () => endSession(deps, await jobs(), { userId, sessionId }, life.closing)),
    snapshot: (entityId, options) => life.use(() => snapshot(deps, entityId, options ?? {})),
  } satisfies Partial<MemoryEngine>;
}

/** The operations on messages and what is extracted from them. */
function bindMessages(
  deps: EngineDeps & Pick<StoreDeps, "steps"> & { readonly extractions: Extractions | undefined },
  life: Lifetime,
  serve: Serve,
) {
  const { extractions } = deps;
  const pass = extractions && ((bounds: PassBounds) => extractions.process(bounds));
  return {
    ingest: (input) => serve(input, () => ingest(deps, input), "ingest"),
    ingestBatch: (input) => serve(input, () => ingestBatch(deps, input)),
    ingestFast: (input) => life.use(() => ingestFast(deps, input)),
    ingestFastMany: (input) => life.use(() => ingestFastMany(deps, input)),
    processPending: (input) => life.use(async () => processPending(deps, input ?? {})),
    processExtractions: (input) => life.use(() => processExtractions(deps, pass, input)),
    retryExtraction: (eventId, options) =>
      life.use(() => retryExtraction(deps, eventId, options ?? {})),
  } satisfies Partial<MemoryEngine>;
}

/** The operations on photos and videos. */
function bindObservation(deps: Omit<ObserveDeps, "gate" | "closing">, life: Lifetime) {
  const observing: ObserveDeps = { ...deps, gate: createGate(1), closing: life.closing };
  return {
    observe: (input) => life.use(() => observe(observing, input)),
    observeSource: (input) => life.use(() => observeSource(observing, input)),
  } satisfies Partial<MemoryEngine>;
}

/** The operations that forget for good. */
function bindForgetting(deps: EngineDeps, life: Lifetime, receipts: ReceiptKeeper) {
  return {
    forget: (input) =>
      life.use(async () => {
        // A receipt that is still being written could name what goes.
        await receipts.settle();
        return forget(deps, input);
      }),
    getForgetting: (forgetId, userId) => life.use(() => getForgetting(deps, forgetId, userId)),
    listForgettings: (userId) => life.use(() => listForgettings(deps, userId)),
    verifyForgetting: (receipt, text) => life.use(() => verifyForgetting(deps, receipt, text)),
  } satisfies Partial<MemoryEngine>;
}

/** The operations on owners, and on all that an owner wants forgotten. */
function bindOwners(deps: EngineDeps, life: Lifetime, receipts: ReceiptKeeper) {
  return {
    ...bindForgetting(deps, life, receipts),
    packOwner: () => life.use(() => packOwner(deps)),
    claimPack: (userId) => life.use(() => claimPack(deps, userId)),
    usePackOwner: (userId, actorId) => life.use(() => usePackOwner(deps, userId, actorId)),
    ownersWithMemories: () => life.use(() => ownersWithMemories(deps)),
    listOwners: () => life.use(() => deps.store.owners.list()),
    moveOwner: (input) => life.use(() => moveOwner(deps, input)),
  } satisfies Partial<MemoryEngine>;
}

/** Counts and sums over stored claims. */
function bindAggregates(deps: EngineDeps, life: Lifetime) {
  return {
    aggregateAssertions: (input) => life.use(() => aggregateAssertions(deps, input)),
    aggregateQuantities: (input) => life.use(() => aggregateQuantities(deps, input)),
    aggregateQuantitiesFromText: (input) => life.use(() => aggregateFromText(deps, input)),
    getAssertionState: (input) => life.use(() => assertionState(deps, input)),
  } satisfies Partial<MemoryEngine>;
}

type Serve = <T>(
  input: { readonly userId: string },
  call: () => Promise<T>,
  occasion?: Occasion,
) => Promise<T>;

/** What runs a call of one owner, behind which follows what is due for it. */
function serveWith(life: Lifetime, runner: Runner): Serve {
  return (input, call, occasion = "call") =>
    life.use(async () => {
      const result = await call();
      runner.after(occasion, input.userId);
      return result;
    });
}

/** The operations that read stored memories and change nothing. */
function bindReads(deps: EngineDeps, life: Lifetime) {
  const ready = createReadiness(deps);
  return {
    ready: () => life.use(ready),
    processingStatus: (eventId, userId) =>
      life.use(async () => deps.store.jobStatus(parseId(eventId, "event_id"), parseOwner(userId))),
    getEvent: (eventId, userId) =>
      life.use(async () => deps.store.event(parseId(eventId, "event_id"), parseOwner(userId))),
    getBlob: (key, options) =>
      life.use(async () => (await findBlob(deps, key, options))?.bytes ?? null),
    readBlob: (key, options) => life.use(() => findBlob(deps, key, options)),
    getEvents: (query) => life.use(async () => deps.store.events(parseEventQuery(query))),
    getNode: (nodeId, options) => life.use(() => getNode(deps, nodeId, options ?? {})),
    queryNodes: (query) => life.use(async () => deps.store.queryNodes(parseNodeQuery(query ?? {}))),
    scanNodes: (query) => life.use(() => scanNodes(deps, query)),
    iterNodes: (query) => iterNodes(life, deps, query),
    neighborhood: (nodeId, options) => life.use(() => neighborhood(deps, nodeId, options ?? {})),
    chain: (nodeId, options) => life.use(() => chain(deps, nodeId, options ?? {})),
    getProvenance: (nodeId, options) => life.use(() => getProvenance(deps, nodeId, options ?? {})),
    getEventNodes: (eventId, userId) => life.use(() => getEventNodes(deps, eventId, userId)),
    getExtraction: (eventId, userId) => life.use(() => getExtraction(deps, eventId, userId)),
    extractionStatus: (eventId, userId) => life.use(() => extractionStatus(deps, eventId, userId)),
    ...bindBrowse(deps, life),
  } satisfies Partial<MemoryEngine>;
}

/** Looking through what is stored. */
function bindBrowse(deps: EngineDeps, life: Lifetime) {
  return {
    browse: (query) => life.use(() => browse(deps, query)),
    timeline: (query) => life.use(() => timeline(deps, query)),
    facets: (query) => life.use(() => facets(deps, query)),
    getEdges: (query) => life.use(() => getEdges(deps, query ?? {})),
    getNodeEdges: (nodeId, query) => life.use(() => getNodeEdges(deps, nodeId, query ?? {})),
    listEntities: (query) => life.use(() => listEntities(deps, query)),
    listContradictions: (query) => life.use(() => listContradictions(deps, query)),
    listEvents: (query) => life.use(() => listEvents(deps, query)),
    listChanges: (query) => life.use(() => listChanges(deps, query)),
    listSessions: (query) => life.use(() => listSessions(deps, query)),
    getNodes: (nodeIds, userId) => life.use(() => getNodes(deps, nodeIds, userId)),
    storeCounts: (userId) => life.use(async () => deps.store.storeCounts(parseOwner(userId))),
  } satisfies Partial<MemoryEngine>;
}

/** The operations that change single memories. */
function bindChanges(deps: EngineDeps, life: Lifetime) {
  return {
    promote: (nodeId, options) =>
      life.use(() => transition(deps, "promote", nodeId, options ?? undefined)),
    archive: (nodeId, options) =>
      life.use(async () => {
        const archived = await transition(deps, "archive", nodeId, options ?? undefined);
        await settleUnopposed(deps, await opponentsOf(deps, [archived]));
        return archived;
      }),
    restore: (nodeId, options) => life.use(() => restore(deps, nodeId, options ?? undefined)),
    restoreFaded: (input) => life.use(() => restoreFaded(deps, input ?? {}, life.closing)),
    pin: (nodeId, isPinned, options) =>
      life.use(() => pin(deps, nodeId, isPinned, options ?? undefined)),
    reinforce: (nodeId, options) => life.use(() => reinforce(deps, nodeId, options ?? undefined)),
    supersede: (oldNodeId, newNodeId, options) =>
      life.use(() => changePair(deps, SUPERSEDE, [oldNodeId, newNodeId], options ?? undefined)),
    contradict: (firstId, secondId, options) =>
      life.use(() => changePair(deps, CONTRADICT, [firstId, secondId], options ?? undefined)),
    resolveContradiction: (winnerId, loserId, options) =>
      life.use(() => changePair(deps, RESOLVE, [winnerId, loserId], options ?? undefined)),
    consolidateKnowledge: (input) => life.use(() => consolidateKnowledge(deps, input)),
    evaluateCondition: (nodeId, input) => life.use(() => evaluateCondition(deps, nodeId, input)),
  } satisfies Partial<MemoryEngine>;
}

/** The methods whose first argument has to be an object with members. */
type InputMethod = {
  [M in keyof MemoryEngine]: Parameters<MemoryEngine[M]> extends readonly [infer A, ...unknown[]]
    ? undefined extends A
      ? never
      : A extends string | readonly unknown[]
        ? never
        : M
    : never;
}[keyof MemoryEngine];

/** Those whose second argument has to be one, behind an id. */
type SecondInputMethod = "evaluateCondition";

/** The place of the input among the arguments. */
const INPUT_PLACES: Readonly<Record<InputMethod, 0> & Record<SecondInputMethod, 1>> = {
  aggregateAssertions: 0,
  aggregateQuantities: 0,
  aggregateQuantitiesFromText: 0,
  browse: 0,
  consolidateKnowledge: 0,
  evaluateCondition: 1,
  facets: 0,
  feedback: 0,
  forget: 0,
  getAssertionState: 0,
  getEvents: 0,
  ingest: 0,
  ingestBatch: 0,
  ingestFast: 0,
  ingestFastMany: 0,
  iterNodes: 0,
  listAnswerCitations: 0,
  listChanges: 0,
  listContradictions: 0,
  listEntities: 0,
  listEvents: 0,
  listRetrievals: 0,
  listSessions: 0,
  moveOwner: 0,
  observe: 0,
  observeSource: 0,
  processExtractions: 0,
  recordAnswerCitations: 0,
  retrieve: 0,
  scanNodes: 0,
  store: 0,
  storeWithReceipt: 0,
  timeline: 0,
};

/** What messages call the input; others call it input. */
const NAMES: Readonly<Partial<Record<string, string>>> = {
  aggregateAssertions: "query",
  aggregateQuantities: "query",
} satisfies Partial<Record<InputMethod, string>>;

/** An engine whose methods refuse to be called without their input, as they refuse any other wrong argument. */
function requireInputs(engine: MemoryEngine, life: Lifetime): MemoryEngine {
  const refuse = (name: string): Promise<never> =>
    life.use(async () => {
      throw invalid(NAMES[name] ?? "input", "must be an object");
    });
  async function* refuseWalk(name: string): AsyncGenerator<never> {
    yield await refuse(name);
  }
  const checked = Object.entries(INPUT_PLACES).map(([name, place]) => {
    const method = Reflect.get(engine, name);
    const refuseCall = name === "iterNodes" ? refuseWalk : refuse;
    return [
      name,
      (...args: readonly unknown[]) => (isObject(args[place]) ? method(...args) : refuseCall(name)),
    ];
  });
  return { ...engine, ...Object.fromEntries(checked) };
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
