/**
 * Kills `svc migrate` between a pack and a database at random moments, over and over, runs it again, and looks at what is there.
 * The suite kills 3 times each way. More: SVC_FAULT_ROUNDS=50 bun test test/fault/migrate-kill.test.ts
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { mainPath } from "../../src/adapters/sqlite/connection/layout.ts";
import { exported } from "../adapters/sqlite/exported.ts";
import { bytesBelow } from "../adapters/sqlite/folder.ts";
import { makePack } from "../adapters/sqlite/whole-packs.ts";
import { encrypted, filePack, RAW_KEY } from "../contract/sqlite-pack.ts";
import { leftOut } from "../left-out.ts";
import { emptyDatabase, unnumbered } from "../packs/stores.ts";
import { dropDatabase, NO_POSTGRES } from "../postgres/databases.ts";
import { PROGRAM } from "../surface/cli/run-svc.ts";
import { DISK } from "./disk-folder.ts";

const KILLS = Number(process.env["SVC_FAULT_ROUNDS"] ?? 3);
const MEMORIES = 1500;

setDefaultTimeout(120_000 + KILLS * 30_000);

let folder = "";
let url = "";
beforeAll(async () => {
  if (NO_POSTGRES !== undefined) return;
  folder = mkdtempSync(join(DISK, "svc-migrate-"));
  url = await emptyDatabase();
  await makePack(encrypted(filePack(join(folder, "pack"))), MEMORIES);
});
afterAll(async () => {
  if (url !== "") await dropDatabase(new URL(url).pathname.slice(1));
  if (folder !== "") rmSync(folder, { recursive: true, force: true });
});

/** Runs `svc migrate`, and kills it when its progress has been seen so often. @returns its exit code; undefined: it was killed */
async function migrate(from: string, to: string, killAfter?: number): Promise<number | undefined> {
  const child = Bun.spawn([...PROGRAM, "migrate", from, to, "--format", "json"], {
    cwd: folder,
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      SVC_ENCRYPTION_ENABLED: "true",
      SVC_ENCRYPTION_KEY: RAW_KEY,
    },
    stdout: "pipe",
    stderr: "pipe",
  });
  let lines = 0;
  let told = "";
  for await (const piece of child.stderr.pipeThrough(new TextDecoderStream())) {
    told += piece;
    lines += piece.split("%").length - 1;
    if (killAfter !== undefined && lines >= killAfter) {
      // Not always at the same place between two lines.
      await Bun.sleep(Math.random() * 150);
      child.kill("SIGKILL");
    }
  }
  const code = await child.exited;
  if (child.signalCode === null && code !== 0) throw new Error(told);
  return child.signalCode === null ? code : undefined;
}

test.skipIf(NO_POSTGRES !== undefined)(
  `a move that is killed and begun again ends with the same, there and back${leftOut(NO_POSTGRES)}`,
  async () => {
    const pack = encrypted(filePack(join(folder, "pack")));
    const before = bytesBelow(join(folder, "pack"));
    let killed = 0;
    for (let round = 0; round < KILLS; round += 1) {
      if ((await migrate(mainPath(pack.layout), url, 1 + 3 * round)) === undefined) killed += 1;
    }
    expect(killed).toBeGreaterThan(1);
    expect(await migrate(mainPath(pack.layout), url)).toBe(0);
    expect(bytesBelow(join(folder, "pack"))).toEqual(before);

    mkdirSync(join(folder, "copy"));
    const copy = encrypted(filePack(join(folder, "copy")));
    const path = mainPath(copy.layout);
    for (let round = 0; round < KILLS && !existsSync(path); round += 1) {
      await migrate(url, path, 1 + 3 * round);
    }
    if (!existsSync(path)) expect(await migrate(url, path)).toBe(0);
    const hidden = readdirSync(join(folder, "copy")).filter((name) => name.startsWith("."));
    expect(hidden.length).toBeLessThan(2);
    expect(unnumbered(exported(copy))).toEqual([...unnumbered(exported(pack))]);
  },
);
