import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { processTag } from "../../../src/adapters/native/process-identity.ts";
import { filesOf, mainPath } from "../../../src/adapters/sqlite/connection/layout.ts";
import { openDatabase } from "../../../src/adapters/sqlite/connection/open-database.ts";
import { freshKey } from "../../../src/adapters/sqlite/copy/copy-pack.ts";
import { rewritePack } from "../../../src/adapters/sqlite/copy/rewrite-pack.ts";
import { put } from "../../contract/samples.ts";
import { directoryPack, encrypted, filePack, type SqlitePack } from "../../contract/sqlite-pack.ts";
import { bytesBelow, failure, useFolders } from "./folder.ts";
import { answers, BOTH_KINDS, cipherOf, compact, makePack } from "./whole-packs.ts";

setDefaultTimeout(120_000);

const { folder, open } = useFolders();
const WORKER = resolve(import.meta.dir, "../../fault/maintenance-worker.ts");
const children: Bun.Subprocess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill("SIGKILL");
    await child.exited;
  }
});

/** Another process that has the pack open. */
async function holder(pack: SqlitePack): Promise<Bun.Subprocess<"pipe", "pipe", "inherit">> {
  const child = Bun.spawn([process.execPath, WORKER, "hold", JSON.stringify(pack)], {
    stdin: "pipe",
    stdout: "pipe",
  });
  children.push(child);
  const first = await child.stdout.getReader().read();
  expect(new TextDecoder().decode(first.value)).toBe("ready\n");
  return child;
}

describe.each([...BOTH_KINDS])("compacting $name", ({ at }) => {
  test("keeps every answer, the permissions and the salts, and leaves nothing beside it", async () => {
    const place = folder();
    const pack = at(place);
    await makePack(pack);
    const before = await answers(pack);
    const names = Object.keys(bytesBelow(place));
    const salts = filesOf(pack.layout).map((file) => readFileSync(file).toString("hex", 0, 16));
    for (const file of filesOf(pack.layout)) chmodSync(file, 0o640);
    const { bytesBefore, bytesAfter } = await compact(pack);
    expect(bytesAfter).toBeLessThanOrEqual(bytesBefore);
    expect(Object.keys(bytesBelow(place))).toEqual(names);
    for (const file of filesOf(pack.layout)) expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(filesOf(pack.layout).map((file) => readFileSync(file).toString("hex", 0, 16))).toEqual(
      salts,
    );
    expect(await answers(pack)).toEqual(before);
    const store = await open(pack);
    await put(store, { content: "it can be written to", userId: "bob" });
    expect(await store.countNodes("bob")).toBe(1);
  });

  test("is refused while another process has it open, and nothing is changed", async () => {
    const place = folder();
    const pack = at(place);
    await makePack(pack, 5);
    const child = await holder(pack);
    const before = bytesBelow(place);
    expect(await failure(compact(pack))).toMatchObject({ code: "pack_in_use" });
    expect(bytesBelow(place)).toEqual(before);
    await child.stdin.end();
    await child.exited;
    await compact(pack);
  });

  test("is refused while this process has it open", async () => {
    const pack = at(folder());
    await makePack(pack, 5);
    const store = await open(pack);
    const { code, message } = await failure(compact(pack));
    expect(code).toBe("pack_in_use");
    expect(message).toContain(mainPath(pack.layout));
    await put(store, { content: "still open", userId: "bob" });
    await store.close();
    await compact(pack);
  });

  test("takes in a log that a killed process left", async () => {
    const place = folder();
    const pack = at(place);
    await makePack(pack, 5);
    const child = await holder(pack);
    child.kill("SIGKILL");
    await child.exited;
    await compact(pack);
    expect(Object.keys(bytesBelow(place)).filter((name) => /-(wal|shm)$/.test(name))).toEqual([]);
    expect(await answers(pack)).toMatchObject({ nodes: 5 });
  });
});

test("gives the room of deleted rows back", async () => {
  const pack = encrypted(filePack(folder()));
  await makePack(pack, 10);
  const database = openDatabase({
    layout: pack.layout,
    mode: "read-write",
    synchronous: "normal",
    busyTimeoutMs: 1000,
    cipher: cipherOf(pack),
  });
  database.run("CREATE TABLE ballast (x BLOB)");
  database.run("INSERT INTO ballast VALUES (randomblob(2000000))");
  database.run("DROP TABLE ballast");
  database.close();
  const { bytesBefore, bytesAfter } = await compact(pack);
  expect(bytesBefore - bytesAfter).toBeGreaterThan(1_900_000);
  expect(statSync(mainPath(pack.layout)).size).toBe(bytesAfter);
});

describe.each([
  { name: "one file", at: filePack },
  { name: "a directory", at: directoryPack },
])("compacting an unencrypted pack of $name", ({ at }) => {
  const RARE = "zyxwvutquokka";

  test("leaves no word of a removed text in its files", async () => {
    const pack = at(folder());
    await makePack(pack, 5);
    const database = openDatabase({
      layout: pack.layout,
      mode: "read-write",
      synchronous: "normal",
      busyTimeoutMs: 1000,
    });
    // The document of a memory whose text is nowhere else, so that the word is in the index alone.
    database.run(
      `INSERT INTO lexical_documents (rowid, own, previous, next) VALUES (999999, '${RARE} in a text', '', '')`,
    );
    database.run("DELETE FROM lexical_documents WHERE rowid = 999999");
    database.close();
    expect(filesWith(pack, RARE)).toHaveLength(1);
    const before = await answers(pack);
    await compact(pack);
    expect(filesWith(pack, RARE)).toEqual([]);
    expect(await answers(pack)).toEqual(before);
  });

  function filesWith(pack: SqlitePack, word: string): readonly string[] {
    return filesOf(pack.layout).filter((file) => readFileSync(file).includes(word));
  }
});

