import { constants, type Database, Database as SqliteDatabase } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import {
  chownSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { plainUri } from "../../../src/adapters/crypt/cipher.ts";
import { openForReading } from "../../../src/adapters/sqlite/connection/open-reading.ts";
import { requireSafeSidecars } from "../../../src/adapters/sqlite/connection/sidecars.ts";
import { finishSwap } from "../../../src/adapters/sqlite/copy/swap-files.ts";
import { leftOut, NOT_ROOT } from "../../left-out.ts";
import { forgedJournal, forgedLog, journalNaming } from "../../scenario/forged.ts";
import {
  codeOfFailure,
  createPack,
  fill,
  KEY,
  openKeyed,
  openPack,
  useFolders,
} from "../crypt/packs.ts";

const folder = useFolders();
const OTHER = 65_533;
const KINDS = [
  { kind: "encrypted", given: {} },
  { kind: "unencrypted", given: { cipher: undefined } },
] as const;

describe.each([...KINDS])("an $kind pack that is being made", ({ given }) => {
  /** One page, and not yet in WAL mode. */
  function begun(): string {
    const path = join(folder(), "memory.pack");
    openPack(path, { mode: "create", ...given }).close();
    expect([readFileSync(path).length, readFileSync(path)[18]]).toEqual([8192, 1]);
    return path;
  }

  test.each([2, 200_000, 2 ** 32 - 1])(
    "refuses a journal of %d pages and keeps its size",
    (pages) => {
      const path = begun();
      const before = readFileSync(path);
      writeFileSync(`${path}-journal`, forgedJournal(pages));
      expect(codeOfFailure(() => openPack(path, given))).toBe("SQLITE_CORRUPT");
      expect(readFileSync(path)).toEqual(before);
    },
  );

  test("deletes no file that a journal names as its list", () => {
    const path = begun();
    const precious = join(path, "../precious");
    writeFileSync(precious, "not a list of journals");
    writeFileSync(`${path}-journal`, journalNaming(precious, 1));
    codeOfFailure(() => openPack(path, given).close());
    expect(readFileSync(precious, "utf8")).toBe("not a list of journals");
  });

  test("is completed after a crash that left its journal", () => {
    const path = begun();
    const before = readFileSync(path);
    const database = openPack(path, given);
    database.run("PRAGMA journal_mode = DELETE");
    database.run("PRAGMA cache_size = 5");
    database.run("BEGIN; CREATE TABLE t (a)");
    database.run(
      "WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO t SELECT hex(randomblob(1000)) FROM n",
    );
    const copy = join(folder(), "copy.pack");
    for (const suffix of ["", "-journal"]) {
      writeFileSync(`${copy}${suffix}`, readFileSync(`${path}${suffix}`));
    }
    database.close();
    expect(readFileSync(copy).length).toBeGreaterThan(before.length);
    const recovered = openPack(copy, given);
    expect(recovered.query("SELECT count(*) AS n FROM sqlite_schema").get()).toEqual({ n: 0 });
    recovered.close();
    expect(readFileSync(copy).length).toBe(before.length);
    expect(existsSync(`${copy}-journal`)).toBe(false);
  });
});

describe.each([...KINDS])("beside an $kind pack in use", ({ kind, given }) => {
  test("a journal that appears while it is open is not obeyed by who opens it next", () => {
    const path = join(folder(), "memory.pack");
    const first = createPack(path, given);
    fill(first);
    writeFileSync(`${path}-journal`, forgedJournal(1));
    const second = openPack(path, given);
    expect(countNotes(second)).toBe(400);
    second.close();
    first.close();
    const third = openPack(path, given);
    expect(countNotes(third)).toBe(400);
    third.close();
  });

  test("a reader neither moves a log into the pack nor takes it away", () => {
    const path = join(folder(), "memory.pack");
    const writer = createPack(path, given);
    fill(writer);
    const copy = join(folder(), "copy.pack");
    for (const suffix of ["", "-wal"]) {
      writeFileSync(`${copy}${suffix}`, readFileSync(`${path}${suffix}`));
    }
    writer.close();
    const bytes = [readFileSync(copy), readFileSync(`${copy}-wal`)];
    const reading = openForReading(
      { kind: "file", path: copy },
      {
        synchronous: "full",
        busyTimeoutMs: 1000,
        cipher: { masterKey: KEY },
        ...given,
      },
    );
    expect(countNotes(reading.database)).toBe(400);
    reading.close();
    expect([readFileSync(copy), readFileSync(`${copy}-wal`)]).toEqual(bytes);
  });

  test.skipIf(NOT_ROOT !== undefined).each(["-wal", "-journal"])(
    `a %s that another user plants after the look at it is not opened${leftOut(NOT_ROOT)}`,
    (suffix) => {
      const path = join(folder(), "memory.pack");
      const made = createPack(path, given);
      if (suffix === "-journal") made.run("PRAGMA journal_mode = DELETE");
      made.close();
      const before = readFileSync(path);
      requireSafeSidecars(path);
      const bytes = Buffer.from(
        suffix === "-wal" ? forgedLog(Buffer.alloc(8192)) : forgedJournal(1),
      );
      writeFileSync(`${path}${suffix}`, bytes);
      chownSync(`${path}${suffix}`, OTHER, OTHER);
      // Without the program's look, the library's own rule is left.
      const database = openRaw(path);
      expect(codeOfFailure(() => countNotes(database))).toBe("SQLITE_CANTOPEN");
      database.close();
      expect([readFileSync(path), readFileSync(`${path}${suffix}`)]).toEqual([before, bytes]);
    },
  );

  function openRaw(path: string): Database {
    if (kind === "encrypted") return openKeyed(path, { pageSize: 8192 });
    const { SQLITE_OPEN_URI, SQLITE_OPEN_READWRITE } = constants;
    return new SqliteDatabase(plainUri(path), SQLITE_OPEN_URI | SQLITE_OPEN_READWRITE);
  }
});

describe.each(["-journal", "-wal", "-shm"])("a file named %s beside a pack", (suffix) => {
  test.each([
    ["is a link", (path: string, other: string) => symlinkSync(other, path)],
    ["has a second name (a hard link)", (path: string, other: string) => linkSync(other, path)],
    ["is a folder", (path: string) => mkdirSync(path)],
    ["is no regular file", (path: string) => Bun.spawnSync(["mkfifo", path])],
  ] as const)("that %s is refused by name", (reason, make) => {
    const path = join(folder(), "memory.pack");
    const other = join(folder(), "precious");
    writeFileSync(path, "pack");
    writeFileSync(other, "text of somebody");
    make(`${path}${suffix}`, other);
    const link = `${path}-link`;
    symlinkSync(path, link);
    for (const name of [path, link]) {
      const message = expect.stringContaining(`${path}${suffix}: ${reason}, and is not used`);
      expect(() => requireSafeSidecars(name)).toThrow(
        expect.objectContaining({ code: "storage_failed", message }),
      );
    }
    expect(readFileSync(other, "utf8")).toBe("text of somebody");
  });

  test.skipIf(NOT_ROOT !== undefined)(
    `is refused when it is neither this user's nor the pack's owner's${leftOut(NOT_ROOT)}`,
    () => {
      const path = join(folder(), "memory.pack");
      writeFileSync(path, "pack");
      writeFileSync(`${path}${suffix}`, "");
      chownSync(`${path}${suffix}`, OTHER, OTHER);
      expect(() => requireSafeSidecars(path)).toThrow(
        `${path}${suffix}: belongs to another user (uid ${OTHER})`,
      );
      chownSync(path, OTHER, OTHER);
      expect(requireSafeSidecars(path)).toBeUndefined();
    },
  );
});

describe("the index of the log of an encrypted pack", () => {
  test("that a crash left is removed by the first who opens the pack, and by nobody while it is open", () => {
    const path = join(folder(), "memory.pack");
    const writer = createPack(path);
    fill(writer);
    const copy = join(folder(), "copy.pack");
    for (const suffix of ["", "-wal", "-shm"]) {
      writeFileSync(`${copy}${suffix}`, readFileSync(`${path}${suffix}`));
    }
    writer.close();
    const left = statSync(`${copy}-shm`).ino;
    // So that the next file does not get its number.
    const kept = openSync(`${copy}-shm`, "r");
    const first = openPack(copy);
    expect(countNotes(first)).toBe(400);
    const used = statSync(`${copy}-shm`).ino;
    expect(used).not.toBe(left);
    const second = openPack(copy);
    expect(countNotes(second)).toBe(400);
    expect(statSync(`${copy}-shm`).ino).toBe(used);
    second.close();
    first.close();
    closeSync(kept);
    expect(existsSync(`${copy}-shm`)).toBe(false);
  });

  test("stays in memory where one connection has the pack for itself", () => {
    const path = join(folder(), "memory.pack");
    createPack(path).close();
    const alone = openPack(path, { isExclusive: true });
    fill(alone);
    expect(existsSync(`${path}-wal`)).toBe(true);
    expect(existsSync(`${path}-shm`)).toBe(false);
    alone.close();
  });
});

describe("a record of a swap", () => {
  test.skipIf(NOT_ROOT !== undefined)(
    `of another user is not carried out${leftOut(NOT_ROOT)}`,
    () => {
      const place = folder();
      const files = ["memory.db", "vectors.index"].map((name) => join(place, name));
      const hidden = join(place, `.memory.db.${"0".repeat(32)}.compact`);
      for (const file of files) writeFileSync(file, "pack");
      writeFileSync(hidden, "forged");
      const record = join(place, ".memory.db.swap");
      const text = JSON.stringify({ moves: [{ from: basename(hidden), to: "memory.db" }] });
      writeFileSync(record, text);
      chownSync(record, OTHER, OTHER);
      expect(() => finishSwap(files)).toThrow(`${record}: belongs to another user (uid ${OTHER})`);
      chownSync(record, process.getuid?.() ?? 0, 0);
      chownSync(hidden, OTHER, OTHER);
      expect(() => finishSwap(files)).toThrow(`${hidden}: belongs to another user (uid ${OTHER})`);
      expect(readFileSync(files[0] ?? "", "utf8")).toBe("pack");
    },
  );

  test("that is a link is not carried out", () => {
    const place = folder();
    const files = ["memory.db", "vectors.index"].map((name) => join(place, name));
    symlinkSync("/etc/hostname", join(place, ".memory.db.swap"));
    expect(() => finishSwap(files)).toThrow("is a link");
  });
});

function countNotes(database: Database): number {
  return database.query<{ n: number }, []>("SELECT count(*) AS n FROM notes").get()?.n ?? -1;
}
