/** Whether a key that is kept on this machine lasts as long as its pack. */
import { existsSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { variable } from "../config/settings-file.ts";
import { SvcError } from "../domain/errors.ts";
import { shellWord } from "../lib/shell-word.ts";

/** What is known of the file system of a folder. */
export type FileSystem = {
  /** The number of its kind, as Linux has it. */
  readonly type: number;
  /** The number of its device. */
  readonly device: number;
};

/** File systems that end with a container or with the machine: overlayfs, aufs, tmpfs, ramfs. */
const PASSING: ReadonlySet<number> = new Set([0x794c7630, 0x61756673, 0x01021994, 0x858458f6]);
/** What container engines put into the root of a container. */
const MARKS = ["/.dockerenv", "/run/.containerenv"];

/**
 * Whether the key goes and the pack stays: they are on two file systems, and that of the key, and not that of the pack, is in memory
 * or the layer of a container.
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
 * Refuses a random key in a file that would be gone before its pack: nobody could open the pack then. On Linux alone.
 * @throws SvcError encryption_failed
 */
export function requireLasting(keyFile: string, pack: string): void {
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
