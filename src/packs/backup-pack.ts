import { existsSync, realpathSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { packDamaged } from "../adapters/crypt/keys.ts";
import { removeFile, renameFile, syncToDisk } from "../adapters/native/system-files.ts";
import { readManifest } from "../adapters/sql/settings.ts";
import { openExclusively } from "../adapters/sqlite/connection/exclusive.ts";
import { requirePack, toSvcError } from "../adapters/sqlite/connection/failures.ts";
import { mainPath, type PackLayout } from "../adapters/sqlite/connection/layout.ts";
import { asidePath } from "../adapters/sqlite/connection/own-log.ts";
import type { Cipher } from "../adapters/sqlite/connection/pack-files.ts";
import { run } from "../adapters/sqlite/connection/run.ts";
import { backUpFiles } from "../adapters/sqlite/copy/backup-files.ts";
import { writeEncryptionManifest } from "../adapters/sqlite/copy/encryption-manifest.ts";
import { withCleanup } from "../adapters/sqlite/copy/rewrite-pack.ts";
import { createSystemClock } from "../adapters/system/system.ts";
import { opening } from "../app/pack-connection.ts";
import { keyTextOf, withCipher } from "../app/pack-key.ts";
import { directoryLayout, layoutOf, refuseDangling } from "../app/pack-path.ts";
import { pathArgument } from "../config/path.ts";
import type { Config } from "../config/schema.ts";
import { invalid, SvcError } from "../domain/errors.ts";
import type { Instant } from "../lib/instant.ts";
import { hiddenBeside, packPlace } from "./hidden-pack.ts";
import { reportOnPack } from "./inspect-pack.ts";

export type BackupRequest = {
  /** The file, or for a directory pack the folder, to make. */
  readonly to: string;
  /** Puts the copy in place of a pack, which is set aside with its log. Default false: the name must be free. */
  readonly isReplacement?: boolean | undefined;
  /** Called before replacing a pack other than the one backed up, with the reason; throws to keep it. Default: replaced. */
  readonly onOtherPack?: ((reason: string) => Promise<void>) | undefined;
  readonly signal: AbortSignal;
  /** Called periodically with the bytes copied so far. */
  readonly onProgress: (done: number, total: number) => void;
};

/** Result of a backup; counts are of the copy and cover all owners. */
export type Backup = {
  /** Absolute path of the original's file that holds the log. */
  readonly source: string;
  /** Absolute path of the copy's. */
  readonly destination: string;
  readonly events: number;
  readonly nodes: number;
  /** Of all files of the copy. */
  readonly bytes: number;
  readonly encrypted: boolean;
  /** The previous content, under its new names. */
  readonly setAside: readonly string[];
};

/**
 * Copies a snapshot of the configured pack, which may be in use. The copy opens with the same key. It appears once it is complete, compared
 * and on disk, or not at all.
 * @throws SvcError not_found, invalid_argument if the name is taken or unfit, pack_in_use, encryption_failed, disk_full, pack_damaged and
 * others; the signal's reason; a replaced pack is then as it was
 */
export async function backUpPack(config: Config, request: BackupRequest): Promise<Backup> {
  const layout = layoutOf(config, "back a database up with pg_dump (docs/scale.md#backup)");
  const source = mainPath(layout);
  requirePack(source, "nothing was changed");
  const { signal, onProgress, isReplacement = false } = request;
  const target = targetFor(layout, request.to, isReplacement);
  const made = isReplacement ? await requireSound(config, source) : undefined;
  const clock = createSystemClock();
  return await withCipher(layout, keyTextOf(config), async (cipher) => {
    if (made !== undefined) {
      const reason = otherPack(requireUnused(target, config, cipher), made);
      if (reason !== undefined) await request.onOtherPack?.(`${packPlace(target)} ${reason}`);
    }
    const pack = prepare(target, isReplacement);
    return await withCleanup(pack.remove, async () => {
      const done = await backUpFiles({
        layout,
        target: pack.layout,
        cipher,
        ...opening(config),
        signal,
        onProgress,
      });
      const encrypted = cipher !== undefined;
      if (encrypted && pack.layout.kind === "directory") {
        writeEncryptionManifest(pack.layout, clock.now());
      }
      if (isReplacement) requireUnused(target, config, cipher);
      const setAside = isReplacement ? putAside(target) : [];
      pack.publish();
      const destination = mainPath(target);
      return { source, destination, ...done, encrypted, setAside };
    });
  });
}

/** @returns when the pack was made @throws SvcError pack_damaged and other errors of examining it */
async function requireSound(config: Config, path: string): Promise<Instant> {
  const { damage = [], manifest } = await reportOnPack(config, true);
  if (damage.length > 0) throw packDamaged(path);
  return manifest.createdAt;
}

/** What occupies a pack's place: its creation time, or that another key opens it; undefined if unknown. */
type Occupant = Instant | "other key" | undefined;

/** Why it is not the pack made then, as the rest of a sentence. */
function otherPack(found: Occupant, made: Instant): string | undefined {
  if (found === undefined || found === made) return undefined;
  if (found === "other key") return "is not encrypted with the key of the backup";
  return `was made ${found}, and the pack of the backup ${made}`;
}

/** Damage does not matter: the old file is only set aside. @throws SvcError pack_in_use */
function requireUnused(layout: PackLayout, config: Config, cipher: Cipher | undefined): Occupant {
  try {
    const database = openExclusively({ layout, cipher, ...opening(config) });
    try {
      return run(database, readManifest())?.createdAt;
    } finally {
      database.close();
    }
  } catch (error) {
    if (!(error instanceof SvcError)) return undefined;
    if (error.code === "pack_in_use") throw error;
    return error.code === "encryption_failed" ? "other key" : undefined;
  }
}

/** Renames what occupies a pack's place, so that it can still be opened. The log goes first: it belongs to no other file. */
function putAside(target: PackLayout): readonly string[] {
  const place = packPlace(target);
  const aside = asidePath(place);
  const names = target.kind === "file" ? ["-wal", "-journal", ""] : [""];
  const moved = names.filter((suffix) => existsSync(`${place}${suffix}`));
  for (const suffix of moved) renameFile(`${place}${suffix}`, `${aside}${suffix}`);
  if (target.kind === "file") removeFile(`${place}-shm`);
  syncToDisk(dirname(place));
  return moved.map((suffix) => `${aside}${suffix}`);
}

function prepare(target: PackLayout, isReplacement: boolean): ReturnType<typeof hiddenBeside> {
  try {
    return hiddenBeside(target, isReplacement ? "restore" : "backup", isReplacement);
  } catch (error) {
    throw toSvcError(error, mainPath(target));
  }
}

/** Where a copy with the same layout goes. */
function targetFor(source: PackLayout, to: string, isReplacement: boolean): PackLayout {
  if (to === "") throw invalid("to", "is empty; name the copy, for example ./backup.pack");
  const named = resolve(pathArgument("to", to));
  refuseDangling(named);
  // The target of a link is what occupies the place.
  const path = isReplacement && existsSync(named) ? realpathSync(named) : named;
  if (source.kind === "directory") return directoryLayout(path);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw invalid("to", `${path} is a folder; name the file to make in it`);
  }
  return { kind: "file", path };
}
