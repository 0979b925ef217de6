import { fileURLToPath } from "node:url";
import { EMBEDDED } from "../native/embedded.ts";
import { extractAsset } from "../native/extract.ts";

/** Name of the default model, which is also its folder below {@link modelRoot}. */
export const MODEL_NAME = "BAAI/bge-small-en-v1.5";

/**
 * The folder that holds `BAAI/bge-small-en-v1.5/…` with weights and tokenizer. In the executable the files are unpacked and
 * verified first, which reads 34 MB: call it where the model is loaded, never at start.
 * @throws SvcError `storage_failed` if the files cannot be unpacked.
 */
export function modelRoot(): string {
  let root: string | undefined;
  for (const [key, asset] of Object.entries(EMBEDDED)) {
    if (!key.startsWith("model/")) continue;
    const path = extractAsset(asset);
    root = path.slice(0, -`/${MODEL_NAME}/${asset.name}`.length);
  }
  return root ?? fileURLToPath(new URL("./models", import.meta.url));
}
