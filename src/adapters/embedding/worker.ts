/**
 * The thread in which the model runs: a run blocks its thread for milliseconds, which must not happen to the main thread.
 * Requests are posted as they arrive and handled one at a time, so that the model never idles while one is queued.
 */
import { answerCalls } from "../native/worker-calls.ts";
import { type Inference, loadInference } from "./inference.ts";
import type { FromWorker, ToWorker } from "./local-embedder.ts";
import { modelRoot } from "./model-files.ts";

type Start = Extract<ToWorker, { kind: "start" }>;
type Embed = Extract<ToWorker, { kind: "embed" }>;

function rootOf(model: Start["model"]): string {
  return model.other === undefined ? modelRoot(model) : "";
}

answerCalls<Start, Embed, Inference, FromWorker>({
  load: ({ model, modelRoot: root = rootOf(model), threads, maxTokens }) =>
    loadInference({ model, root, threads, maxTokens }),
  answer: async (inference, { id, text }) => ({
    kind: "vector",
    id,
    vector: await inference.embed(text),
  }),
  about: "a text",
});
