import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { cleanEnvironment, svcCommand } from "../../scripts/bench/server.ts";
import { DATABASE_TABLES } from "../../src/adapters/postgres/transfer/record-tables.ts";
import { mainPath } from "../../src/adapters/sqlite/connection/layout.ts";
import { openDatabase } from "../../src/adapters/sqlite/connection/open-database.ts";
import { ALL_OWNERS } from "../../src/domain/owner.ts";
import { RECORDS, type TableUse } from "../../src/domain/records/rows.ts";
import { migrateFromDatabase, migrateToDatabase } from "../../src/packs/migrate-database.ts";
import type { Store } from "../../src/ports/store/store.ts";
import { connectionOf, exported, fillRichly } from "../adapters/sqlite/exported.ts";
import { bytesBelow, failure, useFolders } from "../adapters/sqlite/folder.ts";
import { KINDS } from "../adapters/sqlite/whole-packs.ts";
import { aPlanOf, claimed, extractable } from "../contract/extraction-samples.ts";
import { openPostgres } from "../contract/postgres-place.ts";
import {
  aMaterialization,
  aNode,
  anAdmission,
  anEvent,
  at,
  put,
  unit,
} from "../contract/samples.ts";
import { encrypted, filePack, RAW_KEY, type SqlitePack } from "../contract/sqlite-pack.ts";
import { aBlob } from "../contract/store-blobs.ts";
import { anErasure } from "../contract/store-erasures.ts";
import { leftOut } from "../left-out.ts";
import { dropDatabase, NO_POSTGRES } from "../postgres/databases.ts";
import {
  aRun,
  databaseConfig,
  emptyDatabase,
  onDatabase,
  packConfig,
  unnumbered,
} from "./stores.ts";

/** Tables of a pack that are made anew, or say what the files hold. */
const LEFT_OUT = `pack_manifest vector_codes vector_model vector_staging vector_revision vector_parts memory_operations node_evidence changes
  lexical_documents index_sequence vectors_sequence lexical_sequence schema_migrations erased_keys`;

/** Every table of a pack, and what is copied of it. */
const PACK_TABLES: Readonly<Record<string, TableUse>> = {
  owners: { kind: "owner", own: ["owner"] },
  events: { kind: "event", own: ["key", "owner"] },
  blobs: { kind: "blob", own: ["owner"] },
  blob_uses: { kind: "blob_use", own: ["event"] },
  operations: { kind: "operation", own: ["key"] },
  nodes: { kind: "node", own: ["key", "owner"] },
  erasures: { kind: "erasure", own: ["key"] },
  edges: { kind: "edge", own: ["key", "owner", "source", "target"] },
  work: { kind: "work", own: ["subject", "owner", "lease_owner", "lease_expires_at"] },
  receipts: { kind: "receipt", own: ["key"] },
  receipt_nodes: { kind: "receipt_node", own: ["node", "receipt"] },
  pack_settings: { kind: "setting", own: [] },
  vectors: { kind: "vector", own: ["node_key", "owner", "revision", "previous", "next"] },
  ...Object.fromEntries(LEFT_OUT.split(/\s+/).map((table) => [table, { leftOut: table }])),
};

setDefaultTimeout(120_000);

const { folder, open } = useFolders();
const made: string[] = [];
afterEach(async () => {
  for (const url of made.splice(0)) await dropDatabase(new URL(url).pathname.slice(1));
});

async function newDatabase(): Promise<string> {
  const url = await emptyDatabase();
  made.push(url);
  return url;
}

/** The indexes of a database, with what they are on. */
async function indexesOf(url: string): Promise<readonly unknown[]> {
  const statement =
    "SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY indexname";
  return await onDatabase(url, (sql) => sql.all(statement));
}

