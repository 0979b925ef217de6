import { describe, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { filesOf } from "../../../src/adapters/sqlite/connection/layout.ts";
import { inspectPack, openToInspect } from "../../../src/adapters/sqlite/read/inspect.ts";
import { put } from "../../contract/samples.ts";
import type { SqlitePack } from "../../contract/sqlite-pack.ts";
import { useFolders } from "./folder.ts";
import { BOTH_KINDS, cipherOf, makePack } from "./whole-packs.ts";

const SAMPLE_PACKS = join(import.meta.dir, "../../contract/sqlite-pack.ts");
const SAMPLES = join(import.meta.dir, "../../contract/samples.ts");

const { folder, open } = useFolders();

function look(pack: SqlitePack, checkIntegrity = true) {
  return inspectPack({
    layout: pack.layout,
    checkIntegrity,
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

describe.each([...BOTH_KINDS])("the log of $name", (kind) => {
  test("is emptied some seconds after the last write, and a copy of the files is complete", async () => {
    const pack = kind.at(folder());
    const store = await open(pack);
    await put(store, { content: "the otter swims" });
    expect(logSize(pack)).toBeGreaterThan(0);
    await untilLogIsEmpty(pack);
    const copy = kind.at(folder());
    copyFiles(pack, copy);
    expect(look(copy)).toMatchObject({ eventCount: 1, damage: [] });
    await put(store, { content: "the heron waits", second: 2 });
    await untilLogIsEmpty(pack);
    const later = kind.at(folder());
    copyFiles(pack, later);
    expect(look(later)).toMatchObject({ eventCount: 2, damage: [] });
  });

  test("is not lost where a writer was killed and somebody who only looks closes last", async () => {
    const pack = kind.at(folder());
    await makePack(pack, 3);
    const { layout } = pack;
    const reading = openToInspect({ layout, cipher: cipherOf(pack) });
    const script = `const { openSqlitePack } = await import(${JSON.stringify(SAMPLE_PACKS)});
      const { anAdmission, anEvent } = await import(${JSON.stringify(SAMPLES)});
      const store = await openSqlitePack(${JSON.stringify(pack)});
      await store.admit(anAdmission([anEvent({ id: crypto.randomUUID(), userId: "bob" })]));
      process.kill(process.pid, "SIGKILL");`;
    await Bun.spawn([process.execPath, "-e", script]).exited;
    reading.close();
    expect(look(pack)).toMatchObject({ eventCount: 4, damage: [] });
    const store = await open(pack);
    await store.close();
    expect(look(pack)).toMatchObject({ eventCount: 4 });
    expect(logSize(pack)).toBe(0);
  });
});
