import { createFootageReader } from "../adapters/footage/footage-reader.ts";
import { createLanguageModel } from "../adapters/language-model/create-language-model.ts";
import { createVisionModel } from "../adapters/language-model/create-vision-model.ts";
import { createLocalReranker } from "../adapters/rerank/local-reranker.ts";
import { progressLines } from "../adapters/rerank/progress-lines.ts";
import type { Config } from "../config/schema.ts";
import type { EngineDeps } from "../engine/deps.ts";
import type { Clock } from "../ports/system.ts";

type OptionalModels = Pick<
  EngineDeps,
  "reranker" | "languageModel" | "extractionModel" | "summaryModel" | "visionModel" | "footage"
>;

/**
 * The models that the settings turn on. None is loaded, downloaded or used before the first call that needs it.
 * @param warn receives the progress of downloads
 * @throws SvcError invalid_config for a malformed model name
 */
export function createOptionalModels(
  config: Config,
  clock: Clock,
  warn: (line: string) => void,
): OptionalModels {
  const { models, extraction } = config;
  const local = {
    threads: models.threads,
    hubUrl: models.hub_url,
    downloadTimeoutMs: Math.ceil(models.download_timeout * 1000),
    stallTimeoutMs: Math.ceil(models.download_stall_timeout * 1000),
    onProgress: progressLines(warn),
  };
  return {
    reranker: config.enable_reranker
      ? createLocalReranker({ ...local, model: config.reranker_model })
      : undefined,
    languageModel: config.enable_query_reformulation ? languageModel(extraction) : undefined,
    extractionModel: config.isExtractionOn === true ? languageModel(extraction) : undefined,
    summaryModel: config.isExtractionOn === true ? languageModel(extraction) : undefined,
    visionModel: config.vision.enabled ? visionModel(config.vision) : undefined,
    footage: config.vision.enabled
      ? createFootageReader({ clock, environment: process.env })
      : undefined,
  };
}

function visionModel({
  provider,
  model,
  api_key,
  base_url,
}: Config["vision"]): ReturnType<typeof createVisionModel> {
  return createVisionModel({
    ...{ provider, model },
    apiKey: api_key?.reveal(),
    baseUrl: base_url,
  });
}

function languageModel(
  group: Config["extraction"],
): ReturnType<typeof createLanguageModel> | undefined {
  const { provider, model } = group;
  if (provider === undefined || model === undefined) return undefined;
  return createLanguageModel({
    provider,
    model,
    apiKey: group.api_key?.reveal(),
    baseUrl: group.base_url,
    reasoningEffort: group.reasoning_effort,
  });
}