/** A pack with records of every kind: also work of extraction, places of jobs, cooldowns and an owner of the pack. */
async function aFullPack(pack: SqlitePack): Promise<void> {
  const store = await open(pack);
  await fillRichly(store, pack);
  const events = Array.from({ length: 3 }, (_, i) => anEvent({ userId: "cy", timestamp: at(i) }));
  // Rounded to 16 bits it is a negative zero.
  const tiny = new Float32Array([-1e-9, 1, 0, 0, 0, 0, 0, -1e-9]);
  await put(store, { content: "almost one way", sessionId: "t", userId: "cy", vector: tiny });
  await store.admit(extractable(events));
  await store.materialize(
    events.map((event) => aMaterialization(event, aNode(event, { id: event.id }))),
  );
  const claim = await claimed(store, { owner: "cy", isDueOnly: false });
  const plan = aPlanOf(claim);
  await store.savePlan(claim, plan, at(9));
  const vectors = [unit(1), unit(0, 1), unit(0, 0, 1)];
  await store.publishPlan(claim, { plan, vectors, at: at(9) });
  const failed = await claimed(store, { owner: "cy", isDueOnly: false });
  await store.endExtraction(failed, { failure: "TimeoutError" }, at(9));
  const newest = await store.newestKey("cy");
  await store.saveWalkPlace("summarize", "cy", { at: at(7), seen: newest, list: [1] });
  await store.saveWalkPlace("deduplicate", "ada", { seen: 2, upTo: 4, after: "ff" });
  for (const kind of ["expire", "promote"]) {
    const work = await store.takeWork({ kind, owner: "ada" }, false);
    if (typeof work !== "object") throw new Error("nothing was claimed");
    const failure = kind === "expire" ? undefined : "TimeoutError";
    await store.finishWork(work, { failure, cooldownSeconds: 3600 });
  }
  await store.takeWork({ kind: "prune_receipts", owner: ALL_OWNERS }, false);
  const others = anEvent({ userId: "bob", timestamp: at(10) });
  await store.admit(anAdmission([others], { blobs: [aBlob({ event: others.id })] }));
  await store.erase(anErasure(await put(store, { content: "marmalade", second: 11 })));
  await store.signingKey("the key that signs");
  await store.settleErasures(5000);
  await store.close();
}

/** What the jobs of `aFullPack` have before them: numbers of memories are those of a store. */
async function remaining(store: Store): Promise<unknown> {
  const place = await store.walkPlace("deduplicate", "ada");
  const [seen, upTo] = [Number(place?.["seen"]), Number(place?.["upTo"])];
  const read = { userId: "ada", limit: 100 };
  const newer = await Promise.all(
    [seen, upTo].map((newerThan) => store.newNodes({ ...read, newerThan })),
  );
  const contents = newer.map((nodes) => nodes.map(({ node }) => node.content));
  const { seen: _, ...summaries } = (await store.walkPlace("summarize", "cy")) ?? {};
  return { contents, after: place?.["after"], summaries };
}

