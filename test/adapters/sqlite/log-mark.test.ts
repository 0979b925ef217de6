import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadSqliteVec } from "../../../src/adapters/native/sqlite-vec.ts";
import { filesOf, mainPath } from "../../../src/adapters/sqlite/connection/layout.ts";
import { inspectPack, openToInspect } from "../../../src/adapters/sqlite/read/inspect.ts";
import { FOREIGN_LOG } from "../../../src/domain/errors.ts";
import { put } from "../../contract/samples.ts";
import { encrypted, filePack, type SqlitePack } from "../../contract/sqlite-pack.ts";
import { failure, useFolders } from "./folder.ts";
import { cipherOf, compact, KINDS, makePack } from "./whole-packs.ts";

const SAMPLE_PACKS = join(import.meta.dir, "../../contract/sqlite-pack.ts");
const SAMPLES = join(import.meta.dir, "../../contract/samples.ts");

const { folder, open } = useFolders();

function look(pack: SqlitePack, checkIntegrity = true) {
  const vecExtensionPath = loadSqliteVec();
  return inspectPack({
    layout: pack.layout,
    checkIntegrity,
    vecExtensionPath,
    cipher: cipherOf(pack),
  });
}

/** Copies the files of a pack, without what lies beside them, as `cp` would. */
function copyFiles(pack: SqlitePack, copy: SqlitePack, suffixes = [""]): void {
  const to = filesOf(copy.layout);
  for (const [index, file] of filesOf(pack.layout).entries()) {
    const target = to[index] ?? "";
    mkdirSync(join(target, ".."), { recursive: true });
    for (const suffix of suffixes) {
      if (existsSync(`${file}${suffix}`)) cpSync(`${file}${suffix}`, `${target}${suffix}`);
    }
  }
}

