import { afterEach, describe, expect, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { mainFileOf, settingsForPath } from "../../../../src/app/pack-path.ts";
import {
  meet,
  pipeAddress,
  socketAddress,
  socketFolder,
} from "../../../../src/surface/mcp/link/rendezvous.ts";
import { linkFolder } from "./link-folder.ts";

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const mask = process.umask();
afterEach(() => process.umask(mask));

function addressOf(path: string): string {
  const { pack_path: packPath, db_path: dbPath } = settingsForPath(path);
  return socketAddress(
    "/run/x",
    mainFileOf({ pack_path: packPath || undefined, db_path: dbPath ?? "" }),
  );
}

describe("the address", () => {
  test("is of one pack, short whatever its path", () => {
    const folder = join(linkFolder(), "long".repeat(30));
    const one = addressOf(join(folder, "a.pack"));
    expect(one).toMatch(/^\/run\/x\/[0-9a-f]{24}\.sock$/);
    expect(addressOf(join(folder, "b.pack"))).not.toBe(one);
    expect(addressOf(join(folder, "a.pack"))).toBe(one);
  });

  test("on Windows is a pipe whose name nobody can compute without the secret", () => {
    const address = pipeAddress("secret", "C:\\a.pack");
    expect(address).toMatch(/^\\\\\.\\pipe\\svc-[0-9a-f]{32}$/);
    expect(pipeAddress("secret", "C:\\b.pack")).not.toBe(address);
    expect(pipeAddress("another", "C:\\a.pack")).not.toBe(address);
    expect(pipeAddress("secret", "C:\\a.pack")).toBe(address);
  });

  test("is one, whatever way the path of a pack is written", () => {
    const folder = linkFolder();
    const real = join(folder, "real");
    mkdirSync(real);
    writeFileSync(join(real, "m.pack"), "");
    symlinkSync(real, join(folder, "linked"));
    symlinkSync(join(folder, "linked/m.pack"), join(folder, "other.pack"));
    const expected = addressOf(join(real, "m.pack"));
    expect(addressOf(join(folder, "linked", "m.pack"))).toBe(expected);
    expect(addressOf(join(folder, "other.pack"))).toBe(expected);
    expect(addressOf(`${folder}/linked/../real/m.pack`)).toBe(expected);
  });

  test("of a link to a pack that is still to be made is that of the pack", () => {
    const folder = linkFolder();
    symlinkSync(join(folder, "later.pack"), join(folder, "link.pack"));
    expect(addressOf(join(folder, "link.pack"))).toBe(addressOf(join(folder, "later.pack")));
  });
});

describe("the folder of sockets", () => {
  test("is made for this user alone, whatever the mask", async () => {
    process.umask(0);
    const address = join(linkFolder(), "new/deep/m.sock");
    const meeting = await meet(address);
    expect(statSync(dirname(address)).mode & 0o777).toBe(0o700);
    if (meeting.role === "host") meeting.seat.leave();
  });

  test("is in that of the session where it is this user's alone, else beside the keys", () => {
    const session = linkFolder();
    const choose = (path: string) => socketFolder({ XDG_RUNTIME_DIR: path }, "/home/a/svc");
    expect(choose(session)).toBe(join(session, "svc"));
    const link = join(session, "link");
    symlinkSync(session, link);
    for (const path of [link, "relative", "/nowhere", "/tmp"]) {
      expect(choose(path)).toBe("/home/a/svc/run");
    }
    chmodSync(session, 0o770);
    expect(choose(session)).toBe("/home/a/svc/run");
    if (!isRoot) return;
    chmodSync(session, 0o700);
    chownSync(session, NOBODY, NOBODY);
    expect(choose(session)).toBe("/home/a/svc/run");
  });

  test.each([
    { name: "the group may write to", mode: 0o770 },
    { name: "others may write to, sticky or not", mode: 0o1777 },
    { name: "others may enter", mode: 0o711 },
  ])("is not used when it is one that $name", async ({ mode }) => {
    const folder = linkFolder();
    chmodSync(folder, mode);
    expect(await meet(join(folder, "m.sock"))).toEqual({
      role: "alone",
      reason: "the socket is not used: its folder is open to other users",
    });
  });

  test("is not used when it is a link, also to a folder of this user", async () => {
    const folder = linkFolder();
    symlinkSync(linkFolder(), join(folder, "linked"));
    expect(await meet(join(folder, "linked/m.sock"))).toEqual({
      role: "alone",
      reason: "the socket is not used: its folder is a link, or no folder",
    });
  });
});
