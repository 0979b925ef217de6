import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { SvcError } from "../../domain/errors.ts";
import { IS_WINDOWS } from "./system-files.ts";

/** The variables that locate caches. A subset of `process.env`. */
export type CacheEnvironment = {
  readonly XDG_CACHE_HOME?: string | undefined;
  readonly HOME?: string | undefined;
  /** This user's in-memory folder. */
  readonly XDG_RUNTIME_DIR?: string | undefined;
  /** Windows: the folder for a user's machine-local files. Its permissions keep other users out. */
  readonly LOCALAPPDATA?: string | undefined;
};

let chosen: string | undefined;
let chosenForLibraries: string | undefined;

/**
 * The folder for files unpacked from the executable, the same for the whole process: absolute path, exists, mode 0700,
 * owned by this user.
 *
 * This is not a setting of the program but the platform's convention, and it is needed before and without a configuration.
 * That is why these variables are read here and not in `src/config`.
 */
export function cacheDir(): string {
  chosen ??= chooseCacheDir(surroundings(), tmpdir());
  return chosen;
}

/**
 * The folder for unpacked libraries: the cache folder, or a similar one if the system loads no libraries from there.
 * @throws SvcError storage_failed that names the mounts and what to set
 */
export function libraryDir(): string {
  chosenForLibraries ??= chooseLibraryDir(cacheDir(), surroundings(), tmpdir());
  return chosenForLibraries;
}

function surroundings(): CacheEnvironment {
  const { XDG_CACHE_HOME, HOME, XDG_RUNTIME_DIR, LOCALAPPDATA } = process.env;
  const local = IS_WINDOWS ? LOCALAPPDATA : undefined;
  return { XDG_CACHE_HOME, HOME, XDG_RUNTIME_DIR, LOCALAPPDATA: local };
}

/** Makes this thread use the folder that the main thread chose: two threads must not choose different temporary folders. */
export function useCacheDir(dir: string): void {
  chosen = dir;
}

/**
 * Finds or creates a cache folder that no other user can write to, since code is loaded from it. First `$XDG_CACHE_HOME/svc`
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

/**
 * The first folder from which libraries can be loaded: `first`, else `~/.cache/svc`, `<temporary>/svc-cache-<uid>` or
 * `$XDG_RUNTIME_DIR/svc`.
 * @throws SvcError storage_failed
 */
export function chooseLibraryDir(
  first: string,
  environment: CacheEnvironment,
  temporary: string,
): string {
  if (allowsCode(first)) return first;
  const { HOME: home, XDG_RUNTIME_DIR: runtime } = environment;
  const uid = process.getuid?.() ?? 0;
  const others = [
    homeCache({ HOME: home }),
    join(temporary, `svc-cache-${uid}`),
    runtime !== undefined && isAbsolute(runtime) ? join(runtime, "svc") : undefined,
  ].filter((dir) => dir !== undefined);
  const isUsable = (dir: string): boolean =>
    preparePrivateDir(dir, uid) === "ready" && allowsCode(dir);
  const found = others.find(isUsable);
  if (found !== undefined) return found;
  const mounts = new Set([first, ...others].filter((dir) => fs.existsSync(dir)).map(mountOf));
  const message = `svc unpacks its libraries into a cache folder, and the system runs no code from ${[...mounts].join(", ")} (mounted noexec); set XDG_CACHE_HOME to a folder on another file system`;
  throw new SvcError("storage_failed", message, { path: first });
}

/** Whether libraries can be loaded from a folder, which a noexec mount forbids. */
function allowsCode(dir: string): boolean {
  if (IS_WINDOWS) return true;
  const probe = join(dir, ".runs");
  try {
    if (!fs.existsSync(probe)) fs.writeFileSync(probe, "", { mode: 0o700 });
    fs.accessSync(probe, fs.constants.X_OK);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "EACCES");
  }
}

/** The mount point of a folder. */
function mountOf(dir: string): string {
  const parent = dirname(dir);
  return parent === dir || fs.statSync(parent).dev !== fs.statSync(dir).dev ? dir : mountOf(parent);
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
    fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
    // lstat: another user may have made a symbolic link, whose owner says nothing about the target.
    const stat = fs.lstatSync(dir);
    const isPrivate = IS_WINDOWS || (stat.uid === uid && (stat.mode & 0o077) === 0);
    if (!stat.isDirectory() || !isPrivate) return "unsafe";
    fs.accessSync(dir, fs.constants.W_OK | fs.constants.X_OK);
    return "ready";
  } catch {
    // Read-only file system, a file in the way, no permission: try the next candidate.
    return "unavailable";
  }
}

function freshDir(temporary: string): string {
  const dir = fs.mkdtempSync(join(temporary, "svc-cache-"));
  process.on("exit", () => {
    try {
      fs.rmSync(dir, { recursive: true, force: true });
    } catch {
      // Windows locks loaded libraries, and this process ends only after them.
    }
  });
  return dir;
}
