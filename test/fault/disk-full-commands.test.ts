/** Commands on a disk that has no room, or that is mounted for reading only: they say so and leave everything as it was. */
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { cleanEnvironment, svcCommand } from "../../scripts/bench/server.ts";
import { png, write } from "../adapters/footage/samples.ts";
import { makePack } from "../adapters/sqlite/whole-packs.ts";
import { directoryPack, encrypted, filePack, RAW_KEY } from "../contract/sqlite-pack.ts";
import { tree } from "../engine/import/samples.ts";
import { writePictures } from "../surface/cli/pictures.ts";
import { startVisionServer } from "../surface/cli/vision-server.ts";
import { DISK } from "./disk-folder.ts";
import { makeFormerPack } from "./former-pack.ts";
import { describeOnDisk, openSmallDisk } from "./small-disk.ts";

setDefaultTimeout(180_000);

const PHOTOS = 30;
/** Some transactions of an import. */
const MESSAGES = 2500;
/** Of one description, which does not compress. */
const CHARS = 40_000;

const folder = mkdtempSync(join(DISK, "svc-room-"));
const opened = await openSmallDisk(folder, 24 * 1024 * 1024);
afterAll(async () => {
  if (!("reason" in opened)) await opened.close();
  rmSync(folder, { recursive: true, force: true });
});

