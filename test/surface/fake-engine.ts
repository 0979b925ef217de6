import { SvcError } from "../../src/domain/errors.ts";
import type { MemoryEngine } from "../../src/engine/memory-engine.ts";

/** An engine of which a test gives the methods it needs; every other one fails. */
export function fakeEngine(methods: Partial<MemoryEngine> = {}): MemoryEngine {
  const unused = (): Promise<never> =>
    Promise.reject(new SvcError("internal", "this test did not expect the call"));
  return {
    store: unused,
    storeWithReceipt: unused,
    ingestFast: unused,
    ingestFastMany: unused,
    processPending: unused,
    processingStatus: unused,
    getEvent: unused,
    getEvents: unused,
    getNode: unused,
    queryNodes: unused,
    retrieve: unused,
    getRetrievalReceipt: unused,
    recordAnswerCitations: unused,
    getAnswerCitations: unused,
    listAnswerCitations: unused,
    explain: unused,
    assessAnswerability: unused,
    verifyClaim: unused,
    verifyBundle: unused,
    stats: unused,
    rebuildIndexes: unused,
    lock: unused,
    unlock: unused,
    close: () => Promise.resolve(),
    ...methods,
  };
}
