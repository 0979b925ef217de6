import { createHash } from "node:crypto";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** A folder's project. Worktrees of one repository, and clones of one remote, are one. */
export type Project = {
  /** 16 hexadecimal digits of the remote's address, else of the path of its root. */
  readonly id: string;
  readonly name: string;
};

const LEVELS = 40;

/** @returns undefined for no folder, or one that was deleted */
export function projectOf(folder: string | undefined): Project | undefined {
  if (folder === undefined || !existsSync(folder)) return undefined;
  const start = realpathSync(resolve(folder));
  for (let [at, level] = [start, 0]; level < LEVELS; level += 1) {
    if (existsSync(join(at, ".git"))) return projectAt(at);
    const parent = dirname(at);
    if (parent === at) break;
    at = parent;
  }
  return { id: idOf(start), name: basename(start) || start };
}

function projectAt(root: string): Project {
  const common = commonFolder(root);
  const remote = remoteIn(common);
  if (remote !== undefined) {
    const name = remote.replace(/\/+$/, "").replace(/\.git$/, "");
    return { id: idOf(name.toLowerCase()), name: basename(name) || name };
  }
  // The repository's own folder, which its worktrees share.
  const home = basename(common) === ".git" ? dirname(common) : common;
  return { id: idOf(home), name: basename(home).replace(/\.git$/, "") };
}

/** The folder that all worktrees share: `.git` is a folder, or a file that leads to one. */
function commonFolder(root: string): string {
  const git = join(root, ".git");
  const link = /^gitdir:\s*(.+)$/m.exec(textOf(git) ?? "")?.[1]?.trim();
  if (link === undefined) return git;
  const own = resolve(root, link);
  const common = textOf(join(own, "commondir"))?.trim();
  return common === undefined ? own : resolve(own, common);
}

/** The address of `origin`, else of the first remote, without user, password and scheme. */
function remoteIn(common: string): string | undefined {
  const config = textOf(join(common, "config")) ?? "";
  const remotes = [...config.matchAll(/^\s*\[remote "([^"]+)"\]([^[]*)/gm)];
  const chosen = remotes.find(([, name]) => name === "origin") ?? remotes[0];
  const url = /^\s*url\s*=\s*(.+)$/m.exec(chosen?.[2] ?? "")?.[1]?.trim();
  return url
    ?.replace(/^[a-z+]+:\/\//i, "")
    .replace(/^[^@/]*@/, "")
    .replace(/^([^/:]+):(?=[^/\d])/, "$1/");
}

function idOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
