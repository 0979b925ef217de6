import { existsSync, linkSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import {
  removeFile,
  removeFolder,
  renameFile,
  syncToDisk,
} from "../adapters/native/system-files.ts";
import { toSvcError } from "../adapters/sqlite/connection/failures.ts";
import { filesOf, mainPath, type PackLayout } from "../adapters/sqlite/connection/layout.ts";
import {
  discard,
  hiddenBeside as hiddenName,
  type Purpose,
  removeLeftovers,
} from "../adapters/sqlite/copy/swap-files.ts";
import { type Keyed, type NewKey, withNewKey } from "../app/new-key.ts";
import { requirePlaceForNew } from "../app/pack-path.ts";
import type { Config } from "../config/schema.ts";
import { invalid } from "../domain/errors.ts";
import { noteChosen } from "./create-pack.ts";

/** A pack under construction, under a hidden name next to its final one. */
type HiddenPack = {
  readonly layout: PackLayout;
  /**
   * Gives the finished and closed pack its name, atomically and durably. @throws SvcError invalid_argument if it is taken
   */
  publish(): void;
  remove(): void;
};

/**
 * Prepares a hidden place for a pack with the final name `layout`.
 * @param purpose part of the hidden name, for a person who finds one after a crash
 * @param isReplacement the existing file will be moved away before publishing
 * @throws SvcError invalid_argument if the name is taken; nothing was touched then
 */
export function hiddenBeside(
  layout: PackLayout,
  purpose: Purpose,
  isReplacement = false,
): HiddenPack {
  const target = packPlace(layout);
  if (!isReplacement) requireFree(target);
  const place = hiddenName(target, purpose);
  mkdirSync(dirname(target), { recursive: true });
  removeLeftovers(target);
  if (layout.kind === "file") {
    return {
      layout: { kind: "file", path: place },
      publish: () => publishFile(place, target),
      remove: () => discard(place),
    };
  }
  const inside: PackLayout = {
    kind: "directory",
    databasePath: join(place, basename(layout.databasePath)),
    vectorPath: join(place, basename(layout.vectorPath)),
    lexicalPath: join(place, basename(layout.lexicalPath)),
  };
  mkdirSync(inside.lexicalPath, { recursive: true, mode: 0o700 });
  return {
    layout: inside,
    publish: () => {
      for (const file of filesOf(inside)) syncToDisk(file);
      syncToDisk(inside.lexicalPath);
      syncToDisk(place);
      requireFree(target);
      // Replaces an empty folder, and fails if there is anything in it.
      renameFile(place, target);
      syncToDisk(dirname(target));
    },
    remove: () => removeFolder(place),
  };
}

/** What is renamed: the file, or the folder around the files. */
export function packPlace(layout: PackLayout): string {
  if (layout.kind === "file") return layout.path;
  const folder = dirname(layout.databasePath);
  if (dirname(layout.vectorPath) !== folder || dirname(layout.lexicalPath) !== folder) {
    throw invalid("path", "the three parts of a new directory pack have to lie in one folder");
  }
  return folder;
}

function requireFree(target: string): void {
  requireNoCompanion("path", target);
  const stat = statSync(target, { throwIfNoEntry: false });
  const isFree =
    stat === undefined ||
    (stat.isFile() && stat.size === 0) ||
    (stat.isDirectory() && readdirSync(target).length === 0);
  if (!isFree) {
    throw invalid("path", `${target} exists already and stays as it is; name a new pack`);
  }
  // SQLite would take a leftover log for the new pack's own.
  if (existsSync(`${target}-wal`)) {
    throw invalid("path", `${target}-wal is left of another pack; move it away or name a new pack`);
  }
}

function publishFile(place: string, target: string): void {
  syncToDisk(place);
  requireFree(target);
  if (existsSync(target)) renameFile(place, target);
  else {
    try {
      // Unlike a rename, it cannot replace a file created in between.
      linkSync(place, target);
    } catch (error) {
      if (existsSync(target)) throw error;
      // A file system without links.
      renameFile(place, target);
    }
    removeFile(place);
  }
  syncToDisk(dirname(target));
}

/**
 * Makes the pack at `layout`, which must not exist yet, with a key as `createPack` does. It appears under its name once it is complete;
 * until then, and if anything fails, there is none.
 * @param fill finishes and closes the pack; gets its settings and where it lies until then
 * @throws SvcError what `hiddenBeside` and `withNewKey` throw; and what `fill` throws
 */
export async function makeKeyedPack<T>(
  config: Config,
  newKey: NewKey,
  { layout, purpose }: { readonly layout: PackLayout; readonly purpose: Purpose },
  fill: (config: Config, layout: PackLayout) => Promise<T>,
): Promise<{ readonly keyed: Keyed; readonly path: string; readonly made: T }> {
  requirePlaceForNew(config);
  const pack = hiddenBeside(layout, purpose);
  const path = mainPath(layout);
  try {
    const done = await withNewKey(config, newKey, mainPath(pack.layout), async (keyed) => {
      try {
        const made = await fill(keyed.config, pack.layout);
        pack.publish();
        return { keyed, path, made };
      } finally {
        // Before forgetting its key, if it was not published.
        pack.remove();
      }
    });
    await noteChosen(done.keyed.config, layout, newKey);
    return done;
  } catch (error) {
    throw toSvcError(error, path);
  } finally {
    pack.remove();
  }
}

/**
 * Rejects a path that SQLite would use as the log, the index or the journal of the file next to it, whether or not that exists.
 * @throws SvcError invalid_argument
 */
export function requireNoCompanion(argument: string, path: string): void {
  const own = /^(?<own>.+)-(?:wal|shm|journal)$/s.exec(path)?.groups?.["own"];
  if (own === undefined || !existsSync(own)) return;
  throw invalid(argument, `${path} is a file of ${own}, which it would destroy; name another file`);
}
