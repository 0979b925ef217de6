import { chmodSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Removes a folder with all that is in it, also from folders that may not be written to. Links are not followed. */
export function removeTree(root: string): void {
  try {
    rmSync(root, { recursive: true, force: true });
  } catch {
    makeWritable(root);
    rmSync(root, { recursive: true, force: true });
  }
}

function makeWritable(folder: string): void {
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) makeWritable(join(folder, entry.name));
  }
}
