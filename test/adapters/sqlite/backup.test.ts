import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { filesOf, mainPath } from "../../../src/adapters/sqlite/connection/layout.ts";
import { pinPack } from "../../../src/adapters/sqlite/copy/backup-files.ts";
import { inspectPack } from "../../../src/adapters/sqlite/read/inspect.ts";
import { settingsForPath } from "../../../src/app/pack-path.ts";
import { loadConfig } from "../../../src/config/load.ts";
import type { Config } from "../../../src/config/schema.ts";
import { backUpPack } from "../../../src/packs/backup-pack.ts";
import { put } from "../../contract/samples.ts";
import { openSqlitePack, type SqlitePack } from "../../contract/sqlite-pack.ts";
import { answers, BOTH_KINDS, cipherOf, makePack } from "./whole-packs.ts";

setDefaultTimeout(120_000);

const WORKER = resolve(import.meta.dir, "../../fault/maintenance-worker.ts");

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-backup-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function configOf({ layout, encryptionKey }: SqlitePack): Config {
  const path = layout.kind === "file" ? layout.path : dirname(layout.databasePath);
  const key = { encryption_enabled: encryptionKey !== undefined, encryption_key: encryptionKey };
  return loadConfig({ explicit: { ...settingsForPath(path), ...key }, environment: {}, file: null })
    .config;
}

/** A copy of `pack` in a folder of its own, and what opens it. */
async function backUp(
  pack: SqlitePack,
  to = join(folder, "copies/memory.pack"),
  signal = new AbortController().signal,
) {
  const done = await backUpPack(configOf(pack), { to, signal, onProgress: () => {} });
  const { layout } = pack;
  const copy: SqlitePack["layout"] =
    layout.kind === "file"
      ? { kind: "file", path: to }
      : {
          kind: "directory",
          databasePath: join(to, "memory.db"),
          vectorPath: join(to, "vectors.index"),
          lexicalPath: join(to, "lexical_index"),
        };
  return { done, copy: { ...pack, layout: copy } };
}

function inspect(pack: SqlitePack) {
  const { layout } = pack;
  return inspectPack({ layout, checkIntegrity: true, cipher: cipherOf(pack) });
}

/** What another process reads: a descriptor that this one closes would drop SQLite's locks. */
function sums({ layout }: SqlitePack): string {
  return Bun.spawnSync(["sha256sum", ...filesOf(layout)]).stdout.toString();
}

/** A process that opens the pack, stores and closes it, over and over. */
function writer(pack: SqlitePack) {
  const child = Bun.spawn([process.execPath, WORKER, "visit", JSON.stringify(pack), "bob"], {
    stdout: "pipe",
  });
  const reader = child.stdout.getReader();
  const ids: string[] = [];
  let rest = "";
  const more = async (count: number): Promise<void> => {
    for (const wanted = ids.length + count; ids.length < wanted; ) {
      const { value } = await reader.read();
      if (value === undefined) throw new Error("the writer ended");
      const lines = (rest + Buffer.from(value).toString()).split("\n");
      rest = lines.pop() ?? "";
      ids.push(...lines);
    }
  };
  const end = async (): Promise<void> => {
    child.kill("SIGKILL");
    await child.exited;
  };
  return { ids, more, end };
}

