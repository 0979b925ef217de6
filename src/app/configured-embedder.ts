import { createLocalEmbedder, identityOf } from "../adapters/embedding/local-embedder.ts";
import { hasModelFiles } from "../adapters/embedding/model-files.ts";
import { hostedChoice } from "../config/rules.ts";
import type { Config } from "../config/schema.ts";
import {
  DEFAULT_MODEL,
  EMBEDDING_MODELS,
  type EmbeddingModel,
  findModel,
} from "../domain/embedding-models.ts";
import { SvcError } from "../domain/errors.ts";
import { type HostedModel, hostedModel, providerOfVectors } from "../domain/hosted-models.ts";
import { shownName } from "../lib/shown-name.ts";
import type { Embedder, EmbeddingIdentity } from "../ports/models.ts";
import { otherModel } from "./other-models.ts";

/** A model that this program runs, or one that another program runs for it. */
export type UsableModel = EmbeddingModel | HostedModel;

/** Whether texts are sent to another program to be embedded. */
export function isHosted(model: UsableModel): model is HostedModel {
  return "provider" in model;
}

/** The models that this program has: a build may leave some out. */
export function includedModels(): readonly EmbeddingModel[] {
  return EMBEDDING_MODELS.filter(hasModelFiles);
}

/**
 * The model of new packs: the configured one, else the default.
 * @throws SvcError invalid_config if it is not part of this program; model_failed if its files are missing or unfit
 */
export function configuredModel(config: Config): UsableModel {
  const { embedding } = config;
  const choice = hostedChoice(embedding);
  const hosted = choice && hostedModel(choice);
  if (hosted !== undefined) return hosted;
  const { model_name: name } = embedding;
  const model = name === undefined ? DEFAULT_MODEL : (findModel(name) ?? otherModel(config));
  // Where nothing is named, the default one counts, whatever the build lacks.
  if (model !== undefined && (name === undefined || model.other || hasModelFiles(model))) {
    return model;
  }
  const setting = "embedding.model_name";
  const known = includedModels().map((one) => one.name);
  throw new SvcError(
    "invalid_config",
    `${setting}: ${JSON.stringify(name)} is not part of this build; use ${known.join(" or ")}, or unset it`,
    { setting },
  );
}

/** The model whose vectors a pack has; undefined if neither this program nor the settings have it. */
export function modelOfPack(config: Config, stored: EmbeddingIdentity): UsableModel | undefined {
  if (!isOther(stored)) return includedModels().find(({ name }) => name === stored.model);
  const configured = tryConfigured(config);
  if (configured === undefined || configured.name !== stored.model) return undefined;
  const isSameKind = kindOf(configured.recipe) === kindOf(stored.version);
  return isSameKind ? configured : undefined;
}

/** Whether vectors come from a model that is no part of the program. */
function isOther({ version }: EmbeddingIdentity): boolean {
  return providerOfVectors(version) !== undefined || kindOf(version) === "onnx";
}

/** Who runs a model: the first word of its recipe. */
function kindOf(recipe: string): string {
  return recipe.split("-", 1)[0] ?? "";
}

function tryConfigured(config: Config): UsableModel | undefined {
  try {
    return configuredModel(config);
  } catch (error) {
    if (error instanceof SvcError && error.code === "model_failed") return undefined;
    throw error;
  }
}

/** The model to use for a pack: its own one. If that is not to be had, any will do, since no vectors can be compared. */
export function modelFor(config: Config, stored: EmbeddingIdentity): UsableModel {
  return modelOfPack(config, stored) ?? DEFAULT_MODEL;
}

/**
 * The model that makes the vectors of a pack again: the configured one, else that of a rebuild which was cut off, else its own. A
 * pack of a former model gets the default one; one of a model that this build alone lacks keeps it unless another is named.
 * @throws SvcError what `configuredModel` throws; embedding_mismatch if the model is not to be had and none is named
 */
export function modelToRenew(
  config: Config,
  stored: EmbeddingIdentity,
  begun: EmbeddingIdentity | undefined,
): UsableModel {
  const { embedding } = config;
  const isNamed = embedding.model_name !== undefined || hostedChoice(embedding) !== undefined;
  if (isNamed) return configuredModel(config);
  const known = (begun && modelOfPack(config, begun)) ?? modelOfPack(config, stored);
  const isFormer = !isOther(stored) && findModel(stored.model) === undefined;
  if (known !== undefined || isFormer) return known ?? DEFAULT_MODEL;
  throw new SvcError(
    "embedding_mismatch",
    `${modelLacking(stored)}: ${howToUse(stored)}, or name another model with --model ${DEFAULT_MODEL.alias}`,
  );
}

/** That the model of a pack is not to be had, as the beginning of a sentence. */
export function modelLacking({ model, version }: EmbeddingIdentity): string {
  const shown = shownName(model);
  const provider = providerOfVectors(version);
  if (provider !== undefined) {
    return `the embedding model of what is stored, ${shown}, is run by ${provider}, which the settings do not name`;
  }
  return kindOf(version) === "onnx"
    ? `the embedding model of what is stored, ${shown}, is a local one that the settings do not name, or whose files are missing`
    : `this program lacks the embedding model of what is stored, ${shown}`;
}

/** What gives a pack the model that it lacks. */
export function howToUse({ model, version }: EmbeddingIdentity): string {
  const provider = providerOfVectors(version);
  if (provider !== undefined) {
    return `set embedding.provider (SVC_EMBEDDING__PROVIDER) to ${provider} and embedding.model_name to ${shownName(model)}`;
  }
  return kindOf(version) === "onnx"
    ? "set embedding.model_name (SVC_EMBEDDING__MODEL_NAME) to its folder or name"
    : "use a build that has it";
}

/** Identifies the vectors that a model makes with these settings. */
export function identityWith({ embedding }: Config, model: UsableModel): EmbeddingIdentity {
  return identityOf(model, embedding.max_tokens);
}

/**
 * An embedder as it is configured. Its model is loaded, and a server is asked, by the first call that needs it; the caller closes
 * it.
 * @param warn is told when a server does not answer
 */
export async function createConfiguredEmbedder(
  { embedding }: Config,
  model: UsableModel,
  warn: (message: string) => void,
): Promise<Embedder> {
  const { max_tokens: maxTokens, threads } = embedding;
  if (!isHosted(model)) return createLocalEmbedder({ model, threads, maxTokens });
  const { createHostedEmbedder } = await import("../adapters/embedding/hosted/hosted-embedder.ts");
  return createHostedEmbedder({
    model,
    maxTokens,
    apiKey: embedding.api_key?.reveal(),
    baseUrl: embedding.base_url,
    timeoutMs: Math.ceil(embedding.timeout * 1000),
    warn,
  });
}
