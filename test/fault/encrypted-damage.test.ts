/** An encrypted pack that was damaged, cut, mixed or opened with a wrong key after a crash. */
import type { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { copyFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toSvcError } from "../../src/adapters/sqlite/connection/failures.ts";
import { SvcError } from "../../src/domain/errors.ts";
import {
  contents,
  createPack,
  filesBelow,
  fill,
  integrity,
  OTHER_KEY,
  openPack,
  useFolders,
} from "../adapters/crypt/packs.ts";
import { bytesBelow } from "../adapters/sqlite/folder.ts";

const PAGE = 8192;
const FRAME = PAGE + 24;

const folder = useFolders();

function makePack(): string {
  const path = join(folder(), "memory.pack");
  const database = createPack(path);
  fill(database);
  database.close();
  return path;
}

/** A pack with a log that its process left behind, as after a crash. */
function makeHotPack(): string {
  const path = join(folder(), "memory.pack");
  const copy = join(folder(), "memory.pack");
  const database = createPack(path);
  fill(database);
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  for (let i = 0; i < 20; i += 1) fill(database, 5);
  for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, copy + suffix);
  database.close();
  return copy;
}

/** Reads every page and gives the code of what goes wrong, as a caller of the program gets it. */
function readAll(path: string): string {
  let database: Database | undefined;
  try {
    database = openPack(path);
    const rows = database
      .query<{ integrity_check: string }, []>("PRAGMA integrity_check")
      .all()
      .map((row) => row.integrity_check);
    return rows.every((row) => row === "ok") ? "sound" : "pack_damaged";
  } catch (error) {
    const failure = toSvcError(error, path);
    if (!(failure instanceof SvcError)) throw failure;
    expect(failure.message).toContain(path);
    return failure.code;
  } finally {
    database?.close();
  }
}

test("one flipped bit in any page, at any place, is detected and named as damage", () => {
  const path = makePack();
  const sound = readFileSync(path);
  const pages = sound.length / PAGE;
  expect(pages).toBeGreaterThan(30);
  const missed: string[] = [];
  for (let page = 0; page < pages; page += 1) {
    const bytes = Buffer.from(sound);
    const at = page * PAGE + Math.floor(Math.random() * PAGE);
    const bit = Math.floor(Math.random() * 8);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
    writeFileSync(path, bytes);
    const found = readAll(path);
    // A damaged salt makes other keys, so it looks like a wrong key; the message says so.
    const expected = at < 16 ? "encryption_failed" : "pack_damaged";
    if (found !== expected)
      missed.push(`page ${page + 1}, byte ${at % PAGE}, bit ${bit}: ${found}`);
  }
  expect(missed).toEqual([]);
});

test("one flipped bit at any place of the first page's readable part is detected", () => {
  const path = makePack();
  const sound = readFileSync(path);
  const missed: string[] = [];
  for (const at of [...Array(24).keys(), 24, PAGE - 33, PAGE - 32, PAGE - 20, PAGE - 4, PAGE - 1]) {
    const bytes = Buffer.from(sound);
    bytes[at] = (bytes[at] ?? 0) ^ 0x01;
    writeFileSync(path, bytes);
    const found = readAll(path);
    if (found !== (at < 16 ? "encryption_failed" : "pack_damaged")) missed.push(`${at}: ${found}`);
  }
  expect(missed).toEqual([]);
});

test("two pages that changed places are detected", () => {
  const path = makePack();
  const bytes = readFileSync(path);
  const page = (n: number): Buffer => Buffer.from(bytes.subarray(n * PAGE, (n + 1) * PAGE));
  const [one, two] = [page(5), page(6)];
  two.copy(bytes, 5 * PAGE);
  one.copy(bytes, 6 * PAGE);
  writeFileSync(path, bytes);
  expect(readAll(path)).toBe("pack_damaged");
});

test("a page of another pack of the same key is detected", () => {
  const path = makePack();
  const bytes = readFileSync(path);
  readFileSync(makePack()).copy(bytes, 5 * PAGE, 5 * PAGE, 6 * PAGE);
  writeFileSync(path, bytes);
  expect(readAll(path)).toBe("pack_damaged");
});

test("a page of zeros is detected", () => {
  const path = makePack();
  const bytes = readFileSync(path);
  bytes.fill(0, 5 * PAGE, 6 * PAGE);
  writeFileSync(path, bytes);
  expect(readAll(path)).toBe("pack_damaged");
});

test.each([
  { name: "whole pages", left: 10 * PAGE },
  { name: "the middle of a page", left: 10 * PAGE + 100 },
  { name: "the first page", left: PAGE },
  { name: "less than a page", left: 5000 },
])("a pack cut to $name is damaged", ({ left }) => {
  const path = makePack();
  truncateSync(path, left);
  const before = bytesBelow(join(path, ".."));
  expect(readAll(path)).toBe("pack_damaged");
  expect(bytesBelow(join(path, ".."))["memory.pack"]).toBe(before["memory.pack"] ?? "");
});

test("the log of a crash is recovered with the right key", () => {
  const path = makeHotPack();
  const database = openPack(path);
  expect(contents(database)).toEqual({ rows: 500, words: 500, nearest: 7 });
  expect(integrity(database)).toEqual(["ok"]);
  database.close();
});

test("the log of a crash is unchanged after an attempt with a wrong key or none", () => {
  const path = makeHotPack();
  const place = join(path, "..");
  const before = bytesBelow(place);
  for (const cipher of [undefined, { masterKey: OTHER_KEY }]) {
    expect(() => openPack(path, { cipher })).toThrow("nothing was changed");
    expect(bytesBelow(place)).toEqual(before);
  }
  const database = openPack(path);
  expect(contents(database).rows).toBe(500);
  database.close();
  expect(filesBelow(place)).toEqual(["memory.pack"]);
});

test.each([
  { name: "in the page of a frame", cut: 1000 },
  { name: "in the header of a frame", cut: PAGE + 10 },
  { name: "between two frames", cut: FRAME },
])("a log cut $name loses its last transactions and nothing else", ({ cut }) => {
  const path = makeHotPack();
  const log = `${path}-wal`;
  truncateSync(log, readFileSync(log).length - cut);
  const database = openPack(path);
  const { rows, words } = contents(database);
  expect([rows, words]).toEqual([495, 495]);
  expect(integrity(database)).toEqual(["ok"]);
  database.close();
});

test("a page that a crash tore during a checkpoint is restored from the log", () => {
  const path = join(folder(), "memory.pack");
  const copy = join(folder(), "memory.pack");
  const database = createPack(path);
  fill(database);
  // The log holds every page, page 1 included.
  database.run("VACUUM");
  for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, copy + suffix);
  database.close();
  const bytes = readFileSync(copy);
  for (let page = 0; page < bytes.length / PAGE; page += 1) {
    // The salt, the header and the check value never change, so a torn write leaves them as they were.
    bytes.fill(0xee, page * PAGE + 24, (page + 1) * PAGE - 64);
  }
  writeFileSync(copy, bytes);
  const restored = openPack(copy);
  expect(contents(restored).rows).toBe(400);
  expect(integrity(restored)).toEqual(["ok"]);
  restored.close();
});
