import { createLocalEmbedder, identityOf } from "../adapters/embedding/local-embedder.ts";
import { hasModelFiles } from "../adapters/embedding/model-files.ts";
import type { Config } from "../config/schema.ts";
import {
  DEFAULT_MODEL,
  EMBEDDING_MODELS,
  type EmbeddingModel,
  findModel,
} from "../domain/embedding-models.ts";
import { SvcError } from "../domain/errors.ts";
import { shownName } from "../lib/shown-name.ts";
import type { Embedder, EmbeddingIdentity } from "../ports/embedder.ts";

/** The models that this program has: a build may leave some out. */
export function includedModels(): readonly EmbeddingModel[] {
  return EMBEDDING_MODELS.filter(hasModelFiles);
}

/**
 * The model of new packs: the configured one, else the default.
 * @throws SvcError invalid_config if it is not part of this program
 */
export function configuredModel({ embedding }: Config): EmbeddingModel {
  const { model_name: name } = embedding;
  if (name === undefined) return DEFAULT_MODEL;
  const model = findModel(name);
  if (model !== undefined && hasModelFiles(model)) return model;
  const setting = "embedding.model_name";
  const known = includedModels().map((one) => one.name);
  throw new SvcError(
    "invalid_config",
    `${setting}: ${JSON.stringify(name)} is not part of this build; use ${known.join(" or ")}, or unset it`,
    { setting },
  );
}

/** The model whose vectors a pack has; undefined if this program lacks it. */
export function modelOfPack(stored: EmbeddingIdentity): EmbeddingModel | undefined {
  return includedModels().find(({ name }) => name === stored.model);
}

/** The model to use for a pack: its own one. If this program lacks that, any will do, since no vectors can be compared. */
export function modelFor(stored: EmbeddingIdentity): EmbeddingModel {
  return modelOfPack(stored) ?? DEFAULT_MODEL;
}

/**
 * The model that makes the vectors of a pack again: the configured one, else that of a rebuild which was cut off, else its own. A
 * pack of a former model gets the default one; one of a model that this build alone lacks keeps it unless another is named.
 * @throws SvcError invalid_config as `configuredModel`; embedding_mismatch if this build lacks the model and none is named
 */
export function modelToRenew(
  config: Config,
  stored: EmbeddingIdentity,
  begun: EmbeddingIdentity | undefined,
): EmbeddingModel {
  if (config.embedding.model_name !== undefined) return configuredModel(config);
  const known = (begun && modelOfPack(begun)) ?? modelOfPack(stored);
  if (known !== undefined || findModel(stored.model) === undefined) return known ?? DEFAULT_MODEL;
  throw new SvcError(
    "embedding_mismatch",
    `this program lacks the embedding model of the pack, ${shownName(stored.model)}: use a build that has it, or name another model with --model ${DEFAULT_MODEL.alias}`,
  );
}

/** Identifies the vectors that a model makes with these settings. */
export function identityWith({ embedding }: Config, model: EmbeddingModel): EmbeddingIdentity {
  return identityOf(model, embedding.max_tokens);
}

/** An embedder as it is configured. Its model is loaded by the first call that needs it; the caller closes it. */
export function createConfiguredEmbedder({ embedding }: Config, model: EmbeddingModel): Embedder {
  return createLocalEmbedder({
    model,
    threads: embedding.threads,
    maxTokens: embedding.max_tokens,
  });
}