describe.each([...BOTH_KINDS])("a backup of $name", ({ at }) => {
  test("answers as the pack, opens with its key, and has no log", async () => {
    const pack = at(folder);
    await makePack(pack);
    const before = await answers(pack);
    const { done, copy } = await backUp(pack);
    expect(done).toMatchObject({
      source: mainPath(pack.layout),
      destination: mainPath(copy.layout),
      events: 60,
      nodes: 60,
      encrypted: pack.encryptionKey !== undefined,
    });
    expect(filesOf(copy.layout).filter((path) => existsSync(`${path}-wal`))).toEqual([]);
    expect(inspect(copy)).toMatchObject({ damage: [], eventCount: 60 });
    expect(inspect(pack)).toMatchObject({ damage: [], eventCount: 60 });
    expect(await answers(copy)).toEqual(before);
  });

  test("holds all that was acknowledged before it, while another process writes on", async () => {
    const pack = at(folder);
    await makePack(pack, 5);
    const other = writer(pack);
    try {
      for (let round = 0; round < 4; round += 1) {
        await other.more(2);
        const known = other.ids.length;
        const { done, copy } = await backUp(pack, join(folder, `copies/${round}.pack`));
        const found = inspect(copy);
        expect(found).toMatchObject({ damage: [], eventCount: done.events });
        expect(done.events).toBeGreaterThanOrEqual(5 + known);
      }
    } finally {
      await other.end();
    }
    expect(inspect(pack)).toMatchObject({ damage: [] });
  });

  test("is of one moment: the files stand still while others are acknowledged", async () => {
    const pack = at(folder);
    await makePack(pack, 5);
    const { layout } = pack;
    const pinned = await pinPack({
      layout,
      cipher: cipherOf(pack),
    });
    const other = writer(pack);
    try {
      await other.more(1);
      const before = sums(pack);
      await other.more(8);
      expect(sums(pack)).toBe(before);
      expect(pinned.database.query("SELECT count(*) AS n FROM events").get()).toEqual({ n: 5 });
    } finally {
      await other.end();
      await pinned.release();
    }
    const { eventCount, damage } = inspect(pack);
    expect(damage).toEqual([]);
    expect(eventCount).toBeGreaterThanOrEqual(5 + other.ids.length);
  });

  test("takes no name that is taken, the pack's own least of all", async () => {
    const pack = at(folder);
    await makePack(pack, 3);
    const own = pack.layout.kind === "file" ? pack.layout.path : folder;
    mkdirSync(join(folder, "other"));
    writeFileSync(join(folder, "other/taken"), "a letter");
    symlinkSync(own, join(folder, "other/link"));
    const names = [own, join(folder, "other/link")];
    if (pack.layout.kind === "file") {
      linkSync(own, join(folder, "other/hard"));
      names.push(join(folder, "other/hard"), join(folder, "other"));
    }
    names.push(join(folder, "other/taken"));
    const before = sums(pack);
    for (const name of names) {
      expect(backUp(pack, name)).rejects.toMatchObject({ code: "invalid_argument" });
    }
    expect(sums(pack)).toBe(before);
    expect(readFileSync(join(folder, "other/taken"), "utf8")).toBe("a letter");
    expect(readdirSync(join(folder, "other")).some((name) => name.startsWith("."))).toBeFalse();
  });

  test("leaves nothing when it is stopped", async () => {
    const pack = at(folder);
    await makePack(pack, 3);
    const to = join(folder, "copies/memory.pack");
    const stopped = AbortSignal.abort(new Error("stopped"));
    expect(backUp(pack, to, stopped)).rejects.toThrow("stopped");
    expect(readdirSync(join(folder, "copies"))).toEqual([]);
  });

  test("is made of a pack that nobody may write", async () => {
    const pack = at(folder);
    await makePack(pack, 3);
    for (const path of filesOf(pack.layout)) chmodSync(path, 0o400);
    const names = readdirSync(folder, { recursive: true }).length;
    const { copy } = await backUp(pack, join(tmpdir(), `${folder}-copies/memory.pack`));
    expect(inspect(copy)).toMatchObject({ damage: [], eventCount: 3 });
    expect(readdirSync(folder, { recursive: true }).length).toBe(names);
  });
});

/** Puts a backup in the place of a pack. */
async function restore(backup: SqlitePack, { layout }: SqlitePack) {
  const to = layout.kind === "file" ? layout.path : dirname(layout.databasePath);
  const signal = new AbortController().signal;
  return await backUpPack(configOf(backup), {
    to,
    isReplacement: true,
    signal,
    onProgress: () => {},
  });
}

describe.each([...BOTH_KINDS])("a backup of $name in the place of a pack", ({ at }) => {
  test("opens as the backup did, and what was there opens under its new name", async () => {
    const pack = at(join(folder, "live"));
    mkdirSync(join(folder, "live"));
    await makePack(pack, 5);
    const { copy } = await backUp(pack);
    const before = await answers(copy);
    const store = await openSqlitePack(pack);
    await put(store, { content: "later", second: 90 });
    await store.close();
    const { setAside } = await restore(copy, pack);
    expect(await answers(pack)).toEqual(before);
    expect(inspect(pack)).toMatchObject({ damage: [] });
    const former = setAside.at(-1) ?? "";
    const formerPack: SqlitePack =
      pack.layout.kind === "file"
        ? { ...pack, layout: { kind: "file", path: former } }
        : at(former);
    expect(inspect(formerPack)).toMatchObject({ damage: [], eventCount: 6 });
  });

  test("takes the place of a pack that is damaged, or has the log of another one", async () => {
    const pack = at(join(folder, "live"));
    mkdirSync(join(folder, "live"));
    await makePack(pack, 5);
    const { copy } = await backUp(pack);
    writeFileSync(mainPath(pack.layout), "damaged");
    writeFileSync(`${mainPath(pack.layout)}-wal`, "of nobody");
    const { setAside } = await restore(copy, pack);
    expect(setAside.map((path) => existsSync(path))).not.toContain(false);
    expect(inspect(pack)).toMatchObject({ damage: [], eventCount: 5 });
  });

  test("is refused while the pack is open, and where it is damaged itself", async () => {
    const pack = at(join(folder, "live"));
    mkdirSync(join(folder, "live"));
    await makePack(pack, 5);
    const { copy } = await backUp(pack);
    const store = await openSqlitePack(pack);
    await expect(restore(copy, pack)).rejects.toMatchObject({ code: "pack_in_use" });
    await store.close();
    writeFileSync(mainPath(copy.layout), "damaged");
    await expect(restore(copy, pack)).rejects.toThrow();
    expect(inspect(pack)).toMatchObject({ damage: [], eventCount: 5 });
  });
});
