import { parseId } from "../domain/arguments.ts";
import type { EngineDeps } from "./deps.ts";
import { getNode, parseEventQuery, parseNodeQuery } from "./inspect/nodes.ts";
import { readStats } from "./inspect/stats.ts";
import { Lifetime } from "./lifetime.ts";
import { rebuildIndexes } from "./maintain/rebuild.ts";
import type { MemoryEngine } from "./memory-engine.ts";
import {
  getAnswerCitations,
  listAnswerCitations,
  recordAnswerCitations,
} from "./receipts/citations.ts";
import { explainReceipt } from "./receipts/explain.ts";
import { createReceiptKeeper } from "./receipts/keep.ts";
import { retrieve } from "./retrieve/pipeline.ts";
import { assessAnswerability } from "./verify/answerability.ts";
import { verifyBundle, verifyClaim } from "./verify/claims.ts";
import { ingestFast, ingestFastMany } from "./write/ingest-fast.ts";
import { drainBefore, matchesPack, processPending } from "./write/materialize.ts";
import { store } from "./write/store.ts";

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
