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
import { chooseCacheDir, chooseLibraryDir } from "../../../src/adapters/native/cache-dir.ts";
import { SvcError } from "../../../src/domain/errors.ts";
import { leftOut, NOT_LINUX, NOT_ROOT } from "../../left-out.ts";

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

const lacking = NOT_LINUX ?? NOT_ROOT;

describe.skipIf(lacking !== undefined)(
  `where a file system is mounted noexec${leftOut(lacking)}`,
  () => {
    const mounted: string[] = [];

    function noexec(name: string): string {
      const dir = join(place, name);
      mkdirSync(dir, { recursive: true });
      const mount = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "noexec", "tmpfs", dir]);
      expect(mount.stderr.toString()).toBe("");
      mounted.push(dir);
      return dir;
    }

    afterEach(() => {
      for (const dir of mounted.splice(0)) Bun.spawnSync(["umount", dir]);
    });

    test("libraries are in the next folder, and everything else stays in the cache folder", () => {
      const environment = { XDG_CACHE_HOME: noexec("xdg"), HOME: join(place, "home") };
      const first = chooseCacheDir(environment, temporary);
      expect(first).toBe(join(place, "xdg", "svc"));
      const dir = chooseLibraryDir(first, environment, temporary);
      expect(dir).toBe(join(place, "home", ".cache", "svc"));
      expect(mode(dir)).toBe(0o700);
      expect(chooseLibraryDir(dir, environment, temporary)).toBe(dir);
    });

    test("a home folder gives way to a temporary one, and that to the one of the session", () => {
      const home = noexec("home");
      const first = chooseCacheDir({ HOME: home }, temporary);
      const own = join(temporary, `svc-cache-${process.getuid?.()}`);
      expect(chooseLibraryDir(first, { HOME: home }, temporary)).toBe(own);
      const forbidden = noexec("forbidden");
      const environment = { HOME: home, XDG_RUNTIME_DIR: join(place, "run") };
      expect(chooseLibraryDir(first, environment, forbidden)).toBe(join(place, "run", "svc"));
    });

    test("the mounts and the variable to set are named if no folder is left", () => {
      const home = noexec("home");
      const forbidden = noexec("forbidden");
      const first = chooseCacheDir({ HOME: home }, forbidden);
      const choose = () => chooseLibraryDir(first, { HOME: home }, forbidden);
      expect(choose).toThrow(SvcError);
      expect(choose).toThrow(`from ${home}, ${forbidden} (mounted noexec); set XDG_CACHE_HOME`);
    });

    test("a folder that others may write into takes no library", () => {
      const first = chooseCacheDir({ HOME: noexec("home") }, temporary);
      mkdirSync(join(temporary, `svc-cache-${process.getuid?.()}`));
      chmodSync(join(temporary, `svc-cache-${process.getuid?.()}`), 0o777);
      expect(() => chooseLibraryDir(first, {}, temporary)).toThrow(SvcError);
    });
  },
);
