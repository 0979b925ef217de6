import { createHash, randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { SvcError } from "../../domain/errors.ts";
import { cacheDir, libraryDir } from "./cache-dir.ts";
import type { EmbeddedAsset } from "./embedded.ts";
import { isRunning } from "./process-identity.ts";
import { removeFile, renameFile } from "./system-files.ts";

const verified = new Set<string>();

/**
 * The real path of an embedded file, unpacked below `dir`. It is checked against its SHA-256 once per process and thread, and replaced if
 * it differs. Concurrent first starts are safe: each writes its own temporary file and renames it into place.
 * @param dir private folder, default {@link libraryDir} for a library, {@link cacheDir} for anything else.
 * @throws SvcError `storage_failed` (`data.path`) if it cannot be written, `internal` if the executable is damaged.
 */
export function unpack(
  asset: EmbeddedAsset,
  dir: string = isLibrary(asset.name) ? libraryDir() : cacheDir(),
): string {
  const path = join(dir, asset.group, asset.name);
  if (verified.has(path)) return path;
  try {
    if (hashFile(path) !== asset.sha256) replace(path, asset);
  } catch (cause) {
    if (cause instanceof SvcError) throw cause;
    const reason = cause instanceof Error ? cause.message : "unknown failure";
    throw new SvcError(
      "storage_failed",
      `cannot unpack ${asset.name} to ${path} (${reason}): make room there or point XDG_CACHE_HOME to a writable folder`,
      { path },
      { cause },
    );
  }
  verified.add(path);
  return path;
}

function replace(path: string, asset: EmbeddedAsset): void {
  fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  removeLeftovers(path);
  const temporary = `${path}.${process.pid}.${randomBytes(6).toString("hex")}`;
  try {
    const content = uncompressed(asset);
    fs.writeFileSync(temporary, content, { mode: 0o600, flag: "wx", flush: true });
    fs.chmodSync(temporary, isLibrary(path) ? 0o500 : 0o400);
    // A rename replaces a name, never bytes: processes that have mapped the old file keep it.
    renameFile(temporary, path);
  } catch (error) {
    removeFile(temporary);
    throw error;
  }
}

/** Removes the temporary files of processes that were killed while they wrote them. */
function removeLeftovers(path: string): void {
  const start = `${basename(path)}.`;
  for (const name of fs.readdirSync(dirname(path))) {
    if (!name.startsWith(start)) continue;
    const pid = /^(\d+)\.[0-9a-f]{12}$/.exec(name.slice(start.length))?.[1];
    if (pid === undefined || isRunning(Number(pid))) continue;
    removeFile(join(dirname(path), name));
  }
}

/** @throws SvcError internal */
function uncompressed({ asset, name, sha256 }: EmbeddedAsset): Uint8Array {
  let content: Uint8Array;
  try {
    content = Bun.zstdDecompressSync(fs.readFileSync(asset));
  } catch (cause) {
    const message = `the executable is damaged: ${name} cannot be unpacked`;
    throw new SvcError("internal", message, {}, { cause });
  }
  if (createHash("sha256").update(content).digest("hex") === sha256) return content;
  throw new SvcError("internal", `the executable is damaged: ${name} has a wrong digest`);
}

function isLibrary(path: string): boolean {
  return /\.(so|node|dylib|dll)(\.\d+)*$/.test(path);
}

/** In chunks, so that verifying a 45 MB library takes 1 MB of memory. */
function hashFile(path: string): string | undefined {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined || !stat.isFile()) return undefined;
  const hash = createHash("sha256");
  const piece = Buffer.allocUnsafe(1 << 20);
  const file = fs.openSync(path, "r");
  try {
    for (let read = fs.readSync(file, piece); read > 0; read = fs.readSync(file, piece)) {
      hash.update(piece.subarray(0, read));
    }
  } finally {
    fs.closeSync(file);
  }
  return hash.digest("hex");
}
