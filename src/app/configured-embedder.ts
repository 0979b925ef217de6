import { createLocalEmbedder, identityOf } from "../adapters/embedding/local-embedder.ts";
import { hasModelFiles } from "../adapters/embedding/model-files.ts";
import type { Config } from "../config/schema.ts";
import { DEFAULT_MODEL, type EmbeddingModel, findModel } from "../domain/embedding-models.ts";
import type { Embedder, EmbeddingIdentity } from "../ports/embedder.ts";

/** The model of new packs: the configured one, else the default. */
export function configuredModel({ embedding }: Config): EmbeddingModel {
  return (
    (embedding.model_name === undefined ? undefined : findModel(embedding.model_name)) ??
    DEFAULT_MODEL
  );
}

/**
 * The model to use for a pack: that of its vectors, if this program has it, else the configured one.
 * @param renews whether its vectors are about to be made again: then a model that the settings name comes first
 */
export function modelFor(
  config: Config,
  stored: EmbeddingIdentity,
  renews = false,
): EmbeddingModel {
  const own = findModel(stored.model);
  const isNamed = renews && config.embedding.model_name !== undefined;
  return own === undefined || isNamed || !hasModelFiles(own) ? configuredModel(config) : own;
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
