import { describeModel, RECIPE_FILES } from "../adapters/embedding/other-model.ts";
import { createModelFiles, type ModelFiles } from "../adapters/rerank/model-files.ts";
import { progressLines } from "../adapters/rerank/progress-lines.ts";
import { hostedChoice } from "../config/rules.ts";
import type { Config } from "../config/schema.ts";
import { type EmbeddingModel, findModel } from "../domain/embedding-models.ts";
import { SvcError } from "../domain/errors.ts";

/** The name of the local model that the settings name and that is not part of the program; undefined if they name none. */
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
 * Downloads the local model that the settings name, if it is on the hub and not here yet.
 * @param warn receives the progress
 * @throws SvcError model_failed
 */
export async function fetchOtherModel(config: Config, warn: (line: string) => void): Promise<void> {
  const name = otherName(config);
  if (name === undefined) return;
  await filesOf(config, name, warn).folder(new AbortController().signal);
}

/**
 * The local model that the settings name and that is not part of the program; undefined if they name none.
 * @throws SvcError model_failed if its files are missing or unfit
 */
export function otherModel(config: Config): EmbeddingModel | undefined {
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