async function run(command: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = Bun.spawn([...command], {
    env: { ...cleanEnvironment(), XDG_CONFIG_HOME: join(folder, ".config"), ...env },
    ...{ stdin: "ignore", stdout: "pipe", stderr: "pipe" },
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stderr, stdout };
}

describeOnDisk("on a small disk", opened, (disk) => {
  const on = (name: string): string => join(disk.path, name);
  const outside = (name: string): string => join(disk.outsidePath, name);
  const names = (): readonly string[] => readdirSync(disk.outsidePath).sort();
  const svc = (args: readonly string[], env = {}) =>
    run(disk.command([...svcCommand(), ...args]), env);
  const keyed = {
    SVC_ENCRYPTION_ENABLED: "true",
    SVC_ENCRYPTION_KEY: RAW_KEY,
    SVC_NEW_ENCRYPTION_KEY: "a new key",
  };

  beforeAll(async () => {
    await makePack(encrypted(filePack(folder)), 300);
    copyFileSync(join(folder, "memory.pack"), outside("keyed.pack"));
    mkdirSync(join(folder, "directory"));
    await makePack(directoryPack(join(folder, "directory")), 300);
    await makeFormerPack(join(folder, "former.pack"), 1500);
    copyFileSync(join(folder, "former.pack"), outside("former.pack"));
    const whole = await svc(["export", on("former.pack"), "--output", join(folder, "out.jsonl")]);
    expect(whole).toMatchObject({ code: 0, stderr: "" });
    disk.fillUpTo(300_000);
  });

  test.each([
    { args: ["compact", on("keyed.pack")], env: keyed },
    { args: ["rekey", on("keyed.pack")], env: keyed },
    { args: ["backup", on("keyed.pack"), on("copy.pack")], env: keyed },
    { args: ["migrate", join(folder, "directory"), on("new.pack")], env: {} },
    { args: ["export", on("former.pack"), "--output", on("out.jsonl")], env: {} },
    { args: ["import", join(folder, "out.jsonl"), on("new.pack")], env: {} },
  ])(
    "$args.0 is refused where there is no room, and leaves all as it was",
    async ({ args, env }) => {
      const [before, there] = [readFileSync(outside("keyed.pack")), names()];
      const { code, stderr } = await svc(args, env);
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringContaining("Free some space"),
      });
      expect(readFileSync(outside("keyed.pack")).equals(before)).toBeTrue();
      expect(names()).toEqual(there);
    },
  );

  test.each(["compact", "rekey"])(
    "%s of a disk for reading only says so and leaves no trace",
    async (name) => {
      const [before, there] = [readFileSync(outside("keyed.pack")), names()];
      const script =
        'mount -o remount,ro "$0" && "$@"; code=$?; mount -o remount,rw "$0"; exit $code';
      const shell = ["sh", "-c", script, disk.path, ...svcCommand(), name, on("keyed.pack")];
      const { code, stderr } = await run(disk.command(shell), keyed);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("read-only") });
      expect(readFileSync(outside("keyed.pack")).equals(before)).toBeTrue();
      expect(names()).toEqual(there);
    },
  );

  test("rebuild is refused, and the pack answers as before", async () => {
    const { code, stderr } = await svc(["rebuild", on("former.pack")]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining("the disk is full"),
    });
    disk.free();
    // Where there was no room to move the log into the pack, it is still beside it.
    for (const end of ["", "-wal"].filter((one) => names().includes(`former.pack${one}`))) {
      copyFileSync(outside(`former.pack${end}`), join(folder, `copy.pack${end}`));
    }
    expect((await run([...svcCommand(), "doctor", join(folder, "copy.pack")])).code).toBe(0);
    expect((await svc(["search", on("former.pack"), "who borrowed something?"])).code).toBe(0);
  });

  test("a photo is refused where the folder for temporary files is full, and leaves nothing there", async () => {
    const noise = png(400, 400, (x, y) => [(x * y) % 256, (x * 7 + y * y) % 256, (y * 13) % 256]);
    const photo = write(join(folder, "noise.png"), noise);
    const there = names();
    disk.fillUpTo(8192);
    const openOne = join(import.meta.dir, "../adapters/footage/open-one.ts");
    const command = disk.command([process.execPath, openOne, photo]);
    const { stdout, stderr } = await run(command, { TMPDIR: disk.path });
    expect(`${stdout}${stderr}`).toStartWith(
      `disk_full: the folder ${disk.path} has no room for pictures`,
    );
    disk.free();
    expect(names()).toEqual(there);
    expect((await run(command, { TMPDIR: disk.path })).stdout).toStartWith("photo, 400 x 400");
  });

  /** Events, and thumbnails that no event names, in a copy: SQLite does not find the disk from here. */
  function standing(pack = "photos.pack"): { readonly events: number; readonly orphans: number } {
    for (const end of ["", "-wal"]) {
      rmSync(join(folder, `copy.pack${end}`), { force: true });
      const file = outside(`${pack}${end}`);
      if (existsSync(file)) copyFileSync(file, join(folder, `copy.pack${end}`));
    }
    using database = new Database(join(folder, "copy.pack"));
    const count = (from: string): number =>
      Number(database.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${from}`).get()?.n);
    const named = "(SELECT blob FROM blob_uses)";
    return { events: count("events"), orphans: count(`blobs WHERE key NOT IN ${named}`) };
  }

  test("an import ends with what it admitted, and goes on without doubling once there is room", async () => {
    const said = (at: number) => ({ id: `m${at}`, role: "user", text: `Note ${at} of many.` });
    const chats = Array.from({ length: MESSAGES }, (_, at) => tree(`c${at}`, [said(at)]));
    const source = join(folder, "chats.json");
    writeFileSync(source, JSON.stringify(chats));
    disk.free();
    expect((await svc(["init", on("chats.pack"), "--plain"])).code).toBe(0);
    disk.fillUpTo(3 * 1024 * 1024);
    const importing = ["import", source, on("chats.pack"), "--user-id", "ada", "--format", "json"];
    const full = await svc(importing);
    expect([full.code, full.stderr]).toEqual([1, expect.stringContaining("the disk is full")]);
    const { events } = standing("chats.pack");
    expect(events).toBeGreaterThan(0);
    expect(events).toBeLessThan(MESSAGES);
    disk.free();
    const rest = await svc(importing);
    expect(JSON.parse(rest.stdout).records.said).toMatchObject({
      ...{ seen: MESSAGES, unchanged: events, new: MESSAGES - events },
    });
    expect(standing("chats.pack").events).toBe(MESSAGES);
    for (const name of names()) if (name.startsWith("chats.pack")) rmSync(outside(name));
  });

  test("an observation ends, tries no further photo, and goes on with what is missing once there is room", async () => {
    const text = crypto.getRandomValues(new Uint8Array(CHARS / 2)).toHex();
    const say = { say: "text", text: `A photo of a hash: ${text}` } as const;
    await using server = await startVisionServer([say]);
    const photos = Array.from({ length: PHOTOS }, (_, at) =>
      join(folder, "album", `${10 + at}.png`),
    );
    writePictures(photos);
    const env = { SVC_VISION__BASE_URL: server.url };
    expect((await svc(["init", on("photos.pack"), "--plain"])).code).toBe(0);
    disk.fillUpTo(512 * 1024);
    const observing = ["observe", on("photos.pack"), join(folder, "album"), "--user-id", "ada"];
    const full = await svc(observing, env);
    expect(full.code).toBe(1);
    expect(full.stderr).toContain("the disk is full");
    const stored = standing();
    expect(stored.events).toBeLessThan(PHOTOS);
    expect(stored.orphans).toBe(0);
    expect(full.stderr).toContain(`Not tried: ${PHOTOS - stored.events - 1} more`);
    disk.free();
    expect((await svc(observing, env)).code).toBe(0);
    expect(standing()).toEqual({ events: PHOTOS, orphans: 0 });
  });
});
