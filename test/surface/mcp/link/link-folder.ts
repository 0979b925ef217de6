import { afterEach } from "bun:test";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A private folder that is gone after the test. */
export function linkFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-link-")));
  folders.push(folder);
  return folder;
}
