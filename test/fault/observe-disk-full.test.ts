/** An observation on a disk that becomes full: it ends, says so, leaves nothing half stored, and goes on when there is room again. */
import { Database } from "bun:sqlite";
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cleanEnvironment, svcCommand } from "../../scripts/bench/server.ts";
import { writePictures } from "../surface/cli/pictures.ts";
import { startVisionServer } from "../surface/cli/vision-server.ts";
import { DISK } from "./disk-folder.ts";
import { describeOnDisk, openSmallDisk } from "./small-disk.ts";

setDefaultTimeout(180_000);

const DISK_BYTES = 24 * 1024 * 1024;
/** What is left of it when the observation begins. */
const ROOM_BYTES = 512 * 1024;
const PHOTOS = 30;
/** Of one description, which does not compress. */
const CHARS = 40_000;

const folder = mkdtempSync(join(DISK, "svc-observe-disk-"));
const opened = await openSmallDisk(folder, DISK_BYTES);
afterAll(async () => {
  if (!("reason" in opened)) await opened.close();
  rmSync(folder, { recursive: true, force: true });
});

describeOnDisk("on a full disk", opened, (disk) => {
  const pack = join(disk.path, "memory.pack");

  async function run(args: readonly string[], url: string) {
    const child = Bun.spawn([...disk.command(svcCommand()), ...args], {
      env: {
        ...cleanEnvironment(),
        XDG_CONFIG_HOME: join(folder, ".config"),
        SVC_VISION__BASE_URL: url,
      },
      ...{ stdin: "ignore", stdout: "pipe", stderr: "pipe" },
    });
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { stdout, stderr, code };
  }

  /** Events, and thumbnails that no event names, in a copy: SQLite does not find the disk from here. */
  function standing(): { readonly events: number; readonly orphans: number } {
    for (const end of ["", "-wal"]) {
      const file = join(disk.outsidePath, `memory.pack${end}`);
      if (existsSync(file)) copyFileSync(file, join(folder, `copy.pack${end}`));
      else rmSync(join(folder, `copy.pack${end}`), { force: true });
    }
    using database = new Database(join(folder, "copy.pack"));
    const count = (from: string): number =>
      Number(database.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${from}`).get()?.n);
    const named = "(SELECT blob FROM blob_uses)";
    return { events: count("events"), orphans: count(`blobs WHERE key NOT IN ${named}`) };
  }

  test("an observation ends, tries no further photo, and goes on with what is missing once there is room", async () => {
    const text = crypto.getRandomValues(new Uint8Array(CHARS / 2)).toHex();
    await using server = await startVisionServer([
      { say: "text", text: `A photo of a hash: ${text}` },
    ]);
    writePictures(
      Array.from({ length: PHOTOS }, (_, at) => join(folder, "album", `${10 + at}.png`)),
    );
    expect((await run(["init", pack, "--plain"], server.url)).code).toBe(0);
    disk.fillUpTo(ROOM_BYTES);
    const observing = ["observe", pack, join(folder, "album"), "--user-id", "ada"];
    const full = await run(observing, server.url);
    expect(full.code).toBe(1);
    expect(full.stderr).toContain("the disk is full");
    const stored = standing();
    expect(stored.events).toBeLessThan(PHOTOS);
    expect(stored.orphans).toBe(0);
    expect(full.stderr).toContain(`Not tried: ${PHOTOS - stored.events - 1} more`);
    disk.free();
    expect((await run(observing, server.url)).code).toBe(0);
    expect(standing()).toEqual({ events: PHOTOS, orphans: 0 });
  });
});
