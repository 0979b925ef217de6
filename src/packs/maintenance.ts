import { randomBytes } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { deriveMasterKey, SALT_BYTES, wipe } from "../adapters/crypt/keys.ts";
import { requirePack } from "../adapters/sqlite/connection/failures.ts";
import { mainPath, type PackLayout } from "../adapters/sqlite/connection/layout.ts";
import { type CopyKey, freshKey, sameKey } from "../adapters/sqlite/copy/copy-pack.ts";
import {
  removeEncryptionManifest,
  writeEncryptionManifest,
} from "../adapters/sqlite/copy/encryption-manifest.ts";
import { type Migrated, migrateDirectory } from "../adapters/sqlite/copy/migrate-directory.ts";
import { rewritePack } from "../adapters/sqlite/copy/rewrite-pack.ts";
import { createSystemClock } from "../adapters/system/system.ts";
import { opening } from "../app/pack-connection.ts";
import { derived, isPackEncrypted, keyTextOf, withCipher } from "../app/pack-key.ts";
import { layoutOf, refuseDangling } from "../app/pack-path.ts";
import { withEncryptionKey } from "../config/load.ts";
import { pathArgument } from "../config/path.ts";
import type { Config } from "../config/schema.ts";
import { invalid } from "../domain/errors.ts";
import type { Secret } from "../lib/secret.ts";
import { keepForCopy, notePassphrase } from "./key-custody.ts";

/** Result of replacing a pack with a copy of itself. */
export type Rewrite = {
  /** Absolute path, without links, of the file that holds the log. */
  readonly path: string;
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  readonly encrypted: boolean;
};

/** Result of making a directory pack a single file. */
export type Migration = Migrated & {
  /** Absolute path of the folder's database file. */
  readonly source: string;
  readonly destination: string;
  readonly encrypted: boolean;
};

export type RekeyTarget =
  | { readonly kind: "plain" }
  /** `isFirst`: the pack is not encrypted yet. */
  | { readonly kind: "encrypted"; readonly key: string; readonly isFirst: boolean };

/**
 * Shrinks the configured pack to its content, which is unchanged.
 * @throws SvcError not_found, pack_in_use, encryption_failed, disk_full and others; the pack is then as before
 */
export async function compactPack(config: Config): Promise<Rewrite> {
  const layout = existing(
    config,
    "its server makes room by itself; to do it at once, run in the database: VACUUM FULL",
  );
  return await withCipher(layout, keyTextOf(config), async (cipher) => {
    const rewritten = await rewritePack({
      layout,
      cipher,
      ...opening(config),
      purpose: "compact",
      keyFor: (file) => sameKey(file, cipher),
    });
    return { ...rewritten, path: mainPath(layout), encrypted: cipher !== undefined };
  });
}

/**
 * Gives the configured pack another key, its first key, or none.
 * @throws SvcError invalid_argument if the pack is not what `target` assumes; what `compactPack` throws
 */
export async function rekeyPack(config: Config, target: RekeyTarget): Promise<Rewrite> {
  const layout = existing(
    config,
    "a database has no key: its disk and its connections are encrypted by its server",
  );
  const path = mainPath(layout);
  requireFits(path, isPackEncrypted(layout), target);
  const isFirst = target.kind === "encrypted" && target.isFirst;
  const done = await withCipher(layout, isFirst ? undefined : keyTextOf(config), (cipher) =>
    withFreshKey(target.kind === "plain" ? undefined : target.key, async (next) => {
      const rewritten = await rewritePack({
        layout,
        cipher,
        ...opening(config),
        purpose: "rekey",
        keyFor: (file) => (file === path ? next : freshKey(next?.cipher)),
        onSwapped: () => noteEncryption(layout, next !== undefined),
      });
      return { ...rewritten, path, encrypted: next !== undefined };
    }),
  );
  if (target.kind === "encrypted") {
    const key = await derived(layout, target.key);
    await notePassphrase(withEncryptionKey(config, key), layout, target.key);
  }
  return done;
}

function requireFits(path: string, isEncrypted: boolean, target: RekeyTarget): void {
  if (target.kind === "plain" && !isEncrypted) {
    throw invalid("--plain", `${path} is not encrypted; nothing was changed`);
  }
  if (target.kind === "plain" || target.isFirst === !isEncrypted) return;
  if (isEncrypted) {
    const remedy = "leave --encrypt out to give it another key";
    throw invalid(
      "--encrypt",
      `${path} is encrypted already; nothing was changed. To do: ${remedy}`,
    );
  }
  throw invalid("pack", `${path} is not encrypted; nothing was changed. To encrypt it: --encrypt`);
}

function noteEncryption(layout: PackLayout, isEncrypted: boolean): void {
  if (layout.kind === "file") return;
  if (isEncrypted) writeEncryptionManifest(layout, createSystemClock().now());
  else removeEncryptionManifest(layout);
}

/** Calls `use` with the key of a new main file, and forgets the derived key afterwards; undefined for an unencrypted file. */
async function withFreshKey<T>(
  keyText: string | undefined,
  use: (key: CopyKey | undefined) => Promise<T>,
): Promise<T> {
  if (keyText === undefined) return await use(undefined);
  const salt = randomBytes(SALT_BYTES);
  const masterKey = await deriveMasterKey(keyText, salt);
  try {
    return await use({ cipher: { masterKey }, salt });
  } finally {
    wipe(masterKey);
  }
}

/**
 * Copies the configured directory pack into a new single file, encrypted when there is a key. The directory stays.
 * @param given the key as it was given. Default: that of the configuration
 * @throws SvcError invalid_argument when the pack is a single file, or the new name is taken or unfit; what
 *   `compactPack` throws
 */
export async function migratePack(
  config: Config,
  destination: string,
  given?: Secret | undefined,
): Promise<Migration> {
  const path = resolve(pathArgument("new.pack", destination));
  refuseDangling(path);
  const layout = layoutOf(config);
  if (layout.kind === "file") {
    throw invalid("directory", `${layout.path} is a single file already, or no pack at all`);
  }
  requirePack(mainPath(layout), "nothing was changed");
  const isEncrypted = isPackEncrypted(layout);
  const keyText = keyTextOf(config);
  // The new pack opens with the same passphrase, which yields another key there.
  const text = keyText && (given?.reveal() ?? keyText);
  return await withCipher(layout, isEncrypted ? keyText : undefined, (cipher) =>
    withFreshKey(text, async (destinationKey) => {
      const migrated = await migrateDirectory({
        layout,
        cipher,
        ...opening(config),
        destination: path,
        destinationKey,
        now: createSystemClock().now(),
      });
      if (text !== undefined) await keepForCopy(config, layout, { kind: "file", path }, text);
      const encrypted = destinationKey !== undefined;
      return { ...migrated, source: layout.databasePath, destination: path, encrypted };
    }),
  );
}

/** Path of the configured pack with links resolved, so that a link stays a link when its target is replaced. */
function existing(config: Config, instead: string): PackLayout {
  const layout = layoutOf(config, instead);
  requirePack(mainPath(layout), "nothing was changed");
  if (layout.kind === "file") return layout;
  const real = (path: string): string => (existsSync(path) ? realpathSync(path) : path);
  return {
    kind: "directory",
    databasePath: real(layout.databasePath),
    vectorPath: real(layout.vectorPath),
    lexicalPath: real(layout.lexicalPath),
  };
}
