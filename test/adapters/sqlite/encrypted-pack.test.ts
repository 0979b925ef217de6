import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesOf } from "../../../src/adapters/sqlite/connection/layout.ts";
import { inspectPack } from "../../../src/adapters/sqlite/read/inspect.ts";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import { anAdmission, anEvent } from "../../contract/samples.ts";
import {
  directoryPack,
  encrypted,
  filePack,
  MASTER_KEY,
  openSqlitePack,
  RAW_KEY,
  type SqlitePack,
  storeOptions,
} from "../../contract/sqlite-pack.ts";
import { countFileKeys } from "../crypt/file-keys.ts";
import { leaks } from "../crypt/packs.ts";
import { bytesBelow, failure, useFolders } from "./folder.ts";

const WRONG_KEY = `raw_key:${Buffer.alloc(32, 8).toString("base64url")}`;
const SECRET = "the spare key lies under the pelican";

const world = useFolders();

const LAYOUTS = [
  { name: "a pack of one file", packIn: filePack },
  { name: "a directory pack", packIn: directoryPack },
] as const;

async function fill(pack: SqlitePack): Promise<void> {
  const store = await openSqlitePack(pack);
  await store.admit(anAdmission([anEvent({ content: SECRET })]));
  await store.close();
}

test.each(LAYOUTS)("$name is opened again with its key, and shows nothing", async ({ packIn }) => {
  const folder = world.folder();
  const pack = encrypted(packIn(folder));
  await fill(pack);
  expect(leaks(folder, [SECRET])).toEqual([]);
  const store = await world.open(pack);
  expect(await store.countEvents(ALL_OWNERS)).toBe(1);
  expect(leaks(folder, [SECRET])).toEqual([]);
  await store.close();
  expect(countFileKeys()).toBe(0);
});

test.each(LAYOUTS)("$name is readable for its owner alone", async ({ packIn }) => {
  const pack = encrypted(packIn(world.folder()));
  await fill(pack);
  expect(filesOf(pack.layout).map((file) => statSync(file).mode & 0o777)).toEqual(
    filesOf(pack.layout).map(() => 0o600),
  );
});

test.each(
  LAYOUTS.flatMap(({ name, packIn }) => [
    { name: `${name}, encrypted, without a key`, packIn, first: RAW_KEY, second: undefined },
    { name: `${name}, encrypted, with another key`, packIn, first: RAW_KEY, second: WRONG_KEY },
    {
      name: `${name}, encrypted, with a passphrase`,
      packIn,
      first: RAW_KEY,
      second: "open sesame",
    },
    {
      name: `${name}, encrypted, with its raw key as a passphrase`,
      packIn,
      first: RAW_KEY,
      second: RAW_KEY.replace("raw_key:", "passphrase:"),
    },
    { name: `${name}, unencrypted, with a key`, packIn, first: undefined, second: RAW_KEY },
  ]),
)("$name: refused, and no file is changed or made", async ({ packIn, first, second }) => {
  const folder = world.folder();
  const { layout } = packIn(folder);
  await fill(first === undefined ? { layout } : { layout, encryptionKey: first });
  const before = bytesBelow(folder);
  const { code, message, data } = await failure(
    openSqlitePack(second === undefined ? { layout } : { layout, encryptionKey: second }),
  );
  expect([code, data]).toEqual(["encryption_failed", { path: filesOf(layout)[0] ?? "" }]);
  expect(message).toContain("nothing was changed");
  for (const secret of [RAW_KEY, WRONG_KEY, "open sesame"]) expect(message).not.toContain(secret);
  expect(bytesBelow(folder)).toEqual(before);
});

test("a malformed key is refused before anything is made", async () => {
  const folder = world.folder();
  const { layout } = filePack(join(folder, "deeper"));
  const { code } = await failure(openSqlitePack({ layout, encryptionKey: "raw_key:short" }));
  expect(code).toBe("invalid_config");
  expect(bytesBelow(folder)).toEqual({});
});

test("a file of a directory pack under another key is refused before any file is changed", async () => {
  const folder = world.folder();
  const pack = encrypted(directoryPack(folder));
  await fill(pack);
  const other = world.folder();
  await fill({ ...directoryPack(other), encryptionKey: WRONG_KEY });
  writeFileSync(join(folder, "vectors.index"), readFileSync(join(other, "vectors.index")));
  const before = bytesBelow(folder);
  const { code, data } = await failure(openSqlitePack(pack));
  expect([code, data]).toEqual(["encryption_failed", { path: join(folder, "vectors.index") }]);
  expect(bytesBelow(folder)).toEqual(before);
});

test.each(["vectors.index", "lexical_index/lexical.db", "memory.db"])(
  "an unencrypted %s with the same tables is refused in an encrypted directory pack",
  async (name) => {
    const folder = world.folder();
    const pack = encrypted(directoryPack(folder));
    await fill(pack);
    const other = world.folder();
    await fill(directoryPack(other));
    writeFileSync(join(folder, name), readFileSync(join(other, name)));
    const before = bytesBelow(folder);
    const { code, data } = await failure(openSqlitePack(pack));
    expect([code, data]).toEqual(["encryption_failed", { path: join(folder, name) }]);
    expect(bytesBelow(folder)).toEqual(before);
  },
);

