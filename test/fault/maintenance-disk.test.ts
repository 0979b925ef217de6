import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { svcCommand } from "../../scripts/bench/server.ts";
import { makePack } from "../adapters/sqlite/whole-packs.ts";
import { directoryPack, encrypted, filePack, RAW_KEY } from "../contract/sqlite-pack.ts";
import { DISK } from "./disk-folder.ts";
import { describeOnDisk, openSmallDisk } from "./small-disk.ts";

const DISK_BYTES = 8 * 1024 * 1024;

setDefaultTimeout(120_000);

const folder = mkdtempSync(join(DISK, "svc-room-"));
const opened = await openSmallDisk(folder, DISK_BYTES);
afterAll(async () => {
  if (!("reason" in opened)) await opened.close();
  rmSync(folder, { recursive: true, force: true });
});

async function run(command: readonly string[]) {
  const child = Bun.spawn([...command], {
    env: { ...process.env, SVC_NEW_ENCRYPTION_KEY: "a new key" },
    stdout: "pipe",
    stderr: "pipe",
  });
  const stderr = await new Response(child.stderr).text();
  return { code: await child.exited, stderr };
}

describeOnDisk("without room for a copy", opened, (disk) => {
  const inside = (name: string): string => join(disk.path, name);
  const outside = (name: string): string => join(disk.outsidePath, name);

  beforeAll(async () => {
    await makePack(encrypted(filePack(folder)), 300);
    copyFileSync(join(folder, "memory.pack"), outside("memory.pack"));
    disk.fillUpTo(300_000);
  });

  test.each([
    { args: ["compact", inside("memory.pack")] },
    { args: ["rekey", inside("memory.pack")] },
  ])("$args.0 is refused and the pack stays as it is", async ({ args }) => {
    const before = readFileSync(outside("memory.pack"));
    const svc = [...svcCommand(), ...args, "--encryption-key", RAW_KEY];
    const { code, stderr } = await run(disk.command(svc));
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining("Free some space"),
    });
    expect(readFileSync(outside("memory.pack")).equals(before)).toBeTrue();
    expect(readdirSync(disk.outsidePath).sort()).toEqual(["ballast", "memory.pack"]);
  });

  test("migrate is refused and the directory stays", async () => {
    const directory = join(folder, "directory");
    mkdirSync(directory);
    await makePack(directoryPack(directory), 300);
    const svc = [...svcCommand(), "migrate", directory, inside("new.pack")];
    const { code, stderr } = await run(disk.command(svc));
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining("Free some space"),
    });
    expect(readdirSync(disk.outsidePath).sort()).toEqual(["ballast", "memory.pack"]);
  });
});

describeOnDisk("on a disk that is mounted for reading only", opened, (disk) => {
  test.each(["compact", "rekey"])("%s says so and leaves no trace", async (name) => {
    const before = readFileSync(join(disk.outsidePath, "memory.pack"));
    const svc = [...svcCommand(), name, join(disk.path, "memory.pack")];
    const script =
      'mount -o remount,ro "$0" && "$@"; code=$?; mount -o remount,rw "$0"; exit $code';
    const shell = ["sh", "-c", script, disk.path, ...svc, "--encryption-key", RAW_KEY];
    const { code, stderr } = await run(disk.command(shell));
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("read-only") });
    expect(readFileSync(join(disk.outsidePath, "memory.pack")).equals(before)).toBeTrue();
    expect(readdirSync(disk.outsidePath).sort()).toEqual(["ballast", "memory.pack"]);
  });
});
