import { createLocalEmbedder, identityOf } from "../adapters/embedding/local-embedder.ts";
import { hasModelFiles } from "../adapters/embedding/model-files.ts";
import { describeModel, RECIPE_FILES } from "../adapters/embedding/other-model.ts";
import { throughProxy } from "../adapters/network/reach.ts";
import {
  createModelFiles,
  type ModelFiles,
  progressLines,
} from "../adapters/rerank/model-files.ts";
import { systemLanguage } from "../adapters/system/system.ts";
import { hostedChoice } from "../config/rules.ts";
import type { Config } from "../config/schema.ts";
import { type ModelProvider, providerAddress, providerHost } from "../domain/addresses.ts";
import {
  DEFAULT_MODEL,
  EMBEDDING_MODELS,
  type EmbeddingModel,
  findModel,
  isSameEmbedding,
} from "../domain/embedding-models.ts";
import { SvcError } from "../domain/errors.ts";
import { type HostedModel, hostedModel, providerOfVectors } from "../domain/hosted-models.ts";
import { shellWord, shownName } from "../lib/text.ts";
import type { Embedder, EmbeddingIdentity } from "../ports/models.ts";
import { placeWord } from "./pack-path.ts";

/** A model run by this program, or by another program for it. */
export type UsableModel = EmbeddingModel | HostedModel;

/** Whether texts are sent to another program to be embedded. */
export function isHosted(model: UsableModel): model is HostedModel {
  return "provider" in model;
}

/** The models that this program includes: a build may leave some out. */
export function includedModels(): readonly EmbeddingModel[] {
  return EMBEDDING_MODELS.filter(hasModelFiles);
}

/**
 * The model of new packs: the configured one, else the default.
 * @throws SvcError invalid_config if it is not part of this program; model_failed if its files are missing or unsuitable
 */