test("a forged manifest turns no encryption off and weakens no key", async () => {
  const folder = world.folder();
  const pack = encrypted(directoryPack(folder));
  await fill(pack);
  const path = join(folder, "manifest.json");
  for (const encryption of [
    { enabled: false, algorithm: "none", files: [] },
    { enabled: true, algorithm: "AES-128-ECB", kdf: "MD5", kdf_iterations: 1, files: [] },
  ]) {
    writeFileSync(path, JSON.stringify({ encryption }));
    const refusal = await failure(openSqlitePack(directoryPack(folder)));
    expect(refusal.code).toBe("encryption_failed");
    await fill(pack);
    expect(leaks(folder, [SECRET])).toEqual([]);
    expect(readFileSync(path, "utf8")).toContain('"kdf_iterations": 600000');
  }
});

test("a directory pack whose index was deleted gets a new encrypted one", async () => {
  const folder = world.folder();
  const pack = encrypted(directoryPack(folder));
  await fill(pack);
  await Bun.file(join(folder, "vectors.index")).delete();
  await fill({ ...pack });
  expect(leaks(folder, [SECRET])).toEqual([]);
});

test("an encrypted pack has one engine in a process, by whatever name it is opened", async () => {
  const folder = world.folder();
  const pack = encrypted(filePack(folder));
  const store = await world.open(pack);
  const path = join(folder, "memory.pack");
  symlinkSync(path, join(folder, "link.pack"));
  mkdirSync(join(folder, "sub"));
  for (const name of ["memory.pack", "link.pack", "sub/../memory.pack"]) {
    const same = { ...pack, layout: { kind: "file", path: `${folder}/${name}` } } as const;
    expect((await failure(openSqlitePack(same))).code).toBe("pack_in_use");
  }
  await store.admit(anAdmission([anEvent({ content: SECRET })]));
  await store.close();
  const again = await world.open(pack);
  expect(await again.countEvents(ALL_OWNERS)).toBe(1);
});

test("a failed opening leaves the pack free for the next one", async () => {
  const pack = filePack(world.folder());
  await fill(encrypted(pack));
  expect((await failure(openSqlitePack({ ...pack, encryptionKey: WRONG_KEY }))).code).toBe(
    "encryption_failed",
  );
  const store = await world.open(encrypted(pack));
  expect(await store.countEvents(ALL_OWNERS)).toBe(1);
});

test("an encrypted pack and its copy are open in one process", async () => {
  const folder = world.folder();
  const pack = encrypted(filePack(folder));
  await fill(pack);
  const copy = join(folder, "copy.pack");
  writeFileSync(copy, readFileSync(join(folder, "memory.pack")));
  const one = await world.open(pack);
  const two = await world.open({ ...pack, layout: { kind: "file", path: copy } });
  expect([await one.countEvents(ALL_OWNERS), await two.countEvents(ALL_OWNERS)]).toEqual([1, 1]);
});

test("an empty file becomes an encrypted pack", async () => {
  const folder = world.folder();
  writeFileSync(join(folder, "memory.pack"), "");
  await fill(encrypted(filePack(folder)));
  expect(leaks(folder, [SECRET])).toEqual([]);
  const store = await world.open(encrypted(filePack(folder)));
  expect(await store.countEvents(ALL_OWNERS)).toBe(1);
});

test.each([
  { name: "a file of zeros", content: Buffer.alloc(20_000) },
  {
    name: "a text",
    content: Buffer.from("this is no pack, only a text of some length".repeat(10)),
  },
  { name: "a few bytes", content: Buffer.from("abc") },
])("$name is no pack, with and without a key", async ({ content }) => {
  const folder = world.folder();
  writeFileSync(join(folder, "memory.pack"), content);
  const before = bytesBelow(folder);
  for (const pack of [filePack(folder), encrypted(filePack(folder))]) {
    expect((await failure(openSqlitePack(pack))).code).toBe("not_a_pack");
  }
  expect(bytesBelow(folder)).toEqual(before);
});

test("an encrypted pack is inspected with its key, and is unchanged", async () => {
  const folder = world.folder();
  const pack = encrypted(filePack(folder));
  await fill(pack);
  const before = bytesBelow(folder);
  const options = { ...storeOptions(pack), checkIntegrity: true };
  const inspection = inspectPack({ ...options, cipher: { masterKey: MASTER_KEY } });
  expect([inspection.eventCount, inspection.damage]).toEqual([1, []]);
  expect(() => inspectPack(options)).toThrow("is encrypted");
  expect(bytesBelow(folder)).toEqual(before);
});

test("several processes that make one pack at once agree on its keys", async () => {
  const folder = world.folder();
  const pack = encrypted(filePack(folder));
  const worker = join(import.meta.dir, "../../contract/worker.ts");
  const children = Array.from({ length: 2 }, (_, i) =>
    Bun.spawn([process.execPath, worker, JSON.stringify(pack), "admit", `text ${i}`], {
      stdout: "pipe",
      stderr: "pipe",
    }),
  );
  try {
    for (const child of children) {
      const { value } = await child.stdout.getReader().read();
      expect(new TextDecoder().decode(value)).toStartWith('["');
    }
  } finally {
    for (const child of children) child.kill("SIGKILL");
    await Promise.all(children.map((child) => child.exited));
  }
  const store = await world.open(pack);
  expect(await store.countEvents(ALL_OWNERS)).toBe(2);
  expect(Object.keys(bytesBelow(folder)).filter((name) => name.endsWith(".new"))).toEqual([]);
});
