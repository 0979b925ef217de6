import { existsSync } from "node:fs";
import { join } from "node:path";
import type { EmbeddingModel } from "../../domain/embedding-models.ts";
import { EMBEDDED, type EmbeddedAsset } from "../native/embedded.ts";
import { unpack } from "../native/extract.ts";

const SOURCE_ROOT = join(import.meta.dir, "models");

/** Whether this program has the files of a model: a build may leave models out. */
export function hasModelFiles(model: EmbeddingModel): boolean {
  if (Bun.isStandaloneExecutable) return embeddedFiles(model).length > 0;
  return existsSync(join(SOURCE_ROOT, model.name));
}

/**
 * The folder that holds a model's weights and tokenizer below its name. In the executable the files are unpacked and
 * verified first, which reads all of them: call it where the model is loaded, never at start.
 * @throws SvcError `storage_failed` if the files cannot be unpacked.
 */
export function modelRoot(model: EmbeddingModel): string {
  let root = SOURCE_ROOT;
  for (const asset of embeddedFiles(model)) {
    root = unpack(asset).slice(0, -`/${model.name}/${asset.name}`.length);
  }
  return root;
}

function embeddedFiles({ name }: EmbeddingModel): readonly EmbeddedAsset[] {
  return Object.entries(EMBEDDED).flatMap(([key, asset]) =>
    key.startsWith(`model/${name}/`) ? [asset] : [],
  );
}
