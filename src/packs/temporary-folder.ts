import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeFolder } from "../adapters/native/system-files.ts";

/** Does something in an empty folder that nobody else can read, and removes the folder. @param prefix of its name */
export async function inTemporaryFolder(
  prefix: string,
  work: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  try {
    await work(folder);
  } finally {
    removeFolder(folder);
  }
}
