import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";
import { removeTree } from "./remove-tree.ts";

/** What tests leave in their temporary folders at one time, with a margin. */
const ROOM = 3e9;
const PREFIX = "svc-";

/**
 * Makes a folder in memory for the files of tests, which then wait for no disk. Folders that a killed check has left there
 * are removed.
 * @param parent a file system in memory
 * @returns undefined where there is none, where it has too little room, and where programs cannot be run from it
 */
export function makeMemoryFolder(parent = "/dev/shm", room = ROOM): string | undefined {
  try {
    removeLeftovers(parent);
    const { bavail, bsize } = statfsSync(parent);
    if (bavail * bsize < room || freemem() < 2 * room) return undefined;
    // Short, since the paths of sockets have 108 characters.
    const folder = join(parent, `${PREFIX}${process.pid}`);
    mkdirSync(folder);
    // Tests start programs as other users, as below /tmp.
    chmodSync(folder, 0o1777);
    if (runsPrograms(folder)) return folder;
    rmSync(folder, { recursive: true });
  } catch {
    // Whatever is the matter with it, the tests can do without.
  }
  return undefined;
}

function runsPrograms(folder: string): boolean {
  const program = join(folder, "program");
  writeFileSync(program, "#!/bin/sh\n", { mode: 0o700 });
  const { status } = spawnSync(program);
  rmSync(program);
  return status === 0;
}

function removeLeftovers(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = new RegExp(`^${PREFIX}(\\d+)$`).exec(name)?.[1];
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
    removeTree(join(parent, name));
  }
}
