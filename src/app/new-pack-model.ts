import { systemLanguage } from "../adapters/system/language.ts";
import type { Config } from "../config/schema.ts";
import { DEFAULT_MODEL, type EmbeddingModel } from "../domain/embedding-models.ts";
import { configuredModel, includedModels } from "./configured-embedder.ts";

/** The model of a pack that is about to be made. */
export type NewPackModel = {
  /** The configuration that names it. */
  readonly config: Config;
  /** One sentence about it; undefined for the default model. */
  readonly told: string | undefined;
};

/**
 * Chooses the model of a new pack: the one that the settings name, else the default one, or where the language of the system is
 * another than English, one that reads it.
 * @throws SvcError invalid_config if the named model is not part of this program
 */
export function chooseModel(config: Config): NewPackModel {
  const named = config.embedding.model_name !== undefined;
  const language = systemLanguage(process.env);
  const fitting = named || language === "en" ? undefined : includedModels().find(readsOthers);
  const model = fitting ?? configuredModel(config);
  if (model === DEFAULT_MODEL) return { config, told: undefined };
  const why = fitting && `, since the language of the system is ${language}`;
  return {
    config: { ...config, embedding: { ...config.embedding, model_name: model.name } },
    told: `Its embedding model is ${model.name} (${model.languages})${why ?? ""}.`,
  };
}

function readsOthers({ isEnglish }: EmbeddingModel): boolean {
  return !isEnglish;
}
