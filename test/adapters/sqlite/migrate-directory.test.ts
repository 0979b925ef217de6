import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../../src/adapters/sqlite/connection/open-database.ts";
import type { Cipher } from "../../../src/adapters/sqlite/connection/pack-files.ts";
import { freshKey } from "../../../src/adapters/sqlite/copy/copy-pack.ts";
import { migrateDirectory } from "../../../src/adapters/sqlite/copy/migrate-directory.ts";
import { inspectPack } from "../../../src/adapters/sqlite/read/inspect.ts";
import { at, put } from "../../contract/samples.ts";
import {
  directoryPack,
  encrypted,
  MASTER_KEY,
  type SqlitePack,
} from "../../contract/sqlite-pack.ts";
import { bytesBelow, failure, useFolders } from "./folder.ts";
import { answers, cipherOf, makePack } from "./whole-packs.ts";

setDefaultTimeout(120_000);

const { folder, open } = useFolders();

function migrate(
  pack: SqlitePack,
  destination: string,
  destinationCipher: Cipher | undefined = cipherOf(pack),
) {
  const { layout } = pack;
  if (layout.kind === "file") throw new Error("a single file is not migrated");
  return migrateDirectory({
    layout,
    cipher: cipherOf(pack),
    destination,
    destinationKey: freshKey(destinationCipher),
    now: at(0),
  });
}

const CIPHER: Cipher = { masterKey: MASTER_KEY };
const CASES = [
  { name: "clear to clear", from: directoryPack, cipher: undefined },
  { name: "clear to encrypted", from: directoryPack, cipher: CIPHER },
  {
    name: "encrypted to encrypted",
    from: (place: string) => encrypted(directoryPack(place)),
    cipher: CIPHER,
  },
] as const;

describe.each([...CASES])("a directory pack, $name", ({ from, cipher }) => {
  test("becomes one file with the same answers, and stays", async () => {
    const place = folder();
    const pack = from(join(place, "directory"));
    await makePack(pack);
    const wanted = await answers(pack);
    const before = bytesBelow(join(place, "directory"));
    const destination = join(place, "not", "yet", "there", "new.pack");
    const done = await migrate(pack, destination, cipher);
    expect(done).toMatchObject({ nodes: 60, edges: 0, events: 60, vectors: 60 });
    expect(done.bytesAfter).toBe(statSync(destination).size);
    expect(statSync(destination).mode & 0o777).toBe(0o600);
    expect(bytesBelow(join(place, "directory"))).toEqual(before);
    expect(readdirSync(join(destination, ".."))).toEqual(["new.pack"]);
    const layout = { kind: "file", path: destination } as const;
    const made = cipher === undefined ? { layout } : encrypted({ layout });
    const report = inspectPack({ layout, checkIntegrity: true, cipher });
    expect(report).toMatchObject({ damage: [], withoutVector: 0, withoutLexical: 0 });
    expect(await answers(made)).toEqual(wanted);
    const store = await open(made);
    await put(store, { content: "it can be written to", userId: "bob" });
    expect(await store.countNodes("bob")).toBe(1);
  });
});

test("the log of the new file refuses changes as that of the directory does", async () => {
  const place = folder();
  const pack = directoryPack(place);
  await makePack(pack, 3);
  const path = join(place, "new.pack");
  await migrate(pack, path);
  const database = openDatabase({
    layout: { kind: "file", path },
    mode: "read-write",
    synchronous: "normal",
    busyTimeoutMs: 1000,
  });
  // One of those on operations lists the changes of memories.
  for (const [table, count] of [
    ["events", 3],
    ["operations", 4],
    ["owners", 3],
  ] as const) {
    const triggers = database
      .query("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?")
      .all(table);
    expect([table, triggers.length]).toEqual([table, count]);
  }
  expect(() => database.run("DELETE FROM events")).toThrow("immutable");
  expect(() => database.run("UPDATE receipts SET user_id = 'bob'")).toThrow("immutable");
  expect(database.query("PRAGMA foreign_key_check").all()).toEqual([]);
  database.close();
});

describe("is refused without a trace", () => {
  test.each([
    { name: "an existing file", taken: "new.pack", to: "new.pack" },
    { name: "the log of a file that is gone", taken: "new.pack-wal", to: "new.pack" },
    { name: "a name of another kind", taken: "other", to: "new.db" },
  ])("for $name", async ({ taken, to }) => {
    const place = folder();
    const pack = directoryPack(place);
    await makePack(pack, 3);
    writeFileSync(join(place, taken), "somebody's");
    const before = bytesBelow(place);
    const { code, message } = await failure(migrate(pack, join(place, to)));
    expect(code).toBe("invalid_argument");
    expect(message).toContain("nothing was changed");
    expect(bytesBelow(place)).toEqual(before);
  });

  test("while the directory is in use", async () => {
    const place = folder();
    const pack = directoryPack(place);
    await open(pack);
    expect(await failure(migrate(pack, join(place, "new.pack")))).toMatchObject({
      code: "pack_in_use",
    });
    expect(existsSync(join(place, "new.pack"))).toBeFalse();
  });

  test("with a wrong key", async () => {
    const place = folder();
    const pack = encrypted(directoryPack(place));
    await makePack(pack, 3);
    const before = bytesBelow(place);
    const { layout } = pack;
    if (layout.kind === "file") throw new Error("unexpected");
    const wrong = { masterKey: new Uint8Array(32) };
    const call = migrateDirectory({
      layout,
      cipher: wrong,
      destination: join(place, "new.pack"),
      destinationKey: freshKey(wrong),
      now: at(0),
    });
    expect(await failure(call)).toMatchObject({ code: "encryption_failed" });
    expect(bytesBelow(place)).toEqual(before);
  });

  test("when an index file is missing", async () => {
    const place = folder();
    const pack = directoryPack(place);
    await makePack(pack, 3);
    rmSync(join(place, "vectors.index"));
    expect(await failure(migrate(pack, join(place, "new.pack")))).toMatchObject({
      code: "not_found",
    });
    expect(existsSync(join(place, "new.pack"))).toBeFalse();
  });
});

test("index files that missed a commit are brought in step in the copy alone", async () => {
  const place = folder();
  const pack = directoryPack(place);
  await makePack(pack, 3);
  const database = openDatabase({
    layout: pack.layout,
    mode: "read-write",
    synchronous: "normal",
    busyTimeoutMs: 1000,
  });
  database.run("UPDATE index_sequence SET value = value + 1");
  database.run("DELETE FROM vectors WHERE node_key = 1");
  database.run("DELETE FROM vectors WHERE node_key = 1");
  database.close();
  const before = bytesBelow(place);
  const path = join(place, "new.pack");
  expect(await migrate(pack, path)).toMatchObject({ nodes: 3, vectors: 2 });
  expect(bytesBelow(place)).toMatchObject(before);
  const report = inspectPack({
    layout: { kind: "file", path },
    checkIntegrity: true,
  });
  expect(report).toMatchObject({ pendingJobs: 1, damage: [] });
});
