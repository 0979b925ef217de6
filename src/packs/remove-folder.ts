import { readdirSync, rmdirSync, rmSync, statSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { IS_WINDOWS } from "../adapters/native/platform.ts";
import { PASSING, retryWhile } from "../adapters/native/system-files.ts";

/**
 * Removes a folder with all that is in it, if it is there. On Windows name by name: a file that a scanner holds open for a moment
 * would hinder the removal of the whole folder for good.
 */
export function removeFolder(folder: string): void {
  if (IS_WINDOWS) removeByName(folder);
  else rmSync(folder, { recursive: true, force: true });
}

function removeByName(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) removeByName(path);
    else retryWhile(PASSING, () => unlinkSync(path));
  }
  retryWhile([...PASSING, "ENOTEMPTY"], () => rmdirSync(folder));
}
