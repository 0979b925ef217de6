import type { EntailmentModel } from "../../ports/text-pairs.ts";
import { createPairModel, type PairModelOptions } from "./pair-model.ts";

/**
 * A model of natural-language inference that runs on this machine. Its configuration must name the labels entailment,
 * contradiction and neutral, in any order. `revision` is known after the first call: the commit that was downloaded, or
 * `sha256:` and the hash of a folder's weights. Nothing is loaded or downloaded before the first call.
 * @throws SvcError invalid_config when the options cannot name a model
 */
export function createLocalEntailment(options: PairModelOptions): EntailmentModel {
  const model = createPairModel("entailment", options);
  let revision: string | undefined;
  return {
    model: options.model,
    get revision() {
      return revision;
    },
    judge: async (pairs) => {
      const judgements = await model.judge(
        pairs.map(({ premise, claim }) => [premise, claim] as const),
      );
      revision = judgements[0]?.revision ?? revision;
      return judgements.map(({ values }) => {
        const [entailment = Number.NaN, contradiction = Number.NaN, neutral = Number.NaN] = values;
        return { entailment, contradiction, neutral };
      });
    },
    close: () => model.close(),
  };
}