describe.skipIf(NO_POSTGRES !== undefined)(`a pack and a database${leftOut(NO_POSTGRES)}`, () => {
  test.each([...KINDS])(
    "hold the same after $name was moved there and back",
    async ({ at: packIn }) => {
      const here = folder();
      const pack = packIn(here);
      await aFullPack(pack);
      const url = await newDatabase();
      const text = exported(pack);
      const before = bytesBelow(here);

      const there = await migrateToDatabase(packConfig(pack), databaseConfig(url), aRun());
      const copy = packIn(join(folder(), "copy"));
      const key =
        pack.encryptionKey === undefined
          ? ({ kind: "plain" } as const)
          : ({ kind: "chosen", key: RAW_KEY, isKept: false } as const);
      const { encryptionKey: _, ...plain } = copy;
      const back = await migrateFromDatabase(databaseConfig(url), packConfig(plain), key, aRun());

      expect(back.counts).toEqual(there.counts);
      expect(Object.values(there.counts).every((count) => count > 0)).toBeTrue();
      expect(bytesBelow(here)).toEqual(before);
      expect(unnumbered(exported(copy))).toEqual([...unnumbered(text)]);
      const [one, other] = [await open(pack), await open(copy)];
      expect(await other.manifest()).toEqual(await one.manifest());
      expect(await remaining(other)).toEqual(await remaining(one));
    },
  );

  test("move a picture above the limit of both, which is for what is new", async () => {
    const pack = filePack(folder());
    const store = await open(pack);
    const event = anEvent();
    const bytes = new Uint8Array(5000);
    await store.admit(anAdmission([event], { blobs: [aBlob({ event: event.id, bytes })] }));
    await store.close();
    const limited = { blob_max_bytes: 1024 };
    const database = { ...databaseConfig(await newDatabase()), ...limited };
    await migrateToDatabase({ ...packConfig(pack), ...limited }, database, aRun());
    const copy = filePack(folder());
    const to = { ...packConfig(copy), ...limited };
    const { counts } = await migrateFromDatabase(database, to, { kind: "plain" }, aRun());
    expect(counts.blob).toBe(1);
    expect(await (await open(copy)).blob("frames/0a.jpg", "ada")).toMatchObject({ bytes });
  });

  test("names every table and every column of both in what is copied or left out", async () => {
    const pack = filePack(folder());
    await (await open(pack)).close();
    const database = openDatabase({
      ...connectionOf(pack),
      layout: pack.layout,
      mode: "read-write",
    });
    const tables = database
      .query<{ name: string }, []>(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'vectors\\_vector\\_chunks%' ESCAPE '\\'",
      )
      .all();
    const inPack = new Map(
      tables.map(({ name }) => [
        name,
        database
          .query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?)")
          .all(name)
          .map((column) => column.name),
      ]),
    );
    database.close();
    const url = await newDatabase();
    await (await openPostgres({ url })).close();
    const columns = await onDatabase(url, (sql) =>
      sql.all<{ table_name: string; column_name: string }>(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()",
      ),
    );
    const inDatabase = new Map(
      Array.from(
        Map.groupBy(columns, (column) => column.table_name),
        ([name, some]) => [name, some.map((column) => column.column_name)],
      ),
    );
    for (const [found, uses] of [
      [inPack, PACK_TABLES],
      [inDatabase, DATABASE_TABLES],
    ] as const) {
      expect([...found.keys()].sort()).toEqual(Object.keys(uses).sort());
      for (const [table, use] of Object.entries(uses)) {
        if ("leftOut" in use) continue;
        const known = new Set<string>([...RECORDS[use.kind], ...use.own]);
        expect((found.get(table) ?? []).filter((name) => !known.has(name))).toEqual([]);
      }
    }
  });

  test("goes on where it was interrupted, and ends with the same", async () => {
    const pack = filePack(folder());
    await aFullPack(pack);
    const [url, other] = [await newDatabase(), await newDatabase()];
    const [from, to] = [packConfig(pack), databaseConfig(url)];
    const whole = await migrateToDatabase(from, databaseConfig(other), aRun());
    for (let calls = 1; calls < 9; calls += 1) {
      await expect(migrateToDatabase(from, to, aRun(1))).rejects.toThrow();
      const opening = await failure(openPostgres({ url }));
      expect(opening.code).toBe("storage_busy");
    }
    expect((await migrateToDatabase(from, to, aRun())).counts).toEqual(whole.counts);
    expect((await migrateToDatabase(from, to, aRun())).counts).toEqual(whole.counts);
    await (await openPostgres({ url })).close();
    const empty = await newDatabase();
    await (await openPostgres({ url: empty })).close();
    expect(await indexesOf(url)).toEqual(await indexesOf(empty));
  });

  test("begins again when the pack has changed since it was interrupted, and leaves what others have", async () => {
    const pack = filePack(folder());
    await aFullPack(pack);
    const url = await newDatabase();
    const [from, to] = [packConfig(pack), databaseConfig(url)];
    await expect(migrateToDatabase(from, to, aRun(3))).rejects.toThrow();
    await onDatabase(url, (sql) =>
      sql.run("CREATE FUNCTION svc_mine() RETURNS integer LANGUAGE sql AS 'SELECT 7'"),
    );
    const store = await open(pack);
    await put(store, { content: "came later" });
    await store.close();

    const { counts } = await migrateToDatabase(from, to, aRun());

    const other = await openPostgres({ url });
    expect(await other.countEvents("ada")).toBeGreaterThan(0);
    await other.close();
    expect(counts.event).toBe(15);
    expect(await onDatabase(url, (sql) => sql.get("SELECT svc_mine() AS own"))).toEqual({ own: 7 });
  });

  /** A pack, and a copy of it that has changed since. */
  async function diverged(): Promise<readonly [SqlitePack, SqlitePack]> {
    const [one, other] = [filePack(folder()), filePack(folder())];
    await aFullPack(one);
    copyFileSync(mainPath(one.layout), mainPath(other.layout));
    const store = await open(other);
    await put(store, { content: "came later" });
    await store.close();
    return [one, other];
  }

  test.each(["copying", "indexing"])(
    "tells the migration of a copy that has changed since, which took the database over while the first was %s it",
    async (when) => {
      const [one, other] = await diverged();
      const url = await newDatabase();
      let isTaken = false;
      const overtaken = {
        ...aRun(),
        onProgress: (stage: string) => {
          if (isTaken || stage !== when) return;
          isTaken = true;
          const command = [...svcCommand(), "migrate", mainPath(other.layout), url];
          const { exitCode, stderr } = Bun.spawnSync(command, { env: cleanEnvironment() });
          if (exitCode !== 0) throw new Error(stderr.toString());
        },
      };
      const failed = await failure(
        migrateToDatabase(packConfig(one), databaseConfig(url), overtaken),
      );
      expect(failed.message).toContain("another svc migrate has taken this database over");
      expect(failed.code).toBe("storage_busy");
      const store = await openPostgres({ url });
      expect(await store.countEvents("ada")).toBe(await (await open(other)).countEvents("ada"));
      await store.close();
    },
  );

  test("lets one of two migrations of such copies that run at once end, and tells the other", async () => {
    const packs = await diverged();
    const url = await newDatabase();
    const ends = await Promise.allSettled(
      packs.map((pack) => migrateToDatabase(packConfig(pack), databaseConfig(url), aRun())),
    );
    const reasons = ends.flatMap((end) => (end.status === "rejected" ? [end.reason] : []));
    expect(reasons).toHaveLength(1);
    expect(reasons[0].message).toMatch(
      /another svc migrate has taken|holds something else already/,
    );
    await (await openPostgres({ url })).close();
  });

  test("lets a server that opened the empty database store nothing until everything is there", async () => {
    const pack = filePack(folder());
    await aFullPack(pack);
    const [from, to] = [packConfig(pack), databaseConfig(await newDatabase())];
    const early = await openPostgres({ url: to.database_url?.reveal() ?? "" });
    await expect(migrateToDatabase(from, to, aRun(3))).rejects.toThrow();
    const refused = await failure(put(early, { content: "too early", userId: "carl" }));
    expect(refused).toMatchObject({ code: "storage_busy" });
    expect(refused.message).toContain("svc migrate fills this database");
    await migrateToDatabase(from, to, aRun());
    await put(early, { content: "now", userId: "carl" });
    expect(await early.countEvents("carl")).toBe(1);
    await early.close();
  });

  test("opens for nobody before it was compared with the pack", async () => {
    const pack = filePack(folder());
    await aFullPack(pack);
    const [from, to] = [packConfig(pack), databaseConfig(await newDatabase())];
    const cutOff = {
      ...aRun(),
      onProgress: (stage: string) => {
        if (stage === "comparing") throw new Error("cut off");
      },
    };
    await expect(migrateToDatabase(from, to, cutOff)).rejects.toThrow("cut off");
    const url = to.database_url?.reveal() ?? "";
    expect((await failure(openPostgres({ url }))).code).toBe("storage_busy");
    await migrateToDatabase(from, to, aRun());
    await (await openPostgres({ url })).close();
  });

  test("keeps signing what is erased with the same key", async () => {
    const pack = filePack(folder());
    await aFullPack(pack);
    const url = await newDatabase();
    await migrateToDatabase(packConfig(pack), databaseConfig(url), aRun());
    const store = await openPostgres({ url });
    expect(await store.signingKey("another")).toBe("the key that signs");
    await store.close();
  });

  test("refuses a database that holds something else, which stays as it is", async () => {
    const pack = filePack(folder());
    await aFullPack(pack);
    const url = await newDatabase();
    const store = await openPostgres({ url });
    await put(store, { content: "was here first" });
    const refused = await failure(migrateToDatabase(packConfig(pack), databaseConfig(url), aRun()));
    expect(refused).toMatchObject({ code: "invalid_argument" });
    expect(refused.message).toContain("holds something else");
    expect(await store.countEvents("ada")).toBe(1);
    await store.close();
    const another = filePack(join(folder(), "other"));
    await (await open(another)).close();
    const begun = databaseConfig(await newDatabase());
    await expect(migrateToDatabase(packConfig(pack), begun, aRun(2))).rejects.toThrow();
    const second = await failure(migrateToDatabase(packConfig(another), begun, aRun()));
    expect(second.message).toContain("holds something else");
  });

  test("finds a copy out that differs in one value", async () => {
    const pack = encrypted(filePack(folder()));
    await aFullPack(pack);
    const url = await newDatabase();
    await migrateToDatabase(packConfig(pack), databaseConfig(url), aRun());
    await onDatabase(url, (sql) =>
      sql.run("UPDATE nodes SET confidence = confidence + 1e-12 WHERE content = 'no vector yet'"),
    );
    const found = await failure(migrateToDatabase(packConfig(pack), databaseConfig(url), aRun()));
    expect(found.code).toBe("storage_failed");
    expect(found.message).toContain('the content of a node record of "bob" differs');
  });
});
