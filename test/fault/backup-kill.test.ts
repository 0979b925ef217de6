/**
 * Kills `svc backup` at random moments and looks at what is left; and fills its disk.
 * The suite runs 6 rounds of each kind. A longer run:
 *   SVC_FAULT_ROUNDS=50 bun test test/fault/backup-kill.test.ts
 */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { svcCommand } from "../../scripts/bench/server.ts";
import { makePack } from "../adapters/sqlite/whole-packs.ts";
import { directoryPack, encrypted, filePack, RAW_KEY } from "../contract/sqlite-pack.ts";
import { DISK } from "./disk-folder.ts";
import { describeOnDisk, openSmallDisk } from "./small-disk.ts";

const ROUNDS = Number(process.env["SVC_FAULT_ROUNDS"] ?? 6);

setDefaultTimeout(60_000 + ROUNDS * 10_000);

const folder = mkdtempSync(join(DISK, "svc-backup-kill-"));
const opened = await openSmallDisk(folder, 1024 * 1024);
afterAll(async () => {
  if (!("reason" in opened)) await opened.close();
  rmSync(folder, { recursive: true, force: true });
});

function start(args: readonly string[], enter = (command: readonly string[]) => command) {
  const command = enter([...svcCommand(), ...args]);
  return Bun.spawn([...command], {
    env: { ...process.env, SVC_ENCRYPTION_ENABLED: "true", SVC_ENCRYPTION_KEY: RAW_KEY },
    stdout: "pipe",
    stderr: "pipe",
  });
}

async function run(args: readonly string[], enter?: (command: readonly string[]) => string[]) {
  const child = start(args, enter);
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, stdout, stderr };
}

async function events(pack: string): Promise<number> {
  const { code, stdout } = await run(["info", pack, "--format", "json"]);
  expect(code).toBe(0);
  return JSON.parse(stdout).event_count;
}

describe.each([
  { kind: "file", make: filePack, name: "memory.pack" },
  { kind: "directory", make: directoryPack, name: "" },
])("a killed backup of a $kind", ({ kind, make, name }) => {
  test("leaves no copy or a whole one, and the next removes what it left", async () => {
    const from = join(folder, kind);
    mkdirSync(from);
    await makePack(encrypted(make(from)), 400);
    const place = join(folder, `copies-${kind}`);
    const copy = join(place, "copy");
    const backup = ["backup", join(from, name), copy];
    const began = performance.now();
    expect(await run(backup)).toMatchObject({ code: 0, stderr: "" });
    const whole = performance.now() - began;
    let left = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      rmSync(copy, { recursive: true, force: true });
      const child = start(backup);
      await Bun.sleep(whole * (0.3 + 0.7 * Math.random()));
      child.kill("SIGKILL");
      await child.exited;
      left += readdirSync(place).filter((entry) => entry.startsWith(".")).length;
      if (existsSync(copy)) expect(await events(copy)).toBe(400);
    }
    console.log(`${kind}: ${ROUNDS} rounds, ${left} times something was left`);
    rmSync(copy, { recursive: true, force: true });
    expect(await run(backup)).toMatchObject({ code: 0, stderr: "" });
    expect(readdirSync(place)).toEqual(["copy"]);
    expect(await events(copy)).toBe(400);
    expect(await events(join(from, name))).toBe(400);
  });
});

describeOnDisk("a backup to a disk without room", opened, (disk) => {
  test("is refused, and leaves nothing there", async () => {
    const from = filePack(join(folder, "large"));
    if (from.layout.kind !== "file") throw new Error("no file");
    mkdirSync(dirname(from.layout.path));
    await makePack(encrypted(from), 400);
    const args = ["backup", from.layout.path, join(disk.path, "copy.pack")];
    const { code, stderr } = await run(args, (command) => [...disk.command(command)]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining("Free some space"),
    });
    expect(readdirSync(disk.outsidePath)).toEqual([]);
  });
});