const logSize = (pack: SqlitePack): number =>
  filesOf(pack.layout).reduce(
    (sum, file) => sum + (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );

async function untilLogIsEmpty(pack: SqlitePack): Promise<void> {
  while (logSize(pack) > 0) await Bun.sleep(50);
}

describe.each([...KINDS])("the log of $name", (kind) => {
  test("is emptied some seconds after the last write, and a copy of the files is complete", async () => {
    const pack = kind.at(folder());
    const store = await open(pack);
    await put(store, { content: "the otter swims" });
    expect(logSize(pack)).toBeGreaterThan(0);
    await untilLogIsEmpty(pack);
    const copy = kind.at(folder());
    copyFiles(pack, copy);
    expect(look(copy)).toMatchObject({ eventCount: 1, damage: [], logGap: undefined });
    await put(store, { content: "the heron waits", second: 2 });
    await untilLogIsEmpty(pack);
    const later = kind.at(folder());
    copyFiles(pack, later);
    expect(look(later)).toMatchObject({ eventCount: 2, damage: [], logGap: undefined });
  });

  test("is missed in a copy without it, from the first write on", async () => {
    const pack = kind.at(folder());
    await makePack(pack, 3);
    const store = await open(pack);
    for (let second = 10; second < 15; second += 1) {
      await put(store, { second, content: `later ${second}` });
      const copy = kind.at(folder());
      copyFiles(pack, copy);
      expect(look(copy).logGap).toEqual({ since: expect.any(String), isTorn: false });
    }
    const whole = kind.at(folder());
    copyFiles(pack, whole, ["", "-wal"]);
    expect(look(whole)).toMatchObject({ eventCount: 8, logGap: undefined });
    // Looking twice changes nothing: the log stays what it is.
    expect(look(whole)).toMatchObject({ eventCount: 8, logGap: undefined });
    expect(look(pack)).toMatchObject({ eventCount: 8, logGap: undefined });
  });

  test("is missed after a reader has held up the mark for longer than writes wait for it", async () => {
    const pack = kind.at(folder());
    await makePack(pack, 3);
    const store = await open(pack);
    const reader = openToInspect({
      layout: pack.layout,
      vecExtensionPath: loadSqliteVec(),
      cipher: cipherOf(pack),
    });
    reader.database.run("BEGIN");
    reader.database.query("SELECT count(*) FROM main.events").get();
    for (let second = 10; second < 13; second += 1)
      await put(store, { second, content: `held up ${second}` });
    const early = kind.at(folder());
    copyFiles(pack, early);
    expect(look(early)).toMatchObject({ eventCount: 3, logGap: undefined });
    reader.database.run("COMMIT");
    await put(store, { second: 13, content: "free again" });
    const copy = kind.at(folder());
    copyFiles(pack, copy);
    expect(look(copy).logGap).toEqual({ since: expect.any(String), isTorn: false });
    reader.close();
  });

  test("leaves no mark behind when the pack is closed or replaced as a whole", async () => {
    const pack = kind.at(folder());
    await makePack(pack, 3);
    expect(look(pack).logGap).toBeUndefined();
    const crashed = kind.at(folder());
    const store = await open(pack);
    await put(store, { content: "not lost", second: 9 });
    copyFiles(pack, crashed, ["", "-wal"]);
    await compact(crashed);
    expect(look(crashed)).toMatchObject({ eventCount: 4, logGap: undefined });
  });

  test("stays where a writer was killed and somebody who only looks closes last", async () => {
    const pack = kind.at(folder());
    await makePack(pack, 3);
    const { layout } = pack;
    const vecExtensionPath = loadSqliteVec();
    const reading = openToInspect({ layout, vecExtensionPath, cipher: cipherOf(pack) });
    const script = `const { openSqlitePack } = await import(${JSON.stringify(SAMPLE_PACKS)});
      const { anAdmission, anEvent } = await import(${JSON.stringify(SAMPLES)});
      const store = await openSqlitePack(${JSON.stringify(pack)});
      await store.admit(anAdmission([anEvent({ id: crypto.randomUUID(), userId: "bob" })]));
      process.kill(process.pid, "SIGKILL");`;
    await Bun.spawn([process.execPath, "-e", script]).exited;
    reading.close();
    expect(look(pack)).toMatchObject({ eventCount: 4, damage: [], logGap: undefined });
    const store = await open(pack);
    await store.close();
    expect(look(pack)).toMatchObject({ eventCount: 4, logGap: undefined, logLost: undefined });
    expect(logSize(pack)).toBe(0);
  });

  test("is told once when the pack is used without it, and remembered", async () => {
    const pack = kind.at(folder());
    const store = await open(pack);
    await put(store, { content: "first", second: 1 });
    await put(store, { content: "second", second: 2 });
    const copy = kind.at(folder());
    copyFiles(pack, copy);
    const said: string[] = [];
    const used = await open(copy, { warn: (message) => said.push(message) });
    expect(said).toEqual([expect.stringContaining(`${mainPath(copy.layout)}-wal`)]);
    await put(used, { content: "after the loss", second: 3 });
    await used.close();
    expect(look(copy)).toMatchObject({
      logGap: undefined,
      logLost: { since: expect.any(String), foundAt: expect.any(String) },
    });
    await compact(copy);
    expect(look(copy)).toMatchObject({ eventCount: 2, logGap: undefined, logLost: undefined });
  });
});

describe("the mark", () => {
  test.each([...KINDS])("knows a log of $name that was just begun again", async (kind) => {
    const pack = kind.at(folder());
    const store = await open(pack);
    for (let second = 0; second < 3; second += 1) await put(store, { second });
    const now = kind.at(folder());
    copyFiles(pack, now, ["", "-wal"]);
    // As a process leaves it that is killed while it writes the first page over an old one.
    const log = `${mainPath(now.layout)}-wal`;
    const bytes = readFileSync(log);
    bytes.writeUInt32BE((bytes.readUInt32BE(16) + 1) >>> 0, 16);
    writeFileSync(log, bytes);
    expect(look(now, false).logGap).toBeUndefined();
  });

  test("refuses the log of another encrypted file beside a copy", async () => {
    const [pack, other, copy] = [folder(), folder(), folder()].map((at) => encrypted(filePack(at)));
    if (pack === undefined || other === undefined || copy === undefined) throw new Error("no pack");
    for (const each of [pack, other]) {
      const store = await open(each);
      for (let second = 0; second < 2; second += 1) await put(store, { second });
    }
    copyFiles(pack, copy);
    cpSync(`${mainPath(other.layout)}-wal`, `${mainPath(copy.layout)}-wal`);
    expect(await failure((async () => look(copy, false))())).toMatchObject({
      data: { reason: FOREIGN_LOG },
    });
  });

  test("is not believed where a program that does not know it has written since", async () => {
    const [pack, copy] = [filePack(folder()), filePack(folder())];
    const store = await open(pack);
    for (let second = 0; second < 2; second += 1) await put(store, { second });
    copyFiles(pack, copy, ["", "-wal"]);
    const former = new Database(mainPath(copy.layout));
    former.run("UPDATE pack_manifest SET software_version = '0.0.9'");
    former.close();
    expect(look(copy)).toMatchObject({ eventCount: 2, logGap: undefined });
  });

  test("tells a file whose first page was copied before the rest", async () => {
    const pack = filePack(folder());
    await makePack(pack, 3);
    const torn = new Database(mainPath(pack.layout));
    torn.run("PRAGMA user_version = 77");
    torn.close();
    expect(look(pack).logGap).toMatchObject({ isTorn: true });
  });
});
