/**
 * The default pack of this user: the first that `svc init` or `svc connect` created or found, stored as a path in the configuration folder.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { keyFolder } from "../adapters/keystore/key-store.ts";

const NAME = "pack";

/** Undefined: none is recorded, or it no longer exists. */
export function ownPack(): string | undefined {
  try {
    const path = readFileSync(join(dirname(keyFolder(process.env)), NAME), "utf8").trim();
    return isAbsolute(path) && existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Records a pack unless there already is one. @returns whether it is now this user's pack */
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
    // The home is not writable: the pack must be named each time.
    return false;
  }
}
