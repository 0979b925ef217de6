/**
 * The thread in which a model reads pairs of texts: a run blocks its thread for milliseconds, which must not happen to the
 * main thread. Requests are handled one at a time, so that a pair's value never depends on its neighbours.
 */
import { answerCalls } from "../native/worker-calls.ts";
import type { FromWorker, Judge, Start } from "./local-reranker.ts";
import { loadPairInference, type PairInference } from "./pair-inference.ts";

answerCalls<Start, Judge, PairInference, FromWorker>({
  load: loadPairInference,
  answer: async (inference, { id, first, second }) => ({
    kind: "judged",
    id,
    relevance: await inference.judge(first, second),
  }),
  about: "a pair of texts",
});
