import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chooseCacheDir } from "../../../src/adapters/native/cache-dir.ts";

let place = "";
let temporary = "";

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "svc-test-"));
  temporary = join(place, "tmp");
  mkdirSync(temporary);
});

afterEach(() => rmSync(place, { recursive: true, force: true }));

function mode(path: string): number {
  return statSync(path).mode & 0o777;
}

describe("chooseCacheDir", () => {
  test("makes a private folder below XDG_CACHE_HOME", () => {
    const dir = chooseCacheDir({ XDG_CACHE_HOME: join(place, "xdg"), HOME: place }, temporary);
    expect(dir).toBe(join(place, "xdg", "svc"));
    expect(mode(dir)).toBe(0o700);
  });

  test.each([
    { name: "unset", xdg: undefined },
    { name: "empty", xdg: "" },
    { name: "relative", xdg: "cache" },
  ])("uses the home folder when XDG_CACHE_HOME is $name", ({ xdg }) => {
    const dir = chooseCacheDir({ XDG_CACHE_HOME: xdg, HOME: place }, temporary);
    expect(dir).toBe(join(place, ".cache", "svc"));
    expect(mode(dir)).toBe(0o700);
  });

  test("uses the folder of Windows for files of this machine before the home folder", () => {
    const local = join(place, "Local");
    const dir = chooseCacheDir({ LOCALAPPDATA: local, HOME: place }, temporary);
    expect(dir).toBe(join(local, "svc", "cache"));
  });

  test.each([
    { name: "missing", home: undefined },
    { name: "empty", home: "" },
    { name: "not a folder", home: "/dev/null" },
  ])("uses a private folder per user among the temporary ones when HOME is $name", ({ home }) => {
    const dir = chooseCacheDir({ HOME: home }, temporary);
    expect(dir).toBe(join(temporary, `svc-cache-${process.getuid?.()}`));
    expect(mode(dir)).toBe(0o700);
    expect(chooseCacheDir({ HOME: home }, temporary)).toBe(dir);
  });

  test("refuses a folder that others may write into and takes a fresh one", () => {
    const open = join(place, ".cache", "svc");
    mkdirSync(open, { recursive: true });
    chmodSync(open, 0o777);
    const dir = chooseCacheDir({ HOME: place }, temporary);
    expect(dir.startsWith(join(temporary, "svc-cache-"))).toBe(true);
    expect(mode(dir)).toBe(0o700);
    expect(chooseCacheDir({ HOME: place }, temporary)).not.toBe(dir);
  });

  test("refuses a symbolic link and takes a fresh folder", () => {
    mkdirSync(join(place, ".cache"));
    mkdirSync(join(place, "elsewhere"), { mode: 0o700 });
    symlinkSync(join(place, "elsewhere"), join(place, ".cache", "svc"));
    const dir = chooseCacheDir({ HOME: place }, temporary);
    expect(dir.startsWith(join(temporary, "svc-cache-"))).toBe(true);
  });

  test("passes over a place where a file is in the way", () => {
    writeFileSync(join(place, ".cache"), "");
    const dir = chooseCacheDir({ HOME: place }, temporary);
    expect(dir).toBe(join(temporary, `svc-cache-${process.getuid?.()}`));
  });
});
