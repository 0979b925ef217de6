/**
 * The thread in which the model runs: a run blocks its thread for milliseconds, which must not happen to the main thread.
 * Requests are posted as they arrive and handled one at a time, so that the model never idles while one is queued.
 */
import { answerCalls } from "../native/worker-calls.ts";
import { giveWay } from "./cores.ts";
import { type Inference, loadInference } from "./inference.ts";
import type { Embed, FromWorker, Start } from "./local-embedder.ts";
import { modelRoot } from "./model-files.ts";

answerCalls<Start, Embed, Inference, FromWorker>({
  load: async ({ model, modelRoot: root, givesWay, ...setup }) => {
    const isOwn = root === undefined && model.other === undefined;
    const options = { model, root: isOwn ? modelRoot(model) : (root ?? ""), ...setup };
    const inference = await loadInference(options);
    // Only now: threads that loading starts for the whole process have its priority.
    if (givesWay === true) giveWay();
    return inference;
  },
  answer: async (inference, { id, text }) => ({
    kind: "vector",
    id,
    vector: await inference.embed(text),
  }),
  about: "a text",
});
