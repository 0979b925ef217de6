import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { saltAt } from "../adapters/crypt/cipher.ts";
import {
  deriveMasterKey,
  KEY_BYTES,
  rawKeyText,
  SALT_BYTES,
  wipe,
} from "../adapters/crypt/keys.ts";
import { placeName } from "../adapters/keystore/key-store.ts";
import { toSvcError } from "../adapters/sqlite/connection/failures.ts";
import { beginPack } from "../adapters/sqlite/connection/pack-files.ts";
import { withEncryptionKey } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { variable } from "../config/settings-file.ts";
import { SvcError } from "../domain/errors.ts";
import { shellWord } from "../lib/text.ts";
import { keyInSettings, keyStoreOf } from "./pack-key.ts";

/** How a new pack is encrypted. */
export type NewKey =
  | { readonly kind: "plain" }
  /** 32 random bytes, kept on this machine. */
  | { readonly kind: "generated" }
  /** `isKept`: on this machine as well. */
  | { readonly kind: "chosen"; readonly key: string; readonly isKept: boolean };

/** A configuration that opens the pack, and where its key is stored; undefined if it is not. */
export type Keyed = { readonly config: Config; readonly keptIn: string | undefined };

/** The key of the settings, else a random one, kept on this machine. */
export function keptKey(config: Config): NewKey {
  const key = keyInSettings(config);
  return key === undefined ? { kind: "generated" } : { kind: "chosen", key, isKept: true };
}

/**
 * Starts a new pack at `path` with its key, and calls `use` to finish it. A kept key is saved first; if `use` fails, it is forgotten again,
 * unless the pack exists.
 * @throws SvcError encryption_failed if a random key would be lost before the pack
 */
export async function withNewKey<T>(
  config: Config,
  newKey: NewKey,
  path: string,
  use: (keyed: Keyed) => Promise<T>,
): Promise<T> {
  const keyText = keyTextFor(newKey);
  if (keyText === undefined) {
    return await use({ config: withEncryptionKey(config, undefined), keptIn: undefined });
  }
  const isKept = newKey.kind === "generated" || (newKey.kind === "chosen" && newKey.isKept);
  const store = isKept ? keyStoreOf(config) : undefined;
  const salt = randomBytes(SALT_BYTES);
  const masterKey = await deriveMasterKey(keyText, salt);
  try {
    const place = await store?.save(salt, masterKey);
    try {
      if (newKey.kind === "generated" && place?.kind === "file") requireLasting(place.path, path);
      mkdirSync(dirname(path), { recursive: true });
      beginPack(path, { masterKey }, salt);
      if (!isSalt(saltAt(path), salt)) throw madeMeanwhile(path);
      const keyed = withEncryptionKey(config, rawKeyText(masterKey));
      return await use({ config: keyed, keptIn: place && placeName(place) });
    } catch (error) {
      // No pack has this salt.
      if (!isSalt(saltAt(path), salt)) await store?.forget(salt);
      throw toSvcError(error, path);
    }
  } finally {
    wipe(masterKey);
  }
}

function keyTextFor(newKey: NewKey): string | undefined {
  if (newKey.kind === "plain") return undefined;
  if (newKey.kind === "chosen") return newKey.key;
  return rawKeyText(randomBytes(KEY_BYTES));
}

function isSalt(found: Uint8Array | undefined, salt: Uint8Array): boolean {
  return found !== undefined && Buffer.compare(found, salt) === 0;
}

function madeMeanwhile(path: string): SvcError {
  const message = `${path}: was made by another process meanwhile; it stays as it is`;
  return new SvcError("pack_in_use", message, { path });
}

/** Properties of a folder's file system. */
export type FileSystem = {
  /** Its type number in Linux. */
  readonly type: number;
  readonly device: number;
};

/** File systems that do not outlive a container or a boot: overlayfs, aufs, tmpfs, ramfs. */
const PASSING: ReadonlySet<number> = new Set([0x794c7630, 0x61756673, 0x01021994, 0x858458f6]);
/** Files that container engines put into the root of a container. */
const MARKS = ["/.dockerenv", "/run/.containerenv"];

/**
 * Whether the pack outlives its key: they are on two file systems, and only the key's is in memory or a container layer.
 * @param root the file system of a container's layer; undefined outside of containers
 */
export function isOutlived(
  key: FileSystem,
  pack: FileSystem,
  root: FileSystem | undefined,
): boolean {
  if (key.device === pack.device || PASSING.has(pack.type)) return false;
  return PASSING.has(key.type) || key.device === root?.device;
}

/**
 * Rejects storing a random key in a file that would be lost before its pack, which could then never be opened. Linux only.
 * @throws SvcError encryption_failed
 */
function requireLasting(keyFile: string, pack: string): void {
  if (process.platform !== "linux") return;
  const isContainer =
    MARKS.some((mark) => existsSync(mark)) || variable("KUBERNETES_SERVICE_HOST") !== undefined;
  const root = isContainer ? fileSystemOf("/") : undefined;
  if (!isOutlived(fileSystemOf(keyFile), fileSystemOf(pack), root)) return;
  const message = `${pack}: was not made: its key would be kept in ${keyFile}, which goes with this container or in the machine's next start, while the pack stays, and nobody could open it. Give it a key that you keep (SVC_ENCRYPTION_ENABLED=true and SVC_ENCRYPTION_KEY), or keep its key where the pack is: XDG_CONFIG_HOME=${shellWord(dirname(pack))}`;
  throw new SvcError("encryption_failed", message, { path: pack });
}

/** Of the nearest folder that exists. */
function fileSystemOf(path: string): FileSystem {
  if (!existsSync(path)) return fileSystemOf(dirname(path));
  return { type: statfsSync(path).type, device: statSync(path).dev };
}
