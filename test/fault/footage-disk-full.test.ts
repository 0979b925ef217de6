import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { png, write } from "../adapters/footage/samples.ts";
import { describeOnDisk, openSmallDisk } from "./small-disk.ts";

const OPEN_ONE = join(import.meta.dir, "../adapters/footage/open-one.ts");

const folder = mkdtempSync(join(tmpdir(), "svc-disk-"));
const opened = await openSmallDisk(folder, 4 * 1024 * 1024);

afterAll(async () => {
  if (!("reason" in opened)) await opened.close();
  rmSync(folder, { recursive: true, force: true });
});

describeOnDisk("a photo, where the folder for temporary files is full", opened, (disk) => {
  test("is refused with disk_full, and leaves nothing there", () => {
    const photo = write(
      join(folder, "noise.png"),
      png(400, 400, (x, y) => [(x * y) % 256, (x * 7 + y * y) % 256, (y * 13) % 256]),
    );
    disk.fillUpTo(8192);
    const command = disk.command([process.execPath, OPEN_ONE, photo]);
    const env = { ...process.env, TMPDIR: disk.path };
    const { stdout, stderr } = Bun.spawnSync([...command], { env });
    expect(`${stdout}${stderr}`).toStartWith(
      `disk_full: the folder ${disk.path} has no room for pictures`,
    );
    expect(readdirSync(disk.outsidePath)).toEqual(["ballast"]);
    disk.free();
    expect(Bun.spawnSync([...command], { env }).stdout.toString()).toStartWith("photo, 400 x 400");
  });
});
