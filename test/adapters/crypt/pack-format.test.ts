import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  aadOf,
  checkValue,
  countFrames,
  decryptFile,
  decryptLog,
  keysOf,
  openFirstPage,
  pageSizeOf,
} from "./pack-reader.ts";
import { createPack, fill, KEY, MARKER, openKeyed, useFolders } from "./packs.ts";

const folder = useFolders();

test("a pack is decrypted page by page with node:crypto alone, into a database that SQLite reads", () => {
  const place = folder();
  const path = join(place, "memory.pack");
  const database = createPack(path);
  fill(database);
  database.close();
  const file = readFileSync(path);
  expect(pageSizeOf(file)).toBe(8192);
  const plain = decryptFile(KEY, file);
  expect(plain.length).toBe(file.length);
  expect(plain.includes(MARKER)).toBe(true);
  // SQLite opens a file in WAL mode only where it may make a log.
  writeFileSync(join(place, "plain.db"), plain);
  const read = new Database(join(place, "plain.db"));
  expect(read.query("SELECT count(*) AS n FROM notes").get()).toEqual({ n: 400 });
  expect(read.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  read.close();
});

test("a log is decrypted with node:crypto alone, and SQLite accepts its checksums", () => {
  const place = folder();
  const path = join(place, "memory.pack");
  const database = createPack(path);
  database.run("PRAGMA cache_size = 10");
  fill(database);
  database.run("UPDATE notes SET body = 'changed' WHERE id = 3");
  const file = readFileSync(path);
  const log = readFileSync(`${path}-wal`);
  writeFileSync(join(place, "plain.db"), decryptFile(KEY, file));
  writeFileSync(join(place, "plain.db-wal"), decryptLog(KEY, file, log));
  database.close();
  const read = new Database(join(place, "plain.db"));
  expect(read.query("SELECT count(*) AS n FROM notes").get()).toEqual({ n: 400 });
  expect(read.query("SELECT body FROM notes WHERE id = 3").get()).toEqual({ body: "changed" });
  expect(read.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  read.close();
});

test("a reader that checks salts and running checksum takes each frame of a log, and none after a changed one", () => {
  const path = join(folder(), "memory.pack");
  const database = createPack(path);
  database.run("UPDATE notes SET body = 'x'");
  for (let i = 0; i < 3; i += 1) database.run("INSERT INTO notes (body) VALUES ('one')");
  const log = decryptLog(KEY, readFileSync(path), readFileSync(`${path}-wal`));
  database.close();
  const frame = 24 + 8192;
  const frames = (log.length - 32) / frame;
  expect(countFrames(log, 8192)).toBe(frames);
  const last = 32 + (frames - 1) * frame;
  for (const place of [last, last + 8, last + 16, last + 24 + 8000, log.length - 33]) {
    const changed = Buffer.from(log);
    changed[place] = (changed[place] ?? 0) ^ 1;
    expect(countFrames(changed, 8192)).toBeLessThan(frames);
  }
  const otherSalt = Buffer.from(log);
  otherSalt[16] = (otherSalt[16] ?? 0) ^ 1;
  expect(countFrames(otherSalt, 8192)).toBe(0);
});

test("a page that is written twice has another nonce each time", () => {
  const path = join(folder(), "memory.pack");
  const nonces = new Set<string>();
  const database = createPack(path);
  database.run("PRAGMA journal_mode = DELETE");
  for (let i = 0; i < 20; i += 1) {
    database.run("INSERT OR REPLACE INTO notes VALUES (1, 'x')");
    nonces.add(
      readFileSync(path)
        .subarray(8192 - 32, 8192 - 20)
        .toString("hex"),
    );
  }
  database.close();
  expect(nonces.size).toBe(20);
});

test("two files of one key share no salt", () => {
  const place = folder();
  const salts = ["a", "b"].map((name) => {
    const path = join(place, `${name}.pack`);
    createPack(path).close();
    return readFileSync(path).subarray(0, 16).toString("hex");
  });
  expect(salts[0]).not.toBe(salts[1]);
});

test("a page of 65536 bytes is announced as 1", () => {
  const path = join(folder(), "x.db");
  const database = openKeyed(path, { pageSize: 65_536 });
  database.run("CREATE TABLE t (a)");
  database.close();
  const file = readFileSync(path);
  expect(file.readUInt16BE(16)).toBe(1);
  expect(decryptFile(KEY, file).includes("CREATE TABLE t")).toBe(true);
});

test("the worked example of the format's page is right", () => {
  const text = readFileSync(join(import.meta.dir, "../../../docs/pack-format.md"), "utf8");
  const dumps = [...text.matchAll(/(?:^ {4}[0-9a-f]{64}\n){16}/gm)].map(([lines]) =>
    Buffer.from(lines.replace(/\s/g, ""), "hex"),
  );
  const [disk = Buffer.alloc(0), plain] = dumps;
  const given = (name: string): string =>
    new RegExp(`^\\| ${name} +\\| \`([0-9a-f]+)\``, "m").exec(text)?.[1] ?? "missing";
  const keys = keysOf(KEY, disk.subarray(0, 16));
  expect({
    salt: disk.subarray(0, 16).toString("hex"),
    page: keys.page.toString("hex"),
    log: keys.log.toString("hex"),
    check: keys.check.toString("hex"),
    value: checkValue(keys).toString("hex"),
    aad: aadOf(1, 1, disk.subarray(0, 24)).toString("hex"),
    nonce: disk.subarray(480, 492).toString("hex"),
    tag: disk.subarray(492, 508).toString("hex"),
  }).toEqual({
    salt: given("salt"),
    page: given("page key"),
    log: given("log key"),
    check: given("check key"),
    value: given("check value"),
    aad: given("additional data"),
    nonce: given("nonce"),
    tag: given("tag"),
  });
  expect(openFirstPage(keys, disk)).toEqual(plain ?? Buffer.alloc(0));
});
