import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { FORMAT_VERSION } from "../../../src/adapters/sql/settings.ts";
import { mainPath } from "../../../src/adapters/sqlite/connection/layout.ts";
import { migrations } from "../../../src/adapters/sqlite/schema/schema.ts";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import { asInstant } from "../../../src/lib/instant.ts";
import { anAdmission, anEvent, at, put, unit } from "../../contract/samples.ts";
import { directoryPack, filePack, type SqlitePack } from "../../contract/sqlite-pack.ts";
import { bytesBelow, failure, useFolders } from "./folder.ts";

const { folder, open } = useFolders();

const LAYOUTS = [
  { name: "one file", packIn: filePack },
  { name: "a directory", packIn: directoryPack },
];

const PARTS = ["core", "lexical", "vectors"] as const;
/** Every step that a new pack takes, in the order of the table that records them. */
const STEPS = PARTS.flatMap((part) =>
  migrations(part).map(({ version, name }) => ({ part, version, name })),
);

function newest(part: (typeof PARTS)[number]): number {
  return Math.max(...migrations(part).map(({ version }) => version));
}

/** A closed pack with one memory in it. */
async function madeIn(place: string, packIn: (folder: string) => SqlitePack): Promise<SqlitePack> {
  const pack = packIn(place);
  const store = await open(pack);
  await put(store, { vector: unit(1) });
  await store.close();
  return pack;
}

function run(pack: SqlitePack, ...statements: readonly string[]): void {
  const database = new Database(mainPath(pack.layout));
  for (const sql of statements) database.run(sql);
  database.close();
}

function rows(pack: SqlitePack, sql: string): unknown[] {
  const database = new Database(mainPath(pack.layout), { readonly: true });
  try {
    return database.query(sql).values();
  } finally {
    database.close();
  }
}

describe.each(LAYOUTS)("a new pack of $name", ({ packIn }) => {
  test("records its migrations in order and describes itself", async () => {
    const place = join(folder(), "deep", "below");
    const pack = packIn(place);
    const created = asInstant("2026-03-04T05:06:07.000008Z");

    const store = await open(pack, { clock: { now: () => created } });

    expect(await store.manifest()).toEqual({
      formatVersion: 1,
      softwareVersion: "1.2.3",
      embedding: { model: "hand-made", version: "1", dimension: 8 },
      scoringVersion: "0123456789ab",
      createdAt: created,
      updatedAt: created,
    });
    expect(store.backend).toBe("sqlite");
    await store.close();
    expect(rows(pack, "SELECT part, version, name, applied_at FROM schema_migrations")).toEqual(
      STEPS.map(({ part, version, name }) => [part, version, name, created]),
    );
  });

  test("is marked as a pack, with 8 KiB pages and a log", async () => {
    const place = folder();
    const pack = await madeIn(place, packIn);

    const names = Object.keys(bytesBelow(place));
    const headers = names.map((name) => readFileSync(join(place, name)).subarray(0, 100));

    expect(names).toEqual(
      pack.layout.kind === "file"
        ? ["memory.pack"]
        : ["lexical_index/lexical.db", "memory.db", "vectors.index"],
    );
    expect(headers.map((header) => header.toString("latin1", 68, 72))).toEqual(
      names.map(() => "SVC1"),
    );
    expect(headers.map((header) => header.readUInt16BE(16))).toEqual(names.map(() => 8192));
    expect(headers.map((header) => [header[18], header[19]])).toEqual(names.map(() => [2, 2]));
  });

  test("is made once by many that open it together", async () => {
    const pack = packIn(folder());

    const stores = await Promise.all(Array.from({ length: 6 }, () => open(pack)));
    await Promise.all(stores.map((store) => store.admit(anAdmission([anEvent()]))));

    expect(await stores[0]?.countEvents("ada")).toBe(6);
    expect(rows(pack, "SELECT count(*) FROM schema_migrations")).toEqual([[STEPS.length]]);
  });

  test("is made once by several processes that start together", async () => {
    const pack = packIn(folder());
    const start = async (content: string) => {
      const script = join(import.meta.dir, "../../contract/worker.ts");
      const child = Bun.spawn([process.execPath, script, JSON.stringify(pack), "admit", content], {
        stdout: "pipe",
        stderr: "inherit",
      });
      for await (const _ of child.stdout) break;
      child.kill(9);
      return child.exited;
    };

    await Promise.all(["a", "b"].map(start));

    const store = await open(pack);
    const contents = (await store.events({ userId: "ada", limit: 9, offset: 0 })).map(
      ({ content }) => content,
    );
    expect(contents.sort()).toEqual(["a", "b"]);
  });

  test("is not made where that is not wanted", async () => {
    const place = folder();
    const pack = packIn(join(place, "none"));

    const refusal = await failure(open(pack, { createIfMissing: false }));

    expect(refusal.code).toBe("not_found");
    // As it was typed: the folder, not a file in it.
    const { layout } = pack;
    const typed = layout.kind === "file" ? layout.path : join(place, "none");
    expect(refusal.data).toEqual({ kind: "pack", id: typed });
    expect(refusal.message).toContain(`${typed}: no such pack`);
    expect(existsSync(join(place, "none"))).toBe(false);
  });

  test("takes the place of an empty file", async () => {
    const place = folder();
    const pack = packIn(place);
    writeFileSync(mainPath(pack.layout), "");
    expect((await failure(open(pack, { createIfMissing: false }))).code).toBe("not_found");
    expect(statSync(mainPath(pack.layout)).size).toBe(0);

    const store = await open(pack);

    await store.admit(anAdmission([anEvent()]));
    expect(await store.countEvents("ada")).toBe(1);
  });

  test("does not take the place of a pipe", async () => {
    const pack = packIn(folder());
    const path = mainPath(pack.layout);
    Bun.spawnSync(["mkfifo", path]);

    const refusal = await failure(open(pack));

    expect(refusal).toMatchObject({
      code: "not_a_pack",
      message: expect.stringContaining("it is no file"),
    });
    expect(statSync(path).isFIFO()).toBe(true);
  });
});

