/** The pack of this user: the first that `svc init` or `svc connect` made or found, by its path in the folder of the configuration. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { keyFolder } from "../adapters/keystore/key-store.ts";

const NAME = "pack";

/** Undefined: none is remembered, or it is gone. */
export function ownPack(): string | undefined {
  try {
    const path = readFileSync(join(dirname(keyFolder(process.env)), NAME), "utf8").trim();
    return isAbsolute(path) && existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Remembers a pack unless there is one already. @returns whether it is the pack of this user now */
export function rememberPack(path: string): boolean {
  const own = ownPack();
  if (own !== undefined) return own === path;
  if (!existsSync(path)) return false;
  try {
    const folder = dirname(keyFolder(process.env));
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, NAME), `${path}\n`, { mode: 0o600 });
    return true;
  } catch {
    // A home that cannot be written: the pack is named each time.
    return false;
  }
}
