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
import { mainPath, type PackLayout } from "../adapters/sqlite/connection/layout.ts";
import { beginPack } from "../adapters/sqlite/connection/pack-files.ts";
import { chooseModel } from "../app/models.ts";
import { openEngine, openFollowing } from "../app/open-engine.ts";
import { findKey, keyInSettings, keyStoreOf } from "../app/pack-key.ts";
import { databaseOf, layoutOf, requirePlaceForNew } from "../app/pack-path.ts";
import { withEncryptionKey } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { variable } from "../config/settings-file.ts";
import { parseOptionalUserId } from "../domain/arguments.ts";
import { SvcError } from "../domain/errors.ts";
import type { MemoryEngine } from "../engine/memory-engine.ts";
import { shellWord } from "../lib/text.ts";
import { notePassphrase } from "./key-custody.ts";

/** How a new pack is encrypted. */
export type NewKey =
  | { readonly kind: "plain" }
  /** 32 random bytes, kept on this machine. */
  | { readonly kind: "generated" }
  /** `isKept`: on this machine as well. */
  | { readonly kind: "chosen"; readonly key: string; readonly isKept: boolean };

/** A configuration that opens the pack, and where its key is stored; undefined if it is not. */
export type Keyed = { readonly config: Config; readonly keptIn: string | undefined };
type MadePack = Keyed & {
  readonly owner: string | undefined;
  /** One sentence about the embedding model; undefined for the default one. */
  readonly model: string | undefined;
};

/**
 * Creates the configured pack, which must not exist yet. A kept key is saved first, so that no crash leaves a pack without its key.
 * @param owner owner of the pack. Default: the system user
 * @throws SvcError invalid_argument, encryption_failed, pack_in_use if another process creates it, storage_failed, disk_full
 */
export async function createPack(
  config: Config,
  newKey: NewKey,
  owner?: string | undefined,
): Promise<MadePack> {
  parseOptionalUserId(owner);
  requirePlaceForNew(config);
  const { config: chosen, told } = await chooseModel(config);
  return await withNewKey(chosen, newKey, mainPath(layoutOf(config)), async (keyed) => {
    const engine = await openEngine(keyed.config);
    const claimed = await engine.claimPack(owner).finally(() => engine.close());
    await noteChosen(keyed.config, layoutOf(config), newKey);
    return { ...keyed, owner: claimed, model: told };
  });
}

/**
 * Opens the configured pack for a server. A missing one is created as `svc init` does, unless the settings say how; `warn` is called, and
 * `madeAt` is the path.
 * @throws SvcError as `createPack` and `openEngine`
 */
export async function openOrMake(
  config: Config,
  warn: (message: string) => void,
): Promise<MemoryEngine & { readonly madeAt?: string }> {
  if (databaseOf(config) !== undefined) return await openFollowing(config, { warn });
  const layout = layoutOf(config);
  const path = mainPath(layout);
  const isMissing = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
  if (!isMissing) return await openFollowing(config, { warn });
  if (config.encryption_enabled !== undefined) {
    const { config: chosen, told } = await chooseModel(config, warn);
    if (told !== undefined) warn(`${path}: ${told}`);
    return { ...(await openFollowing(chosen, { warn })), madeAt: path };
  }
  const key = keyInSettings(config);
  const newKey: NewKey =
    key === undefined ? { kind: "generated" } : { kind: "chosen", key, isKept: true };
  try {
    const made = await createPack(config, newKey);
    if (made.model !== undefined) warn(`${path}: ${made.model}`);
    warn(
      `made ${path}, encrypted; its key is kept in ${made.keptIn}. If you lose the key, you lose the pack; back it up with: svc key export ${shellWord(path)}`,
    );
    return { ...(await openFollowing(made.config, { warn })), madeAt: path };
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== "pack_in_use") throw error;
    // Another process has created it meanwhile, after saving its key.
    return await openFollowing((await findKey(config)).config, { warn });
  }
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

/** Records in a finished pack if its key comes from a passphrase. */
export async function noteChosen(
  config: Config,
  layout: PackLayout,
  newKey: NewKey,
): Promise<void> {
  if (newKey.kind === "chosen") await notePassphrase(config, layout, newKey.key);
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

/** Whether a key stored on this machine lasts as long as its pack. */

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
