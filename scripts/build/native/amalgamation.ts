import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../run.ts";

/** The crate that SQLite's source comes from. Its headers are in `vendor/sqlite`, made from the same version. */
export const SQLITE_CRATE = 'libsqlite3-sys = "=0.40.0"';

const LIMIT_MS = 150_000;

/**
 * A folder with SQLite's source in one file, `sqlite3.c` (9 MB), which is not kept in the repository: fetched by cargo into the
 * cache of the project when it is not there, and compared with its checksum.
 * @throws Error of one line that says why it cannot be had
 */
export async function provideAmalgamation(root: string): Promise<string> {
  const sums = readFileSync(join(root, "vendor/sqlite/amalgamation.txt"), "utf8");
  const sha256 = sums.slice(0, sums.indexOf(" "));
  const folder = join(root, "node_modules/.cache/sqlite", sha256);
  const path = join(folder, "sqlite3.c");
  if (existsSync(path)) return folder;
  const content = await fetchAmalgamation();
  if (createHash("sha256").update(content).digest("hex") !== sha256) {
    throw new Error("the source of SQLite is not that of vendor/sqlite/amalgamation.txt");
  }
  mkdirSync(folder, { recursive: true });
  const partial = `${path}.${process.pid}`;
  writeFileSync(partial, content);
  renameSync(partial, path);
  return folder;
}

async function fetchAmalgamation(): Promise<Uint8Array> {
  const place = mkdtempSync(join(tmpdir(), "svc-sqlite-"));
  try {
    const manifest = `[package]\nname = "source"\nversion = "0.0.0"\n[lib]\npath = "empty.rs"\n[dependencies]\n`;
    writeFileSync(join(place, "Cargo.toml"), `${manifest}${SQLITE_CRATE}\n`);
    writeFileSync(join(place, "empty.rs"), "");
    const { exitCode, stderr } = await run(["cargo", "vendor", "crates"], {
      cwd: place,
      limitMs: LIMIT_MS,
    });
    if (exitCode === 0) return readFileSync(join(place, "crates/libsqlite3-sys/sqlite3/sqlite3.c"));
    const reason = stderr.trim().split("\n").at(-1) || "it took too long";
    throw new Error(`the source of SQLite cannot be fetched by cargo: ${reason}`);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
