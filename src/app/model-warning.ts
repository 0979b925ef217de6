import type { Config } from "../config/schema.ts";
import { DEFAULT_MODEL } from "../domain/embedding-models.ts";
import { isSameEmbedding } from "../domain/same-embedding.ts";
import { shellWord } from "../lib/shell-word.ts";
import { shownName } from "../lib/shown-name.ts";
import type { EmbeddingIdentity } from "../ports/embedder.ts";
import { configuredModel, identityWith, modelFor, modelOfPack } from "./configured-embedder.ts";

/**
 * What a person should know about the model of a pack: that this program cannot compare its vectors, or that the settings name
 * another one; undefined if all is as expected.
 * @param path of the pack
 */
export function modelWarning(
  config: Config,
  path: string,
  stored: EmbeddingIdentity,
): string | undefined {
  const mismatch = modelMismatch(config, path, stored);
  if (mismatch !== undefined) return mismatch;
  const named = config.embedding.model_name;
  if (named === undefined || configuredModel(config).name === stored.model) return undefined;
  return `the pack keeps its embedding model ${shownName(stored.model)}, although embedding.model_name is ${named}; to change it: svc rebuild ${shellWord(path)} --model ${named}`;
}

/** Why the vectors of a pack cannot be compared, and what helps; undefined if they can. */
export function modelMismatch(
  config: Config,
  path: string,
  stored: EmbeddingIdentity,
): string | undefined {
  const rebuild = `svc rebuild ${shellWord(path)}`;
  if (modelOfPack(stored) === undefined) {
    return `this program lacks the embedding model of the pack, ${shownName(stored.model)}, so memories are found by words only: use a build that has it, or give the pack another model with: ${rebuild} --model ${DEFAULT_MODEL.alias}`;
  }
  const used = identityWith(config, modelFor(stored));
  if (isSameEmbedding(stored, used)) return undefined;
  const [one, other] = [stored, used].map(
    ({ model, version, dimension }) =>
      `${shownName(model)} (version ${shownName(version)}, ${dimension} numbers)`,
  );
  return `the vectors of the pack are of the embedding model ${one}, configured is ${other}; until \`${rebuild}\` memories are found by words only`;
}
