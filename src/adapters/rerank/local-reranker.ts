import type { Reranker } from "../../ports/text-pairs.ts";
import { createPairModel, type PairModelOptions } from "./pair-model.ts";

/**
 * A reranker that runs a cross-encoder with one output on this machine; the logistic function is applied to its output
 * once. Nothing is loaded or downloaded before the first call.
 * @throws SvcError invalid_config when the options cannot name a model
 */
export function createLocalReranker(options: PairModelOptions): Reranker {
  const model = createPairModel("relevance", options);
  return {
    score: async (question, texts, signal) => {
      const judgements = await model.judge(
        texts.map((text) => [question, text] as const),
        signal,
      );
      return judgements.map(({ values: [relevance = Number.NaN] }) => relevance);
    },
    close: () => model.close(),
  };
}
