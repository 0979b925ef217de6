import { describe, expect, test } from "bun:test";
import {
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { filesOf, mainPath } from "../../../src/adapters/sqlite/connection/layout.ts";
import { backUpFiles } from "../../../src/adapters/sqlite/copy/backup-files.ts";
import { inspectPack } from "../../../src/adapters/sqlite/read/inspect.ts";
import { FOREIGN_LOG, PACK_MOVED } from "../../../src/domain/errors.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { put } from "../../contract/samples.ts";
import type { SqlitePack } from "../../contract/sqlite-pack.ts";
import { bytesBelow, failure, useFolders } from "./folder.ts";
import { BOTH_KINDS, cipherOf, KINDS, makePack } from "./whole-packs.ts";

const { folder, open } = useFolders();

const look = (pack: SqlitePack) =>
  inspectPack({
    layout: pack.layout,
    checkIntegrity: true,
    cipher: cipherOf(pack),
  });

function backUp(pack: SqlitePack, to: SqlitePack) {
  return backUpFiles({
    layout: pack.layout,
    target: to.layout,
    cipher: cipherOf(pack),
    signal: new AbortController().signal,
    onProgress: () => {},
  });
}

const bytesOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** Copies the files of a pack over those of another, in place, as `cp` does. */
function copyOver(from: SqlitePack, to: SqlitePack): void {
  const targets = filesOf(to.layout);
  for (const [i, file] of filesOf(from.layout).entries()) {
    writeFileSync(targets[i] ?? "", readFileSync(file));
  }
}

async function putMany(store: Store, from: number, count: number): Promise<void> {
  for (let second = from; second < from + count; second += 1) {
    await put(store, { second, content: `text ${second} ${"and more ".repeat(40)}` });
  }
}

describe.each([...BOTH_KINDS])("a copy of $name", (kind) => {
  test.each([1, 5, 60])(
    "is refused beside the log of a crash with %d later texts",
    async (later) => {
      const [pack, backup, crashed] = [folder(), folder(), folder()].map(kind.at);
      if (pack === undefined || backup === undefined || crashed === undefined) throw new Error();
      await makePack(pack, 20);
      const store = await open(pack);
      await backUp(pack, backup);
      await putMany(store, 100, later);
      // As a killed process leaves it.
      cpSync(join(mainPath(pack.layout), ".."), join(mainPath(crashed.layout), ".."), {
        recursive: true,
      });
      copyOver(backup, crashed);
      const before = bytesBelow(join(mainPath(crashed.layout), ".."));
      for (const use of [() => open(crashed), async () => look(crashed)]) {
        expect(await failure(use())).toMatchObject({
          code: "storage_failed",
          data: { reason: FOREIGN_LOG },
          message: expect.stringContaining(`${mainPath(crashed.layout)}-wal`),
        });
      }
      const now = bytesBelow(join(mainPath(crashed.layout), ".."));
      for (const [name, hash] of Object.entries(before)) {
        if (!name.endsWith("-shm")) expect(now[name]).toBe(hash);
      }
      for (const file of filesOf(crashed.layout)) {
        if (existsSync(`${file}-wal`)) renameSync(`${file}-wal`, `${file}-wal.aside`);
      }
      expect(look(crashed)).toMatchObject({ damage: [], eventCount: 20 });
    },
  );

  test("is refused beside a later log where it was copied while the first was in use", async () => {
    const [pack, copy, crashed] = [folder(), folder(), folder()].map(kind.at);
    if (pack === undefined || copy === undefined || crashed === undefined) throw new Error();
    for (const each of [pack, copy]) await makePack(each, 1);
    const store = await open(pack);
    await putMany(store, 0, 3);
    copyOver(pack, copy);
    await store.close();
    await putMany(await open(pack), 100, 3);
    cpSync(join(mainPath(pack.layout), ".."), join(mainPath(crashed.layout), ".."), {
      recursive: true,
    });
    copyOver(copy, crashed);
    expect(await failure(open(crashed))).toMatchObject({ data: { reason: FOREIGN_LOG } });
  });

  test("put over a pack that is open stops its writes, and stays what it is", async () => {
    const [pack, backup] = [folder(), folder()].map(kind.at);
    if (pack === undefined || backup === undefined) throw new Error();
    await makePack(pack, 20);
    const store = await open(pack);
    await backUp(pack, backup);
    await putMany(store, 100, 5);
    copyOver(backup, pack);
    for (let tries = 0; tries < 2; tries += 1) {
      expect(await failure(put(store, { second: 900 }))).toMatchObject({
        code: "storage_failed",
        data: { reason: PACK_MOVED },
        message: expect.stringContaining(".set-aside-"),
      });
    }
    await store.close();
    const files = readdirSync(join(mainPath(pack.layout), ".."));
    expect(files.filter((name) => name.includes(".set-aside-"))).toHaveLength(1);
    expect(look(pack)).toMatchObject({ damage: [], eventCount: 20 });
  });
});

test("a pack that is copied away and back, or touched, goes on", async () => {
  const [pack, copy] = [folder(), folder()].map((at) => KINDS[0]?.at(at));
  if (pack === undefined || copy === undefined) throw new Error();
  await makePack(pack, 3);
  const store = await open(pack);
  copyFileSync(mainPath(pack.layout), mainPath(copy.layout));
  copyOver(copy, pack);
  await putMany(store, 100, 2);
  await store.close();
  expect(look(pack)).toMatchObject({ damage: [], eventCount: 5 });
});

test.each(["process.exit(0)", "throw new Error('x')", "process.kill(process.pid, 'SIGINT')"])(
  "a process that ends by %s raises no alarm about its log",
  async (end) => {
    const pack = KINDS[1]?.at(folder());
    if (pack === undefined) throw new Error();
    const script = `const { openSqlitePack } = await import(${JSON.stringify(join(import.meta.dir, "../../contract/sqlite-pack.ts"))});
      const { put } = await import(${JSON.stringify(join(import.meta.dir, "../../contract/samples.ts"))});
      const store = await openSqlitePack(${JSON.stringify(pack)});
      for (let second = 0; second < 3; second += 1) await put(store, { second });
      ${end};`;
    await Bun.spawn([process.execPath, "-e", script], { stderr: "ignore" }).exited;
    expect(look(pack)).toMatchObject({ eventCount: 3, damage: [] });
  },
);

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("a second %s does not keep a command from closing its pack", async (signal, code) => {
  const pack = KINDS[1]?.at(folder());
  if (pack === undefined) throw new Error();
  const script = `const { openSqlitePack } = await import(${JSON.stringify(join(import.meta.dir, "../../contract/sqlite-pack.ts"))});
    const { put } = await import(${JSON.stringify(join(import.meta.dir, "../../contract/samples.ts"))});
    const { exitOnSignal } = await import(${JSON.stringify(join(import.meta.dir, "../../../src/surface/cli/signals.ts"))});
    exitOnSignal();
    // Before the pack is closed, which happens last.
    process.on("exit", () => process.kill(process.pid, "${signal}"));
    const store = await openSqlitePack(${JSON.stringify(pack)});
    for (let second = 0; second < 3; second += 1) await put(store, { second });
    process.kill(process.pid, "${signal}");
    setInterval(() => {}, 1000);`;
  const child = Bun.spawn([process.execPath, "-e", script], { stderr: "ignore" });
  expect(await child.exited).toBe(code);
  expect(look(pack)).toMatchObject({ eventCount: 3, damage: [] });
  expect(filesOf(pack.layout).some((file) => bytesOf(`${file}-wal`) > 0)).toBeFalse();
});
