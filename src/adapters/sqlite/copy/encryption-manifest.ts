import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Instant } from "../../../lib/instant.ts";
import { renameFile, syncToDisk } from "../../native/system-files.ts";
import { filesOf, type PackLayout } from "../connection/layout.ts";

type DirectoryLayout = Extract<PackLayout, { kind: "directory" }>;

/** Of the encrypted files, not of the pack. */
const FILE_FORMAT_VERSION = 1;

/**
 * Describes a directory pack's encryption in `manifest.json`, next to the database file: how, and which files. Informative; nothing reads
 * it back. Contains no secret: the salts are in the files. An equal manifest, and another program's file of that name, stay unchanged.
 */
export function writeEncryptionManifest(layout: DirectoryLayout, now: Instant): void {
  const path = manifestPath(layout);
  const files = filesOf(layout)
    .map((file) => relative(dirname(path), file))
    .sort();
  const known = readEncryption(path);
  if (known === undefined && existsSync(path)) return;
  if (JSON.stringify(known?.["files"]) === JSON.stringify(files)) return;
  const manifest = {
    encryption: {
      enabled: true,
      algorithm: "AES-256-GCM",
      format_version: FILE_FORMAT_VERSION,
      kdf: "PBKDF2-HMAC-SHA256",
      kdf_iterations: 600_000,
      encrypted_at: now,
      files,
    },
  };
  const draft = `${path}.new`;
  writeFileSync(draft, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
  syncToDisk(draft);
  renameFile(draft, path);
}

/** Removes the file of `writeEncryptionManifest` once the pack's files are unencrypted. */
export function removeEncryptionManifest(layout: DirectoryLayout): void {
  const path = manifestPath(layout);
  if (readEncryption(path) !== undefined) rmSync(path);
}

function manifestPath(layout: DirectoryLayout): string {
  return join(dirname(layout.databasePath), "manifest.json");
}

/** The content of our manifest; undefined if there is none. */
function readEncryption(path: string): Readonly<Record<string, unknown>> | undefined {
  if (!existsSync(path)) return undefined;
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (typeof value !== "object" || value === null || !("encryption" in value)) return undefined;
    const { encryption } = value;
    if (typeof encryption !== "object" || encryption === null) return undefined;
    return "algorithm" in encryption ? Object.fromEntries(Object.entries(encryption)) : undefined;
  } catch {
    // Another program's file.
    return undefined;
  }
}