export function configuredModel(config: Config): UsableModel {
  const { embedding } = config;
  const choice = hostedChoice(embedding);
  const hosted = choice && hostedModel(choice);
  if (hosted !== undefined) return hosted;
  const { model_name: name } = embedding;
  const model = name === undefined ? DEFAULT_MODEL : (findModel(name) ?? otherModel(config));
  // If none is named, the default one applies, even in a build that lacks it.
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

/** The model of a pack's vectors; undefined if neither this program nor the settings have it. */
export function modelOfPack(config: Config, stored: EmbeddingIdentity): UsableModel | undefined {
  if (!isOther(stored)) return includedModels().find(({ name }) => name === stored.model);
  const configured = tryConfigured(config);
  if (configured === undefined || configured.name !== stored.model) return undefined;
  const isSameKind = kindOf(configured.recipe) === kindOf(stored.version);
  return isSameKind ? configured : undefined;
}

/** Whether vectors come from a model that is not built in. */
function isOther({ version }: EmbeddingIdentity): boolean {
  return providerOfVectors(version) !== undefined || kindOf(version) === "onnx";
}

/** The provider of a model: the first word of its recipe. */
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

/** The model to use for a pack: its own. If that is unavailable, any will do, since vectors cannot be compared. */
export function modelFor(config: Config, stored: EmbeddingIdentity): UsableModel {
  return modelOfPack(config, stored) ?? DEFAULT_MODEL;
}

/**
 * The model for rebuilding a pack's vectors: the configured one, else that of an interrupted rebuild, else its own. A pack of a former
 * model gets the default one; one whose model only this build lacks keeps it unless another is named.
 * @throws SvcError what `configuredModel` throws; embedding_mismatch if the model is unavailable and none is named
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

/** That a pack's model is unavailable, as the beginning of a sentence. */
function modelLacking({ model, version }: EmbeddingIdentity): string {
  const shown = shownName(model);
  const provider = providerOfVectors(version);
  if (provider !== undefined) {
    return `the embedding model of what is stored, ${shown}, is run by ${provider}, which the settings do not name`;
  }
  return kindOf(version) === "onnx"
    ? `the embedding model of what is stored, ${shown}, is a local one that the settings do not name, or whose files are missing`
    : `this program lacks the embedding model of what is stored, ${shown}`;
}

/** How to get the model that a pack lacks. */
function howToUse({ model, version }: EmbeddingIdentity): string {
  const provider = providerOfVectors(version);
  if (provider !== undefined) {
    return `set embedding.provider (SVC_EMBEDDING__PROVIDER) to ${provider} and embedding.model_name to ${shownName(model)}`;
  }
  return kindOf(version) === "onnx"
    ? "set embedding.model_name (SVC_EMBEDDING__MODEL_NAME) to its folder or name"
    : "use a build that has it";
}

/** Identifies the vectors that a model produces with these settings. */
export function identityWith({ embedding }: Config, model: UsableModel): EmbeddingIdentity {
  return identityOf(model, embedding.max_tokens);
}

/**
 * The configured embedder. Its model is loaded, or a server asked, by the first call that needs it; the caller closes it.
 * @param warn called when a server does not answer
 */
export async function createConfiguredEmbedder(
  { embedding }: Config,
  model: UsableModel,
  warn: (message: string) => void,
): Promise<Embedder> {
  const { max_tokens: maxTokens, threads, bulk_threads: bulk } = embedding;
  if (!isHosted(model)) {
    return createLocalEmbedder({ model, threads, maxTokens, bulkThreads: bulk });
  }
  const { createHostedEmbedder } = await import("../adapters/embedding/hosted-embedder.ts");
  return createHostedEmbedder({
    model,
    maxTokens,
    apiKey: embedding.api_key?.reveal(),
    baseUrl: embedding.base_url,
    timeoutMs: Math.ceil(embedding.timeout * 1000),
    warn,
  });
}

/** The name of the configured local model that is not built in; undefined if none. */
function otherName({ embedding }: Config): string | undefined {
  const { model_name: name } = embedding;
  if (name === undefined || hostedChoice(embedding) !== undefined) return undefined;
  return findModel(name) === undefined ? name : undefined;
}

function filesOf(
  { embedding, models }: Config,
  model: string,
  warn: (line: string) => void,
): ModelFiles {
  return createModelFiles({
    model,
    revision: embedding.revision,
    hubUrl: models.hub_url,
    downloadTimeoutMs: Math.ceil(models.download_timeout * 1000),
    stallTimeoutMs: Math.ceil(models.download_stall_timeout * 1000),
    optionalFiles: RECIPE_FILES,
    onProgress: progressLines(warn),
  });
}

/**
 * Downloads the configured local model, if it is on the hub and not here yet.
 * @param warn receives the progress
 * @throws SvcError model_failed
 */
export async function fetchOtherModel(config: Config, warn: (line: string) => void): Promise<void> {
  const name = otherName(config);
  if (name === undefined) return;
  await filesOf(config, name, warn).folder(new AbortController().signal);
}

/**
 * The configured local model that is not built in; undefined if none.
 * @throws SvcError model_failed if its files are missing or unsuitable
 */
function otherModel(config: Config): EmbeddingModel | undefined {
  const { embedding } = config;
  const name = otherName(config);
  if (name === undefined) return undefined;
  const folder = filesOf(config, name, () => {}).present();
  if (folder === undefined) {
    throw new SvcError(
      "model_failed",
      `the embedding model ${name} has not been downloaded yet; svc rebuild and svc init do it`,
      { model: name },
    );
  }
  return describeModel({
    folder,
    name: /^[~./]/.test(name) ? (folder.split("/").at(-1) ?? folder) : name,
    dimension: embedding.dimension,
    pooling: embedding.pooling,
    documentPrefix: embedding.document_prefix,
    questionPrefix: embedding.question_prefix,
  });
}

/**
 * A notice for a person about a pack's model: its vectors cannot be compared, or the settings name another one; undefined if all is well.
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

/** Why a pack's vectors cannot be compared, and how to fix it; undefined if they can. */
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

/** The model of a pack about to be created. */
type NewPackModel = {
  readonly config: Config;
  /** One sentence about it; undefined for the default model. */
  readonly told: string | undefined;
};

/**
 * Chooses the model of a new pack: the configured one, else the default one, or, if the system language is not English, one that reads it.
 * One on the hub is downloaded first.
 * @param warn receives the progress of that
 * @throws SvcError invalid_config if the named model is not part of this program, model_failed if its files are unsuitable
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

/** The host that receives what is sent to a provider, and the proxy in between, as shown to a person. */
export function reachedHost(provider: ModelProvider, baseUrl: string | undefined): string {
  return `${providerHost(provider, baseUrl)}${throughProxy(providerAddress(provider, baseUrl))}`;
}

export const EXTRACTION_OFF =
  "off; to turn it on, set SVC_EXTRACTION__PROVIDER (openai, anthropic or ollama) and SVC_EXTRACTION__MODEL";

/** The model that extracts facts from ingested messages, and where their text goes; undefined if extraction is off. */
export function extractor(
  config: Config,
): { readonly provider: string; readonly model: string; readonly host: string } | undefined {
  if (config.isExtractionOn !== true) return undefined;
  const { provider, model, base_url: baseUrl } = config.extraction;
  return { provider, model, host: reachedHost(provider, baseUrl) };
}
