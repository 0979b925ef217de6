import { constants, type Database, Database as SqliteDatabase } from "bun:sqlite";
import { afterEach } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  dropFileKey,
  encryptedUri,
  readPackHeader,
  registerFileKey,
} from "../../../src/adapters/crypt/cipher.ts";
import {
  type DatabaseOptions,
  openDatabase,
} from "../../../src/adapters/sqlite/connection/open-database.ts";

/** A text that no file may show. */
export const MARKER = "MARKERpelican";
export const KEY: Uint8Array = new Uint8Array(32).fill(0x4b);
export const OTHER_KEY: Uint8Array = new Uint8Array(32).fill(0x4c);

const ROWS = 400;
const DIMENSION = 16;

/** Folders of the tests of one file, each deleted after its test. */
export function useFolders(): () => string {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
  return () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-crypt-"));
    folders.push(folder);
    return folder;
  };
}

/** Opens a pack as the program does. */
export function openPack(path: string, given: Partial<DatabaseOptions> = {}): Database {
  const database = openDatabase({
    layout: { kind: "file", path },
    mode: "read-write",
    synchronous: "normal",
    busyTimeoutMs: 5000,
    cipher: { masterKey: KEY },
    ...given,
  });
  return database;
}

/** Makes a pack in WAL mode with a table, a text index and a vector index. The caller closes it. */
export function createPack(path: string, given: Partial<DatabaseOptions> = {}): Database {
  const database = openPack(path, { mode: "create", ...given });
  database.run("PRAGMA journal_mode = WAL");
  database.run("CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT NOT NULL)");
  database.run("CREATE VIRTUAL TABLE words USING fts5 (body)");
  database.run("CREATE TABLE points (rowid INTEGER PRIMARY KEY, place BLOB NOT NULL)");
  return database;
}

/** Writes rows in one transaction. */
export function fill(database: Database, rows = ROWS): void {
  const note = database.query("INSERT INTO notes (body) VALUES (?) RETURNING id");
  const word = database.query("INSERT INTO words (rowid, body) VALUES (?, ?)");
  const point = database.query("INSERT INTO points (rowid, place) VALUES (?, ?)");
  database.transaction(() => {
    for (let i = 0; i < rows; i += 1) {
      const body = `${MARKER} note ${i} ${"of a certain length ".repeat(10)}`;
      // SAFETY: the statement returns the row that it wrote.
      const { id } = note.get(body) as { id: number };
      word.run(id, body);
      point.run(id, vector(id));
    }
  })();
}

/** A vector near to those of neighbouring rows only. */
export function vector(row: number): Float32Array {
  return Float32Array.from({ length: DIMENSION }, (_, i) => Math.sin(row / (i + 1)));
}

/** What is in a pack that {@link createPack} made, found by table, by word and by vector. */
export function contents(database: Database): { rows: number; words: number; nearest: number } {
  const count = (sql: string): number => database.query<{ n: number }, []>(sql).get()?.n ?? -1;
  const nearest = database
    .query<{ rowid: number }, [Float32Array]>(
      "SELECT rowid FROM points ORDER BY svckernel_cosine(?, 0, place, NULL, NULL) DESC LIMIT 1",
    )
    .get(vector(7));
  return {
    rows: count("SELECT count(*) AS n FROM notes"),
    words: count(`SELECT count(*) AS n FROM words WHERE words MATCH '${MARKER}'`),
    nearest: nearest?.rowid ?? -1,
  };
}

/** What SQLite says of the whole file: `["ok"]` for a sound one. */
export function integrity(database: Database): readonly string[] {
  database.run("INSERT INTO words (words) VALUES ('integrity-check')");
  return database
    .query<{ integrity_check: string }, []>("PRAGMA integrity_check")
    .all()
    .map((row) => row.integrity_check);
}

/** Opens any file with a key, with SQLite's defaults; for files that are no packs of the program. */
export function openKeyed(
  path: string,
  given: { readonly masterKey?: Uint8Array; readonly pageSize?: number } = {},
): Database {
  const { masterKey = KEY, pageSize = 4096 } = given;
  const kid = keyFor(path, masterKey, pageSize);
  const { SQLITE_OPEN_URI, SQLITE_OPEN_READWRITE, SQLITE_OPEN_CREATE } = constants;
  try {
    const flags = SQLITE_OPEN_URI | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    return new SqliteDatabase(encryptedUri(path, kid), flags);
  } finally {
    dropFileKey(kid);
  }
}

/** Registers the key of a file, existing or not. */
export function keyFor(path: string, masterKey: Uint8Array, pageSize = 8192): number {
  const header = readPackHeader(path);
  const isNew = header === undefined || header.length === 0;
  const salt = isNew ? crypto.getRandomValues(new Uint8Array(16)) : header.subarray(0, 16);
  return registerFileKey({ masterKey, salt, pageSize });
}

/** The files below a folder that hold a text, or what every plain SQLite file holds. */
export function leaks(folder: string, texts: readonly string[] = []): readonly string[] {
  const needles = [MARKER, "CREATE TABLE", "SQLite format 3", ...texts];
  return filesBelow(folder).flatMap((name) => {
    const bytes = readFileSync(join(folder, name));
    return needles.filter((text) => bytes.includes(text)).map((text) => `${name}: ${text}`);
  });
}

/** Names of all files below a folder, sorted. */
export function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile() === true)
    .sort();
}

/** The code of the error with which a call fails. */
export function codeOfFailure(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  }
  return "no failure";
}
