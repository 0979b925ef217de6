import { constants, Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  claimName,
  dropFileKey,
  encryptedUri,
  readPackBytes,
  readPackHeader,
  releaseName,
} from "../../../src/adapters/crypt/cipher.ts";
import { countFileKeys } from "./file-keys.ts";
import {
  codeOfFailure,
  contents,
  createPack,
  filesBelow,
  fill,
  integrity,
  KEY,
  keyFor,
  leaks,
  MARKER,
  OTHER_KEY,
  openKeyed,
  openPack,
  useFolders,
} from "./packs.ts";

const folder = useFolders();
const FLAGS = constants.SQLITE_OPEN_URI | constants.SQLITE_OPEN_READWRITE;

test("tables, text index and vector index are written in WAL mode and read after reopening", () => {
  const path = join(folder(), "memory.pack");
  let database = createPack(path);
  fill(database);
  const before = contents(database);
  expect(before).toEqual({ rows: 400, words: 400, nearest: 7 });
  expect(database.query("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
  database.close();
  database = openPack(path);
  expect(contents(database)).toEqual(before);
  expect(integrity(database)).toEqual(["ok"]);
  expect(database.query("PRAGMA page_size").get()).toEqual({ page_size: 8192 });
  database.close();
  expect(countFileKeys()).toBe(0);
});

test("no file shows text or schema, in any moment of a pack's life", () => {
  const place = folder();
  const path = join(place, "memory.pack");
  const database = createPack(path);
  expect(leaks(place)).toEqual([]);
  database.run("PRAGMA cache_size = 10");
  fill(database);
  expect(filesBelow(place)).toEqual(["memory.pack", "memory.pack-shm", "memory.pack-wal"]);
  expect(leaks(place)).toEqual([]);
  database.run("BEGIN");
  database.run(`UPDATE notes SET body = body || ' ${MARKER}'`);
  expect(leaks(place)).toEqual([]);
  database.run("COMMIT");
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.run("PRAGMA journal_mode = DELETE");
  database.run("BEGIN");
  database.run("UPDATE notes SET body = 'another text'");
  expect(filesBelow(place)).toContain("memory.pack-journal");
  expect(leaks(place, ["another text"])).toEqual([]);
  database.run("ROLLBACK");
  expect(integrity(database)).toEqual(["ok"]);
  database.run("VACUUM");
  database.close();
  expect(leaks(place)).toEqual([]);
});

test("sorts and temporary tables stay in memory even when files are asked for", () => {
  const place = folder();
  const program = `
    import { createPack, fill } from ${JSON.stringify(join(import.meta.dir, "packs.ts"))};
    import { readdirSync, readlinkSync } from "node:fs";
    const database = createPack("${place}/memory.pack");
    database.run("PRAGMA temp_store = FILE");
    database.run("PRAGMA cache_size = 5");
    fill(database, 4000);
    database.run("CREATE TEMP TABLE copy AS SELECT * FROM notes");
    const rows = database.query("SELECT body FROM notes UNION SELECT body FROM copy ORDER BY 1 DESC").all();
    const open = readdirSync("/proc/self/fd").flatMap((fd) => {
      try { return [readlinkSync("/proc/self/fd/" + fd)]; } catch { return []; }
    });
    console.log(JSON.stringify({ rows: rows.length, temporary: open.filter((name) => name.includes("etilqs")) }));
  `;
  const child = Bun.spawnSync([process.execPath, "-e", program], {
    env: { ...process.env, TMPDIR: place, SQLITE_TMPDIR: place },
  });
  expect(JSON.parse(child.stdout.toString())).toEqual({ rows: 4000, temporary: [] });
  expect(leaks(place)).toEqual([]);
});

test.each([512, 1024, 2048, 4096, 8192, 16384, 32768, 65536])(
  "pages of %d bytes are read back",
  (pageSize) => {
    const path = join(folder(), "x.db");
    for (const mode of ["DELETE", "WAL"]) {
      const database = openKeyed(path, { pageSize });
      database.run(`PRAGMA journal_mode = ${mode}`);
      database.run("CREATE TABLE IF NOT EXISTS t (a, b)");
      database.run(
        `WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 60)
       INSERT INTO t SELECT i, zeroblob(i * 100) FROM n`,
      );
      database.run("BEGIN");
      database.run("DELETE FROM t");
      database.run("ROLLBACK");
      database.close();
    }
    const database = openKeyed(path, { pageSize: 4096 });
    expect(database.query("PRAGMA page_size").get()).toEqual({ page_size: pageSize });
    expect(database.query("SELECT count(*) AS n, sum(length(b)) AS size FROM t").get()).toEqual({
      n: 120,
      size: 366_000,
    });
    expect(database.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    database.close();
  },
);

test("a file opens under its own key alone", () => {
  const path = join(folder(), "memory.pack");
  createPack(path).close();
  const wrong = keyFor(path, OTHER_KEY);
  expect(codeOfFailure(() => new Database(encryptedUri(path, wrong), FLAGS))).toBe("SQLITE_NOTADB");
  expect(codeOfFailure(() => new Database(encryptedUri(path, 123_456), FLAGS))).toBe(
    "SQLITE_CANTOPEN",
  );
  dropFileKey(wrong);
  expect(codeOfFailure(() => new Database(encryptedUri(path, wrong), FLAGS))).toBe(
    "SQLITE_CANTOPEN",
  );
  const plain = new Database(path);
  expect(codeOfFailure(() => plain.query("SELECT 1 FROM sqlite_schema").get())).toBe(
    "SQLITE_NOTADB",
  );
  plain.close();
  expect(countFileKeys()).toBe(0);
});

test("a dropped key serves what is open with it, then leaves memory", () => {
  const path = join(folder(), "x.db");
  const kid = keyFor(path, KEY);
  const database = new Database(encryptedUri(path, kid), FLAGS | constants.SQLITE_OPEN_CREATE);
  dropFileKey(kid);
  expect(codeOfFailure(() => new Database(encryptedUri(path, kid), FLAGS))).toBe("SQLITE_CANTOPEN");
  database.run("PRAGMA journal_mode = WAL");
  database.run("CREATE TABLE t (a)");
  expect(countFileKeys()).toBe(1);
  database.close();
  expect(countFileKeys()).toBe(0);
});

test("nothing is written unencrypted because a key was forgotten", () => {
  const place = folder();
  const database = createPack(join(place, "memory.pack"));
  fill(database, 10);
  const clear = join(place, "clear.db");
  expect(codeOfFailure(() => database.run("VACUUM INTO ?", [clear]))).toBe("SQLITE_CANTOPEN");
  expect(codeOfFailure(() => database.run("ATTACH ? AS clear", [clear]))).toBe("SQLITE_CANTOPEN");
  expect(existsSync(clear)).toBe(false);
  database.close();
});

test("VACUUM INTO makes a copy under another key, and an unencrypted copy when it is asked for", () => {
  const place = folder();
  const copy = join(place, "copy.pack");
  const clear = join(place, "clear.db");
  const database = createPack(join(place, "memory.pack"));
  fill(database);
  const kid = keyFor(copy, OTHER_KEY);
  database.run("VACUUM INTO ?", [encryptedUri(copy, kid)]);
  database.run("VACUUM INTO ?", [`file:${clear}?vfs=unix`]);
  dropFileKey(kid);
  database.close();
  const copied = openPack(copy, { cipher: { masterKey: OTHER_KEY } });
  expect(contents(copied)).toEqual({ rows: 400, words: 400, nearest: 7 });
  expect(integrity(copied)).toEqual(["ok"]);
  copied.close();
  const plain = openPack(clear, { cipher: undefined });
  expect(contents(plain)).toEqual({ rows: 400, words: 400, nearest: 7 });
  plain.close();
});

test("a plain pack is copied into an encrypted one once it has room for the tags", () => {
  const place = folder();
  const copy = join(place, "copy.pack");
  const plain = createPack(join(place, "plain.pack"), { cipher: undefined });
  fill(plain);
  const kid = keyFor(copy, KEY);
  const RESERVE_BYTES = 38;
  plain.close();
  const source = new Database(join(place, "plain.pack"), FLAGS);
  source.fileControl("main", RESERVE_BYTES, Uint8Array.of(32, 0, 0, 0, 0, 0, 0, 0));
  source.run("VACUUM INTO ?", [encryptedUri(copy, kid)]);
  dropFileKey(kid);
  source.close();
  const copied = openPack(copy);
  expect(contents(copied)).toEqual({ rows: 400, words: 400, nearest: 7 });
  copied.close();
});

test("bytes of an open pack are read without giving up its locks", () => {
  const path = join(folder(), "memory.pack");
  const database = createPack(path);
  database.run("PRAGMA journal_mode = DELETE");
  database.run("BEGIN EXCLUSIVE");
  database.run("INSERT INTO notes (body) VALUES ('x')");
  expect(readPackHeader(path)).toHaveLength(100);
  expect(readPackBytes(path, 8190, 10)).toHaveLength(10);
  const program = `
    import { codeOfFailure, openPack } from ${JSON.stringify(join(import.meta.dir, "packs.ts"))};
    const database = openPack(${JSON.stringify(path)}, { busyTimeoutMs: 0 });
    console.log(codeOfFailure(() => database.run("INSERT INTO notes (body) VALUES ('y')")));
  `;
  const other = Bun.spawnSync([process.execPath, "-e", program]);
  expect(other.stdout.toString() + other.stderr.toString()).toContain("SQLITE_BUSY");
  database.run("ROLLBACK");
  database.close();
  expect(readPackBytes(path, statSync(path).size, 10)).toHaveLength(0);
  expect(readPackHeader(`${path}.none`)).toBeUndefined();
});

test("names with every awkward character are opened as they are", () => {
  const place = folder();
  const path = join(place, "a b?c#d%41&kid=9 é.pack");
  createPack(path).close();
  expect(filesBelow(place)).toEqual(["a b?c#d%41&kid=9 é.pack"]);
  const database = openPack(path);
  expect(database.query("SELECT count(*) AS n FROM notes").get()).toEqual({ n: 0 });
  database.close();
});

test("a name has one owner in a process", () => {
  expect([claimName("one"), claimName("one"), claimName("two")]).toEqual([true, false, true]);
  releaseName("one");
  expect(claimName("one")).toBe(true);
  releaseName("one");
  releaseName("two");
});
