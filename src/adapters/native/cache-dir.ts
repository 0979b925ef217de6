import { accessSync, constants, lstatSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import { IS_WINDOWS } from "./platform.ts";

/** The variables that say where caches are. A subset of `process.env`. */
export type CacheEnvironment = {
  readonly XDG_CACHE_HOME?: string | undefined;
  readonly HOME?: string | undefined;
  /** Windows: the folder for a user's files that stay on this machine. Its rights keep other users out. */
  readonly LOCALAPPDATA?: string | undefined;
};

let chosen: string | undefined;

/**
 * The folder for files unpacked from the executable, the same for the whole process: absolute path, exists, mode 0700,
 * owned by this user.
 *
 * This is not a setting of the program but the platform's convention, and it is needed before and without a configuration.
 * That is why these variables are read here and not in `src/config`.
 */
export function cacheDir(): string {
  chosen ??= chooseCacheDir(
    {
      XDG_CACHE_HOME: process.env["XDG_CACHE_HOME"],
      HOME: process.env["HOME"],
      LOCALAPPDATA: IS_WINDOWS ? process.env["LOCALAPPDATA"] : undefined,
    },
    tmpdir(),
  );
  return chosen;
}

/** Makes this thread use the folder that the main thread chose: two threads must not choose different temporary folders. */
export function useCacheDir(dir: string): void {
  chosen = dir;
}

/**
 * Finds or creates a cache folder that nobody else can write to, since code is loaded from it. First `$XDG_CACHE_HOME/svc`
 * or, on Windows, `%LOCALAPPDATA%\svc\cache`, else `~/.cache/svc`; if that cannot be created, `<temporary>/svc-cache-<uid>`. A folder of another owner or open to others
 * is never used: a fresh temporary one, removed on exit, takes its place.
 * @returns an absolute path.
 */
export function chooseCacheDir(environment: CacheEnvironment, temporary: string): string {
  const uid = process.getuid?.() ?? 0;
  for (const candidate of [homeCache(environment), join(temporary, `svc-cache-${uid}`)]) {
    if (candidate === undefined) continue;
    const state = preparePrivateDir(candidate, uid);
    if (state === "ready") return candidate;
    if (state === "unsafe") break;
  }
  return freshDir(temporary);
}

function homeCache(environment: CacheEnvironment): string | undefined {
  const { XDG_CACHE_HOME: xdg, LOCALAPPDATA: local, HOME: home } = environment;
  // The XDG specification tells programs to ignore relative paths.
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, "svc");
  if (local !== undefined && isAbsolute(local)) return join(local, "svc", "cache");
  if (home !== undefined && isAbsolute(home)) return join(home, ".cache", "svc");
  return undefined;
}

function preparePrivateDir(dir: string, uid: number): "ready" | "unsafe" | "unavailable" {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    // lstat: a symbolic link leads to a place that somebody chose, and its owner says nothing about the target.
    const stat = lstatSync(dir);
    const isPrivate = IS_WINDOWS || (stat.uid === uid && (stat.mode & 0o077) === 0);
    if (!stat.isDirectory() || !isPrivate) return "unsafe";
    accessSync(dir, constants.W_OK | constants.X_OK);
    return "ready";
  } catch {
    // Read-only file system, a file in the way, no permission: try the next candidate.
    return "unavailable";
  }
}

function freshDir(temporary: string): string {
  const dir = mkdtempSync(join(temporary, "svc-cache-"));
  process.on("exit", () => {
    try {
      rmSync(dir, { recursive: true, force: true });
    } catch {
      // Windows keeps libraries that are loaded, and this process ends only after them.
    }
  });
  return dir;
}
