import { expect, test } from "bun:test";
import { existsSync, linkSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { mainPath } from "../../../src/adapters/sqlite/connection/layout.ts";
import { hiddenBeside, type Purpose } from "../../../src/adapters/sqlite/copy/swap-files.ts";
import { UNSAFE_FILE } from "../../../src/domain/errors.ts";
import { put } from "../../contract/samples.ts";
import { filePack } from "../../contract/sqlite-pack.ts";
import { failure, useFolders } from "./folder.ts";
import { makePack } from "./whole-packs.ts";

const { folder, open } = useFolders();

test("copies of processes that were killed are removed at the next opening, those of living ones stay", async () => {
  const pack = filePack(folder());
  const path = mainPath(pack.layout);
  await makePack(pack, 3);
  const purposes: readonly Purpose[] = ["compact", "rekey", "import", "migrate", "restore"];
  const script = `const { hiddenBeside } = await import(${JSON.stringify(new URL("../../../src/adapters/sqlite/copy/swap-files.ts", import.meta.url).pathname)});
    for (const purpose of ${JSON.stringify(purposes)}) await Bun.write(hiddenBeside(${JSON.stringify(path)}, purpose), "forgotten");
    process.kill(process.pid, "SIGKILL");`;
  await Bun.spawn([process.execPath, "-e", script]).exited;
  const living = hiddenBeside(path, "compact");
  writeFileSync(living, "at work");
  const others = (): readonly string[] =>
    readdirSync(dirname(path)).filter((name) => name.startsWith(".") && !living.endsWith(name));
  expect(others()).toHaveLength(purposes.length);
  await open(pack);
  expect(others()).toEqual([]);
  expect(existsSync(living)).toBe(true);
});

test("a pack with a second name is not opened for writing until that is gone", async () => {
  const pack = filePack(folder());
  const path = mainPath(pack.layout);
  const second = `${path}.second`;
  await makePack(pack, 3);
  linkSync(path, second);
  for (const name of [path, second]) {
    expect(await failure(open({ layout: { kind: "file", path: name } }))).toMatchObject({
      code: "storage_failed",
      data: { path: name, reason: UNSAFE_FILE },
    });
  }
  rmSync(second);
  const store = await open(pack);
  await put(store, { second: 9 });
});
