import type { Config } from "../config/schema.ts";
import { DEFAULT_MODEL, isSameEmbedding } from "../domain/embedding-models.ts";
import { SvcError } from "../domain/errors.ts";
import { shellWord } from "../lib/shell-word.ts";
import { shownName } from "../lib/shown-name.ts";
import type { EmbeddingIdentity } from "../ports/models.ts";
import {
  configuredModel,
  howToUse,
  identityWith,
  isHosted,
  modelFor,
  modelLacking,
  modelOfPack,
  type UsableModel,
} from "./configured-embedder.ts";
import { placeWord } from "./place-word.ts";
import { reachedHost } from "./reached-host.ts";

/**
 * What a person should know about the model of a pack: that its vectors cannot be compared, or that the settings name another one;
 * undefined if all is as expected.
 * @param path of the pack
 */
export function modelWarning(
  config: Config,
  path: string,
  stored: EmbeddingIdentity,
): string | undefined {
  const mismatch = modelMismatch(config, path, stored);
  if (mismatch !== undefined) return mismatch;
  const { model_name: named, provider } = config.embedding;
  const configured = configuredOr(config);
  if (typeof configured === "string") return configured;
  if (named === undefined && !isHosted(configured)) return undefined;
  if (configured.name === stored.model) return undefined;
  const set = named === undefined ? `provider is ${provider}` : `model_name is ${named}`;
  return `the ${placeWord(config)} keeps its embedding model ${shownName(stored.model)}, although embedding.${set}; to change it: svc rebuild ${shellWord(path)}${named === undefined ? "" : ` --model ${shellWord(named)}`}`;
}

/** The configured model, or why it cannot be used. */
function configuredOr(config: Config): UsableModel | string {
  try {
    return configuredModel(config);
  } catch (error) {
    if (error instanceof SvcError && error.code === "model_failed") return error.message;
    throw error;
  }
}

/** Why the vectors of a pack cannot be compared, and what helps; undefined if they can. */
export function modelMismatch(
  config: Config,
  path: string,
  stored: EmbeddingIdentity,
): string | undefined {
  const rebuild = `svc rebuild ${shellWord(path)}`;
  if (modelOfPack(config, stored) === undefined) {
    const configured = configuredOr(config);
    const why = typeof configured === "string" ? ` (${configured})` : "";
    return `${modelLacking(stored)}${why}, so memories are found by words only: ${howToUse(stored)}, or give the ${placeWord(config)} another model with: ${rebuild} --model ${DEFAULT_MODEL.alias}`;
  }
  const used = identityWith(config, modelFor(config, stored));
  if (isSameEmbedding(stored, used)) return undefined;
  const [one, other] = [stored, used].map(
    ({ model, version, dimension }) =>
      `${shownName(model)} (version ${shownName(version)}, ${dimension} numbers)`,
  );
  return `the vectors of the ${placeWord(config)} are of the embedding model ${one}, configured is ${other}; until \`${rebuild}\` memories are found by words only`;
}

/** Who gets the texts of memories and questions to embed them; undefined if they stay on this machine. */
export function textsTo(
  { embedding }: Config,
  model: UsableModel,
): { readonly provider: string; readonly host: string } | undefined {
  if (!isHosted(model)) return undefined;
  const { provider } = model;
  return { provider, host: reachedHost(provider, embedding.base_url) };
}

/** The same as a sentence. */
export function textsLeave(config: Config, model: UsableModel): string | undefined {
  const to = textsTo(config, model);
  if (to === undefined) return undefined;
  return `The text of every memory and every question is sent to ${to.host} (${to.provider}) to be embedded.`;
}
