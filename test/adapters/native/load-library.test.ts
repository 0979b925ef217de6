import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { EmbeddedAsset } from "../../../src/adapters/native/embedded.ts";
import { unpack } from "../../../src/adapters/native/extract.ts";
import {
  CRYPT_LIBRARY,
  KERNEL_LIBRARY,
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

test("gives the absolute path of a library that SQLite loads", () => {
  const path = ownLibraryPath(KERNEL_LIBRARY);
  expect(isAbsolute(path)).toBe(true);
  const db = new Database(":memory:");
  db.loadExtension(path, KERNEL_LIBRARY.entry);
  const [one, other] = [new Float32Array([1, 0]), new Float32Array([0, 1])];
  expect(db.query("SELECT svckernel_cosine(?, 0, ?, NULL, NULL) AS it").get(one, other)).toEqual({
    it: 0,
  });
  db.close();
});

let place = "";
let dir = "";
const content = Buffer.from("a library ".repeat(100_000));

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "svc-test-"));
  dir = join(place, "cache");
  writeFileSync(join(place, "source.zst"), Bun.zstdCompressSync(content));
});

afterEach(() => rmSync(place, { recursive: true, force: true }));

function asset(fields: Partial<EmbeddedAsset> = {}): EmbeddedAsset {
  const sha256 = new Bun.CryptoHasher("sha256").update(content).digest("hex");
  return { asset: join(place, "source.zst"), group: "lib-1", name: "lib.so", sha256, ...fields };
}

/** Unpacks in a process of its own, since a process verifies each file only once. */
function unpackElsewhere(input: EmbeddedAsset) {
  const program = `
    const { unpack } = await import(${JSON.stringify(join(import.meta.dir, "../../../src/adapters/native/extract.ts"))});
    console.log(unpack(${JSON.stringify(input)}, ${JSON.stringify(dir)}));`;
  return Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "pipe" });
}

describe("unpack", () => {
  test("writes a library that its owner alone can read and run", () => {
    const path = unpack(asset(), dir);
    expect(path).toBe(join(dir, "lib-1", "lib.so"));
    expect(readFileSync(path).equals(content)).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o500);
    expect(statSync(join(dir, "lib-1")).mode & 0o777).toBe(0o700);
  });

  test("writes data that its owner alone can read", () => {
    const path = unpack(asset({ name: "onnx/model.onnx" }), dir);
    expect(path).toBe(join(dir, "lib-1", "onnx", "model.onnx"));
    expect(statSync(path).mode & 0o777).toBe(0o400);
  });

  test("keeps a correct copy as it is", async () => {
    const path = unpack(asset(), dir);
    const { ino } = statSync(path);
    expect(await unpackElsewhere(asset()).exited).toBe(0);
    expect(statSync(path).ino).toBe(ino);
  });

  test.each([
    { name: "of the same size", tampered: Buffer.alloc(content.length, 1) },
    { name: "cut short", tampered: content.subarray(0, 10) },
    { name: "empty", tampered: Buffer.alloc(0) },
  ])("replaces a changed copy $name", async ({ tampered }) => {
    const path = unpack(asset(), dir);
    chmodSync(path, 0o700);
    writeFileSync(path, tampered);
    expect(await unpackElsewhere(asset()).exited).toBe(0);
    expect(readFileSync(path).equals(content)).toBe(true);
  });

  test("serves many first starts at once and leaves no temporary file", async () => {
    const starts = Array.from({ length: 6 }, () => unpackElsewhere(asset()));
    const codes = await Promise.all(starts.map((start) => start.exited));
    expect(codes).toEqual([0, 0, 0, 0, 0, 0]);
    expect(readdirSync(join(dir, "lib-1"))).toEqual(["lib.so"]);
    expect(readFileSync(join(dir, "lib-1", "lib.so")).equals(content)).toBe(true);
  });

  test("removes what a process that was killed has left, and nothing of one that runs", async () => {
    const group = join(dir, "lib-1");
    mkdirSync(group, { recursive: true });
    const killed = Bun.spawn([process.execPath, "-e", ""]);
    await killed.exited;
    const left = `lib.so.${killed.pid}.0123456789ab`;
    const others = [
      `lib.so.${process.ppid}.0123456789ab`,
      "lib.so.2",
      `other.so.${killed.pid}.0123456789ab`,
    ];
    for (const name of [left, ...others]) writeFileSync(join(group, name), "half");
    unpack(asset(), dir);
    expect(readdirSync(group).sort()).toEqual(["lib.so", ...others].sort());
  });

  test("never unpacks content with another digest", () => {
    expect(() => unpack(asset({ sha256: "0".repeat(64) }), dir)).toThrow("wrong digest");
    expect(readdirSync(join(dir, "lib-1"))).toEqual([]);
  });

  test("says that the executable is damaged when content cannot be uncompressed", () => {
    writeFileSync(join(place, "source.zst"), content);
    expect(() => unpack(asset(), dir)).toThrow("the executable is damaged: lib.so");
    expect(readdirSync(join(dir, "lib-1"))).toEqual([]);
  });

  test("says where it could not write", () => {
    writeFileSync(dir, "a file in the way");
    expect(() => unpack(asset(), dir)).toThrow(
      expect.objectContaining({
        code: "storage_failed",
        data: { path: join(dir, "lib-1", "lib.so") },
      }),
    );
  });
});
