import { systemLanguage } from "../adapters/system/language.ts";
import { hostedChoice } from "../config/rules.ts";
import type { Config } from "../config/schema.ts";
import { DEFAULT_MODEL, type EmbeddingModel } from "../domain/embedding-models.ts";
import { configuredModel, includedModels, isHosted } from "./configured-embedder.ts";
import { textsLeave } from "./model-warning.ts";
import { fetchOtherModel } from "./other-models.ts";

/** The model of a pack that is about to be made. */
export type NewPackModel = {
  /** The configuration that names it. */
  readonly config: Config;
  /** One sentence about it; undefined for the default model. */
  readonly told: string | undefined;
};

/**
 * Chooses the model of a new pack: the one that the settings name, else the default one, or where the language of the system is
 * another than English, one that reads it. One on the hub is downloaded first.
 * @param warn receives the progress of that
 * @throws SvcError invalid_config if the named model is not part of this program, model_failed if its files are unfit
 */
export async function chooseModel(
  config: Config,
  warn: (line: string) => void = () => {},
): Promise<NewPackModel> {
  await fetchOtherModel(config, warn);
  const { embedding } = config;
  const named = embedding.model_name !== undefined || hostedChoice(embedding) !== undefined;
  const language = systemLanguage(process.env);
  const fitting = named || language === "en" ? undefined : includedModels().find(readsOthers);
  const model = fitting ?? configuredModel(config);
  if (model === DEFAULT_MODEL) return { config, told: undefined };
  if (isHosted(model)) {
    const told = `Its embedding model is ${model.name} of ${model.provider}. ${textsLeave(config, model)}`;
    return { config, told };
  }
  if (model.other !== undefined) return { config, told: `Its embedding model is ${model.name}.` };
  const why = fitting && `, since the language of the system is ${language}`;
  return {
    config: { ...config, embedding: { ...embedding, model_name: model.name } },
    told: `Its embedding model is ${model.name} (${model.languages})${why ?? ""}.`,
  };
}

function readsOthers({ isEnglish }: EmbeddingModel): boolean {
  return !isEnglish;
}