describe.each(LAYOUTS)("an existing pack of $name", ({ packIn }) => {
  test("keeps its embedding, its scoring and its birthday when other settings open it", async () => {
    const pack = packIn(folder());
    const first = await open(pack, { clock: { now: () => at(0) } });
    await first.close();

    const second = await open(pack, {
      clock: { now: () => at(10) },
      embedding: { model: "another", version: "2", dimension: 4 },
      softwareVersion: "2.0.0",
      scoringVersion: "ffffffffffff",
    });

    expect(await second.manifest()).toEqual({
      formatVersion: 1,
      softwareVersion: "2.0.0",
      embedding: { model: "hand-made", version: "1", dimension: 8 },
      scoringVersion: "0123456789ab",
      createdAt: at(0),
      updatedAt: at(10),
    });
  });

  test("is not changed by being opened and closed", async () => {
    const place = folder();
    const pack = await madeIn(place, packIn);
    const before = bytesBelow(place);

    await (await open(pack)).close();

    expect(bytesBelow(place)).toEqual(before);
  });

  test.each([
    {
      name: "format version",
      sql: "UPDATE pack_manifest SET format_version = 99",
      supported: FORMAT_VERSION,
    },
    {
      name: "core tables",
      sql: "INSERT INTO schema_migrations VALUES ('core', 99, 'later', '2030')",
      supported: newest("core"),
    },
    {
      name: "vector tables",
      sql: "INSERT INTO schema_migrations VALUES ('vectors', 99, 'later', '2030')",
      supported: newest("vectors"),
    },
    {
      name: "lexical tables",
      sql: "INSERT INTO schema_migrations VALUES ('lexical', 99, 'later', '2030')",
      supported: newest("lexical"),
    },
  ])("is refused unchanged when its $name are newer", async ({ sql, supported }) => {
    const place = folder();
    const pack = await madeIn(place, packIn);
    run(pack, sql);
    const before = bytesBelow(place);

    const refusal = await failure(open(pack));

    expect(refusal.code).toBe("pack_too_new");
    expect(refusal.data).toEqual({ path: mainPath(pack.layout), found: 99, supported });
    expect(refusal.message).toContain("newer svc");
    expect(bytesBelow(place)).toEqual(before);
  });

  test("is refused unchanged when a development build made it", async () => {
    const place = folder();
    const pack = await madeIn(place, packIn);
    run(
      pack,
      "UPDATE schema_migrations SET name = 'event log, graph, work queue' WHERE part = 'core'",
    );
    const before = bytesBelow(place);

    const refusal = await failure(open(pack));

    expect(refusal.code).toBe("pack_too_old");
    expect(refusal.data).toEqual({ path: mainPath(pack.layout) });
    expect(refusal.message).toMatch(/svc export of .*svc import of/);
    expect(bytesBelow(place)).toEqual(before);
  });

  test("is refused unchanged when a newer program keeps it in another journal mode", async () => {
    const place = folder();
    const pack = await madeIn(place, packIn);
    run(pack, "UPDATE pack_manifest SET format_version = 99", "PRAGMA journal_mode = DELETE");
    const before = bytesBelow(place);

    expect((await failure(open(pack))).code).toBe("pack_too_new");

    expect(bytesBelow(place)).toEqual(before);
  });

  test("is refused unchanged when it is read-only", async () => {
    const place = folder();
    const pack = await madeIn(place, packIn);
    const path = mainPath(pack.layout);
    chmodSync(path, 0o444);
    const before = bytesBelow(place);

    const refusal = await failure(open(pack));

    expect(refusal.code).toBe("pack_read_only");
    expect(refusal.data).toEqual({ path });
    expect(bytesBelow(place)).toEqual(before);
  });

  test("that was cut short is refused or reported, never taken for an empty one", async () => {
    const place = folder();
    const pack = await madeIn(place, packIn);
    truncateSync(mainPath(pack.layout), 8192);

    const refusal = await failure(
      (async () => {
        const store = await open(pack);
        await store.queryNodes({
          owner: ALL_OWNERS,
          lifecycleStates: ["tentative"],
          oldestFirst: true,
          limit: 9,
        });
      })(),
    );

    expect(["pack_damaged", "not_a_pack"]).toContain(refusal.code);
    expect(refusal.message).toContain(mainPath(pack.layout));
  });
});

