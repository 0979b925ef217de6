import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { cpSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CRYPT_LIBRARY,
  keptLibraryPath,
  loadInto,
  ownLibraryPath,
} from "../../../src/adapters/native/load-library.ts";
import { SvcError } from "../../../src/domain/errors.ts";
import { useFolders } from "../crypt/packs.ts";

const KEPT = join(import.meta.dir, "../../../src/adapters/native/prebuilt");
const { name, title, entry } = CRYPT_LIBRARY;

const folder = useFolders();

function failureOf(call: () => unknown): SvcError {
  try {
    call();
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
  throw new Error("nothing failed");
}

function load(path: string, symbol = entry): SvcError {
  const database = new Database(":memory:");
  try {
    return failureOf(() => loadInto(database, { title, path, entry: symbol }));
  } finally {
    database.close();
  }
}

test("a file that is no library is named with the words of the system's loader", () => {
  const path = join(folder(), "svccrypt.so");
  writeFileSync(path, "no library\n".repeat(100));
  const { message, data } = load(path);
  expect(message).toBe(`the encryption library cannot be loaded (${path}: invalid ELF header)`);
  expect(data).toEqual({ path });
});

test("a library for another processor is named as such", () => {
  const path = join(folder(), "svccrypt.so");
  const bytes = readFileSync(ownLibraryPath(CRYPT_LIBRARY));
  bytes.writeUInt16LE(183, 18);
  writeFileSync(path, bytes);
  expect(load(path).message).toBe(
    `the encryption library cannot be loaded (${path}: it is for another processor than x64)`,
  );
});

test("a library that is not there is named under its own name", () => {
  const path = join(folder(), "svccrypt.so");
  const { message } = load(path);
  expect(message).toContain(`(${path}: cannot open shared object file`);
  expect(message).not.toContain(".so.so");
});

test("a library without the entry point is named with the entry point", () => {
  const path = ownLibraryPath(CRYPT_LIBRARY);
  const { message } = load(path, "another_entry");
  expect(message).toContain(path);
  expect(message).toContain("another_entry");
});

test("half a library is refused before it is loaded", () => {
  const place = folder();
  cpSync(KEPT, place, { recursive: true });
  const path = keptLibraryPath(place, name, title);
  truncateSync(path, 3000);
  expect(failureOf(() => keptLibraryPath(place, name, title)).message).toBe(
    `the encryption library cannot be loaded (${path}: it is damaged, its digest is not the one in built.json)`,
  );
});

test("a platform without the library is named", () => {
  const place = folder();
  mkdirSync(join(place, "linux-x64"));
  const path = join(place, "linux-x64/svccrypt.so");
  expect(failureOf(() => keptLibraryPath(place, name, title)).message).toBe(
    `there is no encryption library for linux-x64: ${path} is missing`,
  );
});
