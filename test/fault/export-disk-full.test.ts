import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { DISK } from "./disk-folder.ts";
import { makeFormerPack } from "./former-pack.ts";
import { describeOnDisk, openSmallDisk } from "./small-disk.ts";

const MAIN = resolve(import.meta.dir, "../../src/main.ts");

const folder = mkdtempSync(join(DISK, "svc-disk-"));
const opened = await openSmallDisk(folder, 24 * 1024 * 1024);

afterAll(async () => {
  if (!("reason" in opened)) await opened.close();
  rmSync(folder, { recursive: true, force: true });
});

describeOnDisk("on a full disk", opened, (disk) => {
  const run = (...args: string[]) => {
    const command = disk.command([process.execPath, "--no-env-file", MAIN, ...args]);
    const { exitCode, stderr } = Bun.spawnSync([...command], { env: process.env });
    return { exitCode, stderr: stderr.toString() };
  };
  const names = (): readonly string[] => readdirSync(disk.outsidePath).sort();
  const on = (name: string): string => join(disk.path, name);

  beforeAll(async () => {
    await makeFormerPack(join(folder, "memory.pack"), 3000);
    copyFileSync(join(folder, "memory.pack"), join(disk.outsidePath, "memory.pack"));
    expect(run("export", on("memory.pack"), "--output", join(folder, "out.jsonl"))).toEqual({
      exitCode: 0,
      stderr: "",
    });
    disk.fillUpTo(512 * 1024);
  }, 120_000);

  test("an export is refused and leaves nothing", () => {
    const before = names();
    const { exitCode, stderr } = run("export", on("memory.pack"), "--output", on("out.jsonl"));
    expect(stderr).toContain("the disk is full");
    expect(exitCode).toBe(1);
    expect(names()).toEqual(before);
  }, 120_000);

  test("an import is refused and leaves nothing", () => {
    const before = names();
    const { exitCode, stderr } = run("import", join(folder, "out.jsonl"), on("new.pack"));
    expect(stderr).toContain("the disk is full");
    expect(exitCode).toBe(1);
    expect(names()).toEqual(before);
  }, 120_000);

  test("a rebuild is refused, and the pack answers as before", () => {
    const { exitCode, stderr } = run("rebuild", on("memory.pack"));
    expect(stderr).toContain("the disk is full");
    expect(exitCode).toBe(1);
    disk.free();
    const copy = join(folder, "copy.pack");
    // Where there was no room to move the log into the pack, it is still beside it.
    for (const end of ["", "-wal"].filter((one) => names().includes(`memory.pack${one}`))) {
      copyFileSync(join(disk.outsidePath, `memory.pack${end}`), `${copy}${end}`);
    }
    expect(run("doctor", copy).exitCode).toBe(0);
    expect(run("search", on("memory.pack"), "who borrowed something?").exitCode).toBe(0);
  }, 120_000);
});