test("a link to a pack stays a link", async () => {
  const place = folder();
  const pack = filePack(place);
  await makePack(pack, 5);
  renameSync(mainPath(pack.layout), join(place, "real.pack"));
  symlinkSync("real.pack", mainPath(pack.layout));
  await compact({ layout: { kind: "file", path: join(place, "real.pack") } });
  expect(lstatSync(mainPath(pack.layout)).isSymbolicLink()).toBeTrue();
  expect(await answers(pack)).toMatchObject({ nodes: 5 });
});

test("of two that compact at once one wins and the other is refused", async () => {
  const place = folder();
  const pack = filePack(place);
  await makePack(pack);
  const outcomes = await Promise.allSettled([compact(pack), compact(pack)]);
  expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(outcomes.find(({ status }) => status === "rejected")).toMatchObject({
    reason: { code: "pack_in_use" },
  });
  expect(readdirSync(place)).toEqual(["memory.pack"]);
});

describe("a pack that cannot be compacted", () => {
  const cases: readonly { name: string; code: string; spoil: (path: string) => void }[] = [
    { name: "zeros", code: "not_a_pack", spoil: (path) => writeFileSync(path, Buffer.alloc(9000)) },
    { name: "nothing", code: "not_a_pack", spoil: (path) => writeFileSync(path, "") },
    { name: "text", code: "not_a_pack", spoil: (path) => writeFileSync(path, "dear diary\n") },
    { name: "no right to write", code: "pack_read_only", spoil: (path) => chmodSync(path, 0o444) },
    {
      name: "half a pack",
      code: "pack_damaged",
      spoil: (path) => writeFileSync(path, readFileSync(path).subarray(0, 3 * 8192)),
    },
  ];

  test.each([...cases])("$name is refused and stays as it is", async ({ code, spoil }) => {
    const place = folder();
    const pack = filePack(place);
    await makePack(pack, 20);
    spoil(mainPath(pack.layout));
    const before = bytesBelow(place);
    expect(await failure(compact(pack))).toMatchObject({ code });
    expect(bytesBelow(place)).toEqual(before);
  });

  test.each([
    { name: "without a key", cipher: undefined, isEncrypted: true },
    { name: "with a wrong key", cipher: { masterKey: new Uint8Array(32) }, isEncrypted: true },
    { name: "with a key for an unencrypted pack", cipher: { masterKey: new Uint8Array(32) } },
  ])("$name is refused and stays as it is", async ({ cipher, isEncrypted }) => {
    const place = folder();
    const pack = isEncrypted === true ? encrypted(filePack(place)) : filePack(place);
    await makePack(pack, 5);
    const before = bytesBelow(place);
    const input = { layout: pack.layout, cipher };
    const call = rewritePack({ ...input, purpose: "compact", keyFor: () => freshKey(cipher) });
    expect(await failure(call)).toMatchObject({ code: "encryption_failed" });
    expect(bytesBelow(place)).toEqual(before);
  });
});

describe("files that runs left behind", () => {
  test("are removed when their process is gone, and only those of this pack", async () => {
    const place = folder();
    const pack = filePack(place);
    await makePack(pack, 5);
    // The first digits name host and boot, the next six the process: one that cannot exist.
    const gone = `${processTag().slice(0, 8)}ffffff${"0".repeat(18)}`;
    const mine = processTag();
    const names = [
      `.memory.pack.${gone}.compact`,
      `.memory.pack.${gone}.compact-wal`,
      `.memory.pack.${gone}.rekey`,
      `.memory.pack.${mine}.compact`,
      `.other.pack.${gone}.compact`,
      `.memory.pack.${gone}.txt`,
      ".memory.pack.abc.compact",
    ];
    for (const name of names) writeFileSync(join(place, name), "left");
    await compact(pack);
    expect(readdirSync(place).sort()).toEqual([...names.slice(3), "memory.pack"].sort());
  });
});

describe("a swap of several files that was cut off", () => {
  test("is carried out by whoever opens the pack next", async () => {
    const place = folder();
    const pack = encrypted(directoryPack(place));
    await makePack(pack, 5);
    const before = await answers(pack);
    const moves = filesOf(pack.layout).map((file) => {
      const hidden = join(file, "..", `.${file.split("/").at(-1)}.${processTag()}.rekey`);
      return { from: hidden.slice(place.length + 1), to: file.slice(place.length + 1) };
    });
    // As after the first of three renames.
    for (const { from, to } of moves.slice(1)) renameSync(join(place, to), join(place, from));
    for (const { to } of moves.slice(1)) writeFileSync(join(place, to), "the old file");
    const record = join(place, ".memory.db.swap");
    writeFileSync(record, JSON.stringify({ moves }));
    expect(await answers(pack)).toEqual(before);
    expect(existsSync(record)).toBeFalse();
  });

  test("is refused when its record names files that are not of the pack", async () => {
    const place = folder();
    const pack = directoryPack(place);
    await makePack(pack, 5);
    writeFileSync(join(place, "victim"), "precious");
    const move = { from: "victim", to: "memory.db" };
    writeFileSync(join(place, ".memory.db.swap"), JSON.stringify({ moves: [move] }));
    const before = bytesBelow(place);
    expect(await failure(open(pack))).toMatchObject({ code: "storage_failed" });
    expect(bytesBelow(place)).toEqual(before);
  });
});
