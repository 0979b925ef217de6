import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { SvcError } from "../../domain/errors.ts";
import { withHome } from "../../lib/home-folder.ts";

/** Where a model's files come from. */
export type ModelSource =
  | { readonly kind: "folder"; readonly path: string }
  | {
      readonly kind: "hub";
      /** `name`, or `owner/name`. */
      readonly id: string;
      /** Branch, tag or commit. */
      readonly revision: string;
    };

/** The file that marks a complete download and says what was downloaded. */
export const RECEIPT_NAME = "svc-download.json";

/**
 * Reads a model setting: a path that begins with `/`, `./`, `../`, `~/` or `$HOME/` is a folder, anything else a name on the hub.
 * @throws SvcError invalid_config for text that is neither
 */
export function parseModelSource(model: string, revision: string, home: string): ModelSource {
  const path = withHome(model, home);
  if (path !== model || /^\.{0,2}\//.test(path)) return { kind: "folder", path: resolve(path) };
  const isName = /^[\w.-]{1,96}(\/[\w.-]{1,96})?$/.test(model);
  // The name becomes part of a path.
  if (!isName || model.split("/").some((part) => /^\.+$/.test(part))) {
    throw new SvcError(
      "invalid_config",
      `${JSON.stringify(model)} names no model; write owner/name, or a folder as /path or ./path`,
      { setting: "model" },
    );
  }
  if (!/^[\w.-]{1,128}$/.test(revision) || /^\.+$/.test(revision)) {
    throw new SvcError(
      "invalid_config",
      `${JSON.stringify(revision)} names no revision; write a branch, a tag or a commit`,
      { setting: "revision" },
    );
  }
  return { kind: "hub", id: model, revision };
}

/** The folder of a downloaded model below the cache folder. */
export function downloadFolder(cacheDir: string, id: string, revision: string): string {
  return join(cacheDir, "models", ...id.split("/"), revision);
}

/** Whether a folder holds a complete download. */
export function isDownloaded(folder: string): boolean {
  return existsSync(join(folder, RECEIPT_NAME));
}
