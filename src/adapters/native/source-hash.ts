import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** 16 hex digits over names and contents of the files of a folder: C source and its compiler flags. */
export function sourceHash(folder: string): string {
  const hash = createHash("sha256");
  for (const name of readdirSync(folder).sort()) {
    const content = readFileSync(join(folder, name));
    hash.update(`${name} ${content.length}\n`).update(content);
  }
  return hash.digest("hex").slice(0, 16);
}
