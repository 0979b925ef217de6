/** A new pack on a disk, for a user whose home folder ends with the machine or the container. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { leftOut, NOT_LINUX, NOT_ROOT } from "../left-out.ts";
import { PROGRAM } from "../surface/cli/run-svc.ts";
import { DISK } from "./disk-folder.ts";

// Each test starts the program several times.
setDefaultTimeout(120_000);

const TMPFS = 0x01021994;
const OVERLAY = 0x794c7630;
const NO_DISK = [TMPFS, OVERLAY].includes(statfsSync(DISK).type) ? "it takes a disk" : undefined;

const lacking = NOT_LINUX ?? NOT_ROOT ?? NO_DISK;

describe.skipIf(lacking !== undefined)(
  `where the home folder is in memory${leftOut(lacking)}`,
  () => {
    let place = "";
    beforeEach(() => {
      place = mkdtempSync(join(DISK, "svc-lasting-"));
      mkdirSync(join(place, "home"));
      const mount = ["mount", "-t", "tmpfs", "tmpfs", join(place, "home")];
      expect(Bun.spawnSync(mount).stderr.toString()).toBe("");
    });
    afterEach(() => {
      Bun.spawnSync(["umount", join(place, "home")]);
      rmSync(place, { recursive: true, force: true });
    });

    function svc(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
      const { PATH = "", XDG_CACHE_HOME = join(tmpdir(), "svc-lasting-cache") } = process.env;
      const { exitCode, stderr } = Bun.spawnSync([...PROGRAM, ...args], {
        cwd: place,
        env: { PATH, XDG_CACHE_HOME, HOME: join(place, "home"), SVC_KEY_STORE: "file", ...env },
      });
      return { code: exitCode, stderr: stderr.toString() };
    }
    const files = (): readonly string[] =>
      readdirSync(place, { recursive: true, encoding: "utf8" });
    const KEY = /\.key$/;

    test("init and serve make no pack, keep no key, and say what to do", () => {
      for (const args of [
        ["init", "a.pack"],
        ["serve", "--db-path", "a.pack", "--port", "0"],
      ]) {
        const { code, stderr } = svc(args);
        expect(code).toBe(2);
        expect(stderr).toContain(
          `${join(place, "a.pack")}: was not made: its key would be kept in`,
        );
        expect(stderr).toContain(`XDG_CONFIG_HOME=${place}`);
        expect(files().filter((name) => KEY.test(name) || name.includes("a.pack"))).toEqual([]);
      }
    });

    test("a pack is made with a key that is given, without one, and with its key beside it", () => {
      const given = { SVC_ENCRYPTION_ENABLED: "true", SVC_ENCRYPTION_KEY: "five random words" };
      expect(svc(["init", "a.pack"], given).code).toBe(0);
      expect(svc(["init", "b.pack", "--plain"]).code).toBe(0);
      expect(svc(["init", "c.pack"], { XDG_CONFIG_HOME: place }).code).toBe(0);
      expect(files().filter((name) => KEY.test(name))).toEqual([
        expect.stringMatching(/^svc\/keys/),
      ]);
      expect(svc(["list", "c.pack"], { XDG_CONFIG_HOME: place }).code).toBe(0);
    });
  },
);
