import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { mainFileOf, settingsForPath } from "../../../../src/app/pack-path.ts";
import { makeSocketFolder, socketAddress } from "../../../../src/surface/mcp/link/address.ts";
import { linkFolder } from "./link-folder.ts";

function addressOf(path: string): string {
  const { pack_path: packPath, db_path: dbPath } = settingsForPath(path);
  return socketAddress(mainFileOf({ pack_path: packPath || undefined, db_path: dbPath ?? "" }));
}

test("the address is beside the pack's main file", () => {
  const folder = linkFolder();
  expect(addressOf(join(folder, "m.pack"))).toBe(join(folder, "m.pack.sock"));
  expect(addressOf(join(folder, "pack"))).toBe(join(folder, "pack/memory.db.sock"));
});

test("every way to write the path of a pack leads to one address", () => {
  const folder = linkFolder();
  const real = join(folder, "real");
  mkdirSync(real);
  writeFileSync(join(real, "m.pack"), "");
  symlinkSync(real, join(folder, "linked"));
  symlinkSync(join(folder, "linked/m.pack"), join(folder, "other.pack"));
  const expected = join(real, "m.pack.sock");
  expect(addressOf(join(folder, "linked", "m.pack"))).toBe(expected);
  expect(addressOf(join(folder, "other.pack"))).toBe(expected);
  expect(addressOf(`${folder}/linked/../real/m.pack`)).toBe(expected);
});

test("a link to a pack that is still to be made leads to the address of that pack", () => {
  const folder = linkFolder();
  symlinkSync(join(folder, "later.pack"), join(folder, "link.pack"));
  expect(addressOf(join(folder, "link.pack"))).toBe(join(folder, "later.pack.sock"));
});

test("a path too long for a socket gets a short address, its own, in a private folder", () => {
  const folder = join(linkFolder(), "long".repeat(30));
  const [one, other] = [addressOf(join(folder, "a.pack")), addressOf(join(folder, "b.pack"))];
  expect(Buffer.byteLength(one)).toBeLessThanOrEqual(100);
  expect(one).not.toBe(other);
  expect(one).toBe(addressOf(join(folder, "a.pack")));
  makeSocketFolder(one);
  expect(statSync(dirname(one)).mode & 0o777).toBe(0o700);
});

test("length is counted in bytes", () => {
  const folder = `/${"ü".repeat(46)}`;
  expect(dirname(socketAddress(`${folder}/m`))).toBe(folder);
  expect(dirname(socketAddress(`${folder}/mm`))).not.toBe(folder);
});

test("the folder of a pack is made as opening the pack would make it", () => {
  const folder = join(linkFolder(), "new/deep");
  const made = join(folder, "..", "made");
  mkdirSync(made, { recursive: true });
  makeSocketFolder(join(folder, "m.pack.sock"));
  expect(statSync(folder).mode).toBe(statSync(made).mode);
  chmodSync(folder, 0o750);
  makeSocketFolder(join(folder, "m.pack.sock"));
  expect(statSync(folder).mode & 0o777).toBe(0o750);
});
