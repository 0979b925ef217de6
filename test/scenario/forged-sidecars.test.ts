/** Files that somebody puts beside a pack, against the built program: SVC_EXE, else dist/svc. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { leftOut, NOT_ROOT } from "../left-out.ts";
import { fingerprint, forgedJournal, forgedLog } from "./forged.ts";
import { usePlace } from "./place.ts";
import { NOBODY, programForOthers } from "./stranger.ts";

setDefaultTimeout(120_000);

const EXECUTABLE = resolve(process.env["SVC_EXE"] ?? "dist/svc");
const IS_SUPERUSER = process.getuid?.() === 0;
/** Users of this machine without rights. */
const VICTIM = NOBODY;
const OTHER = NOBODY - 1;
/** A start that waits for a pipe, or writes until the disk is full, is ended by it. */
const LIMIT_MS = 60_000;

const place = usePlace("forged");
const TEXT = "the spare key lies below the blue pot";
const KINDS = ["encrypted", "unencrypted"] as const;
type Kind = (typeof KINDS)[number];

type Run = { readonly code: number | null; readonly text: string };

function svc(args: readonly string[], uid?: number): Run {
  const child = spawnSync(uid === undefined ? EXECUTABLE : forOthers, [...args], {
    cwd: place.root,
    env: {
      ...place.environment(),
      ...(uid === undefined ? {} : { XDG_CACHE_HOME: join(place.root, "cache") }),
      PATH: process.env["PATH"] ?? "",
      SVC_KEY_STORE: "file",
    },
    encoding: "utf8",
    timeout: LIMIT_MS,
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  return { code: child.status, text: `${child.stdout}${child.stderr}` };
}

let forOthers = EXECUTABLE;

beforeAll(() => {
  if (IS_SUPERUSER) forOthers = programForOthers(EXECUTABLE, place.root);
  for (const kind of KINDS) {
    const pack = join(place.root, `${kind}.pack`);
    expect(svc(["init", pack, ...(kind === "encrypted" ? [] : ["--plain"])]).code).toBe(0);
    expect(svc(["store", pack, TEXT]).code).toBe(0);
  }
});

let folders = 0;

/** A copy of a pack in a folder of its own. */
function packOf(kind: Kind): string {
  folders += 1;
  const folder = join(place.root, `f${folders}`);
  mkdirSync(folder);
  const pack = join(folder, "memory.pack");
  cpSync(join(place.root, `${kind}.pack`), pack);
  return pack;
}

/** The memories that a pack lists, without the model. */
function listed(pack: string): { id: string; content: string; lifecycle_state: string }[] {
  return JSON.parse(svc(["list", pack, "--state", "all", "--format", "json"]).text).nodes;
}

/** Runs readers and a writer; all answer, and the pack keeps its bytes under the readers. */
function expectUnharmed(pack: string): void {
  const before = fingerprint(join(pack, ".."));
  expect(svc(["info", pack])).toMatchObject({ code: 0 });
  expect(svc(["doctor", pack]).text).toContain("every page is sound");
  expect(fingerprint(join(pack, ".."))).toEqual(before);
  const found = listed(pack);
  expect(found).toMatchObject([{ content: TEXT, lifecycle_state: "tentative" }]);
  expect(svc(["archive", pack, found[0]?.id ?? "", "--yes"])).toMatchObject({ code: 0 });
  expect(listed(pack)).toMatchObject([{ content: TEXT, lifecycle_state: "archived" }]);
  expect(statSync(pack).size).toBeLessThan(20e6);
}

/** Readers and a writer refuse, name the file, and change nothing. */
function expectRefused(pack: string, named: string, why: string, uid?: number): void {
  const before = fingerprint(join(pack, ".."));
  for (const args of [
    ["info", pack],
    ["store", pack, "the bicycle stands in the cellar"],
  ]) {
    const { code, text } = svc(args, uid);
    expect(text).toContain(named);
    expect(text).toContain(why);
    expect(code).toBe(1);
  }
  expect(fingerprint(join(pack, ".."))).toEqual(before);
}

describe.each([...KINDS])("beside an %s pack", (kind) => {
  test("a journal that cuts it to one page is not obeyed", () => {
    const journal = forgedJournal(1);
    const pack = packOf(kind);
    writeFileSync(`${pack}-journal`, journal);
    expectUnharmed(pack);
  });

  test("a link named as its log is refused", () => {
    const pack = packOf(kind);
    const precious = join(pack, "../precious");
    writeFileSync(precious, "text of somebody");
    symlinkSync(precious, `${pack}-wal`);
    expectRefused(pack, `${pack}-wal`, "is a link");
    expect(readFileSync(precious, "utf8")).toBe("text of somebody");
  });

  test.skipIf(NOT_ROOT !== undefined)(
    `a log of another user is refused${leftOut(NOT_ROOT)}`,
    () => {
      const pack = packOf(kind);
      writeFileSync(`${pack}-wal`, forgedLog(Buffer.alloc(8192)));
      chownSync(`${pack}-wal`, OTHER, OTHER);
      expectRefused(pack, `${pack}-wal`, `belongs to another user (uid ${OTHER})`);
    },
  );

  test("a log of which no frame is the pack's own changes nothing", () => {
    const pack = packOf(kind);
    const log = forgedLog(Buffer.alloc(8192));
    // Its last frame is cut off, and its numbers are as large as they can be.
    const huge = forgedLog(Buffer.alloc(8192), 2 ** 32 - 1).subarray(0, 4000);
    for (const bytes of kind === "encrypted" ? [log, huge] : [huge]) {
      writeFileSync(`${pack}-wal`, bytes);
      expect(svc(["info", pack]).code).toBe(0);
    }
    expectUnharmed(pack);
  });

  test("an index full of made-up numbers is not believed", () => {
    const pack = packOf(kind);
    writeFileSync(`${pack}-shm`, Buffer.alloc(65_536, 0xff));
    expect(listed(pack)).toMatchObject([{ content: TEXT }]);
    expect(svc(["doctor", pack]).text).toContain("every page is sound");
    expect(existsSync(`${pack}-shm`)).toBe(false);
  });
});

describe.skipIf(NOT_ROOT !== undefined)(
  `in a folder where others may make files${leftOut(NOT_ROOT)}`,
  () => {
    /** A folder like /tmp with a pack of a user without rights. */
    function sharedPack(kind: Kind): string {
      const pack = packOf(kind);
      chmodSync(place.root, 0o711);
      chmodSync(join(pack, ".."), 0o1777);
      chownSync(pack, VICTIM, VICTIM);
      chmodSync(pack, 0o600);
      return pack;
    }

    test.each([
      { suffix: "-journal", bytes: forgedJournal(200_000) },
      { suffix: "-wal", bytes: forgedLog(Buffer.alloc(8192)) },
    ])("a user without rights is not hurt by another one's $suffix", ({ suffix, bytes }) => {
      const pack = sharedPack("unencrypted");
      writeFileSync(`${pack}${suffix}`, bytes);
      chmodSync(`${pack}${suffix}`, 0o666);
      for (const uid of [OTHER, 0]) {
        chownSync(`${pack}${suffix}`, uid, uid);
        expectRefused(pack, `${pack}${suffix}`, "belongs to another user", VICTIM);
      }
    });

    test("the superuser uses a pack of another user together with that user's log", () => {
      const pack = sharedPack("unencrypted");
      writeFileSync(`${pack}-wal`, "");
      chownSync(`${pack}-wal`, VICTIM, VICTIM);
      expect(svc(["info", pack]).code).toBe(0);
    });
  },
);

describe("the pack itself", () => {
  test.each([...KINDS])(
    "an %s pack is used through a link, with the files beside the real one",
    (kind) => {
      const pack = packOf(kind);
      const link = join(place.root, `link-${kind}.pack`);
      symlinkSync(pack, link);
      symlinkSync("/etc/passwd", `${pack}-wal`);
      expect(svc(["info", link]).text).toContain(`${pack}-wal`);
      rmSync(`${pack}-wal`);
      writeFileSync(`${link}-journal`, forgedJournal(1));
      writeFileSync(`${pack}-journal`, forgedJournal(1));
      expect(listed(link)).toMatchObject([{ content: TEXT }]);
    },
  );

  test("a pipe, a device and a folder in its place are named, without waiting", () => {
    const folder = join(place.root, "kinds");
    mkdirSync(join(folder, "folder.pack"), { recursive: true });
    const pipe = join(folder, "pipe.pack");
    expect(Bun.spawnSync(["mkfifo", pipe]).exitCode).toBe(0);
    for (const args of [["doctor"], ["store"]]) {
      const words = args[0] === "store" ? ["a text"] : [];
      expect(svc([...args, pipe, ...words])).toMatchObject({ code: 1 });
      expect(svc([...args, "/dev/zero", ...words])).toMatchObject({ code: 1 });
    }
    expect(svc(["info", pipe]).text).toContain("is no file");
    expect(svc(["info", "/dev/zero"]).text).toContain("is no file");
  });

  test.each([...KINDS])(
    "an %s pack cut to any length is called damaged, or no pack where nothing of it is left",
    (kind) => {
      const pack = packOf(kind);
      const whole = readFileSync(pack);
      for (const length of [...[kind === "encrypted" ? 24 : 72, 4096, whole.length - 1]]) {
        writeFileSync(pack, whole);
        truncateSync(pack, length);
        const before = fingerprint(join(pack, ".."));
        const found = svc(["doctor", pack]);
        expect(`${length}: ${found.text}`).toMatch(/damaged|malformed|cut/);
        expect(found.text).not.toMatch(/bug|Internal|fault of this program/i);
        expect(found.code).toBe(1);
        expect(svc(["store", pack, "a text"]).text).not.toMatch(
          /bug|Internal|fault of this program/i,
        );
        expect(fingerprint(join(pack, ".."))).toEqual(before);
      }
      renameSync(pack, `${pack}.gone`);
    },
  );
});