describe.each(LAYOUTS)("a path where a pack of $name is expected", ({ packIn }) => {
  const strangers: readonly { name: string; make: (path: string) => void; reason: string }[] = [
    {
      name: "text",
      make: (path) => writeFileSync(path, "this is no pack\n".repeat(20)),
      reason: "its first bytes are not those of a pack",
    },
    {
      name: "a few bytes",
      make: (path) => writeFileSync(path, "x"),
      reason: "its first bytes are not those of a pack",
    },
    {
      name: "random bytes",
      make: (path) => writeFileSync(path, crypto.getRandomValues(new Uint8Array(20_000))),
      reason: "its first bytes are not those of a pack",
    },
    {
      name: "the database of another program",
      make: (path) => {
        const database = new Database(path);
        database.run("CREATE TABLE songs (title TEXT)");
        database.close();
      },
      reason: "it is a database of another program",
    },
    {
      name: "a folder",
      make: (path) => mkdirSync(join(path, "inside"), { recursive: true }),
      reason: "it is a folder",
    },
    {
      name: "nothing but the beginning of a database",
      make: (path) => writeFileSync(path, "SQLite format 3\0"),
      reason: "it is a database of another program",
    },
  ];

  test.each(strangers)("is refused unchanged when it holds $name", async ({ make, reason }) => {
    const place = folder();
    const pack = packIn(place);
    make(mainPath(pack.layout));
    const before = bytesBelow(place);

    const refusal = await failure(open(pack));

    expect(refusal).toEqual({
      code: "not_a_pack",
      message: `${mainPath(pack.layout)}: is not a pack (${reason}). Nothing was changed; give another path, or create a pack with: svc init`,
      data: { path: mainPath(pack.layout) },
    });
    expect(bytesBelow(place)).toEqual(before);
  });

  test("is refused when it holds a database of ours without a manifest's table but foreign content", async () => {
    const place = folder();
    const pack = packIn(place);
    writeFileSync(
      mainPath(pack.layout),
      Buffer.concat([
        Buffer.from("SQLite format 3\0"),
        Buffer.alloc(52),
        Buffer.from("SVC1"),
        crypto.getRandomValues(new Uint8Array(20_000)),
      ]),
    );

    const refusal = await failure(open(pack));

    expect(["not_a_pack", "storage_failed"]).toContain(refusal.code);
    expect(refusal.message).toStartWith(`${mainPath(pack.layout)}: `);
  });
});

test("a folder that cannot be made is a storage failure that names the pack", async () => {
  const place = folder();
  writeFileSync(join(place, "file"), "in the way");
  const pack = filePack(join(place, "file", "below"));

  const refusal = await failure(open(pack));

  expect(refusal.code).toBe("storage_failed");
  expect(refusal.message).toStartWith(`${mainPath(pack.layout)}: `);
  rmSync(join(place, "file"));
});
