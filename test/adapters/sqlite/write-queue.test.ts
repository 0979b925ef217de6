import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { mainPath } from "../../../src/adapters/sqlite/connection/layout.ts";
import { openDatabase } from "../../../src/adapters/sqlite/connection/open-database.ts";
import { accessTo } from "../../../src/adapters/sqlite/pack-access.ts";
import { createSqliteStore } from "../../../src/adapters/sqlite/sqlite-store.ts";
import { LogKeeper } from "../../../src/adapters/sqlite/write/log-keeper.ts";
import { WriteQueue } from "../../../src/adapters/sqlite/write/write-queue.ts";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { anAdmission, anEvent, put, unit } from "../../contract/samples.ts";
import {
  directoryPack,
  filePack,
  type SqlitePack,
  storeOptions,
} from "../../contract/sqlite-pack.ts";
import { ANYTHING } from "../../contract/store-vectors.ts";
import { until } from "../../until.ts";
import { failure, useFolders } from "./folder.ts";

const { folder, open, closeLater } = useFolders();

/** A store whose writer can be reached, to take disk space away from it. */
async function storeWithWriter(pack: SqlitePack): Promise<{ store: Store; writer: Database }> {
  await (await open(pack)).close();
  const connect = () =>
    openDatabase({
      layout: pack.layout,
      mode: "read-write",
      synchronous: "normal",
      busyTimeoutMs: 1000,
    });
  const [writer, reader] = [connect(), connect()];
  const path = mainPath(pack.layout);
  const queue = new WriteQueue(writer, { capacity: 100, busyTimeoutMs: 1000, path });
  const { layout, embedding, clock } = storeOptions(pack);
  const log = new LogKeeper(writer, { ...storeOptions(pack), isIdle: () => queue.isIdle });
  const access = accessTo({ writer, reader, queue, log, path, layout });
  const store = createSqliteStore({ access, layout, embedding, isEncrypted: false, clock });
  return { store: closeLater(store), writer };
}

/** Lets the files of a writer grow no further, or as far as they like. */
function limitTo(writer: Database, schemas: readonly string[], room: "full" | "free"): void {
  for (const schema of schemas) {
    const pages = room === "full" ? 1 : 4_000_000;
    writer.run(`PRAGMA ${schema}.max_page_count = ${pages}`);
  }
}

const BIG = "x".repeat(50_000);

/** Another process that holds the write lock of a pack until it is told to let it go. */
async function holdLock(path: string): Promise<{ release: () => Promise<void> }> {
  const script = `
    const { Database } = require("bun:sqlite");
    const database = new Database(process.argv[1]);
    database.run("BEGIN IMMEDIATE");
    console.log("held");
    await Bun.stdin.text();
    database.run("ROLLBACK");
    database.close();`;
  const child = Bun.spawn([process.execPath, "-e", script, path], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  for await (const _ of child.stdout) break;
  const release = async (): Promise<void> => {
    await child.stdin.end();
    await child.exited;
  };
  return { release };
}

test.if(process.platform === "linux")(
  "a pack whose log is emptied is not mapped until it is read again",
  async () => {
    const pack = filePack(folder());
    const { store, writer } = await storeWithWriter(pack);
    await put(store, { content: "one" });
    const line = `${mainPath(pack.layout)}\n`;
    const isMapped = () => readFileSync("/proc/self/maps", "utf8").includes(line);
    const read = () => writer.query("SELECT sum(length(content)) AS sum FROM nodes").get();
    const log = new LogKeeper(writer, { ...storeOptions(pack), isIdle: () => true });
    log.begin();
    expect(log.empty()).toBeTrue();
    expect(isMapped()).toBeFalse();

    read();
    expect(isMapped()).toBeTrue();
    expect(log.empty()).toBeTrue();
    expect(isMapped()).toBeFalse();
    expect(read()).toEqual({ sum: 3 });
    await log.close();
  },
);

describe("a full disk", () => {
  test.each([
    { name: "a file", packIn: filePack, schemas: ["main"] },
    { name: "a directory", packIn: directoryPack, schemas: ["main"] },
  ])(
    "refuses an admission to $name as a whole and lets later ones in when there is room",
    async ({ packIn, schemas }) => {
      const pack = packIn(folder());
      const { store, writer } = await storeWithWriter(pack);
      await store.admit(anAdmission([anEvent()]));
      limitTo(writer, schemas, "full");

      const refusal = await failure(
        store.admit(
          anAdmission([anEvent(), anEvent({ content: BIG }), anEvent({ userId: "bob" })]),
        ),
      );

      expect(refusal.code).toBe("disk_full");
      expect(refusal.data).toEqual({ path: mainPath(pack.layout) });
      expect(refusal.message).toContain("Free some space");
      expect(await store.countEvents(ALL_OWNERS)).toBe(1);
      expect(await store.countJobs(ALL_OWNERS)).toEqual({ pending: 1, failed: 0 });

      limitTo(writer, schemas, "free");
      await store.admit(anAdmission([anEvent({ content: BIG })]));
      await store.close();
      const again = await open(pack);
      expect(await again.countEvents(ALL_OWNERS)).toBe(2);
      expect(await again.countJobs(ALL_OWNERS)).toEqual({ pending: 2, failed: 0 });
    },
  );

  test("leaves a pack that is whole, whatever the group was doing", async () => {
    const pack = filePack(folder());
    const { store, writer } = await storeWithWriter(pack);
    limitTo(writer, ["main"], "full");

    const outcomes = await Promise.allSettled(
      Array.from({ length: 40 }, (_, index) =>
        store.admit(anAdmission([anEvent({ content: index % 4 === 3 ? BIG : `small ${index}` })])),
      ),
    );
    const stored = outcomes.filter(({ status }) => status === "fulfilled").length;

    expect(stored).toBeLessThan(40);
    expect(await store.countEvents(ALL_OWNERS)).toBe(stored);
    expect(await store.countJobs(ALL_OWNERS)).toEqual({ pending: stored, failed: 0 });
    const codes = outcomes.flatMap((outcome) =>
      outcome.status === "rejected" ? [outcome.reason.code] : [],
    );
    expect(new Set(codes)).toEqual(new Set(["disk_full"]));
    limitTo(writer, ["main"], "free");
    await store.admit(anAdmission([anEvent({ content: BIG })]));
    await store.close();
    const database = new Database(mainPath(pack.layout));
    expect(database.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
    database.close();
  });

  test("writes no half of a memory's index entries", async () => {
    const pack = directoryPack(folder());
    const { store, writer } = await storeWithWriter(pack);
    limitTo(writer, ["vector_file"], "full");

    const memories = Array.from({ length: 600 }, () => ({ content: "green tea", vector: unit(1) }));
    const refusal = await failure(put(store, ...memories));

    expect(refusal.code).toBe("disk_full");
    expect(await store.countNodes(ALL_OWNERS)).toBe(0);
    expect(await store.searchText("tea", ANYTHING, 9)).toEqual([]);
    expect(await store.searchVectors(unit(1), ANYTHING, 9)).toEqual([]);
    expect(await store.countJobs("ada")).toEqual({ pending: 600, failed: 0 });
    limitTo(writer, ["vector_file"], "free");
    await put(store, { content: "black tea", vector: unit(1) });
    expect(await store.searchText("tea", ANYTHING, 9)).toHaveLength(1);
    expect(await store.searchVectors(unit(1), ANYTHING, 9)).toHaveLength(1);
  });
});

describe("files that may grow no further", () => {
  test("keep everything that was acknowledged and nothing else", async () => {
    const pack = filePack(folder());
    const script = join(import.meta.dir, "limited-writer.ts");
    const child = Bun.spawn(
      [
        "sh",
        "-c",
        // Without the signal a write beyond the limit fails as a full disk would.
        'trap "" XFSZ; ulimit -f 2000; exec "$0" "$@"',
        process.execPath,
        script,
        JSON.stringify(pack),
      ],
      { stdout: "pipe", stderr: "pipe" },
    );
    const said = await new Response(child.stdout).text();
    await child.exited;
    const { stored, code, readable } = JSON.parse(said) as {
      stored: number;
      code: string;
      readable: number;
    };

    expect(["disk_full", "storage_failed"]).toContain(code);
    expect(stored).toBeWithin(1, 1000);
    expect(readable).toBe(stored);
    const store = await open(pack);
    expect(await store.countEvents(ALL_OWNERS)).toBe(stored);
    expect(await store.countJobs(ALL_OWNERS)).toEqual({ pending: stored, failed: 0 });
    await store.admit(anAdmission([anEvent()]));
    expect(await store.countEvents(ALL_OWNERS)).toBe(stored + 1);
  });
});

describe("a writer of another process", () => {
  test("is waited for, and reads go on meanwhile", async () => {
    const pack = filePack(folder());
    const store = await open(pack, { busyTimeoutMs: 60_000 });
    const { release } = await holdLock(mainPath(pack.layout));
    let isWritten = false;

    const write = store.admit(anAdmission([anEvent()])).then(() => {
      isWritten = true;
    });
    await Bun.sleep(100);

    expect(isWritten).toBe(false);
    expect(await store.countEvents("ada")).toBe(0);
    await release();
    await write;
    expect(await store.countEvents("ada")).toBe(1);
  });

  test("that takes too long fails the call, which stores nothing and may be repeated", async () => {
    const pack = filePack(folder());
    const store = await open(pack, { busyTimeoutMs: 150 });
    const { release } = await holdLock(mainPath(pack.layout));
    const start = performance.now();

    const outcomes = await Promise.all(
      [1, 2, 3].map(() => failure(store.admit(anAdmission([anEvent()])))),
    );

    expect(performance.now() - start).toBeGreaterThan(140);
    expect(outcomes.map(({ code }) => code)).toEqual([
      "storage_busy",
      "storage_busy",
      "storage_busy",
    ]);
    expect(outcomes[0]?.data).toEqual({ path: mainPath(pack.layout) });
    await release();
    expect(await store.countEvents(ALL_OWNERS)).toBe(0);
    await store.admit(anAdmission([anEvent()]));
    expect(await store.countEvents(ALL_OWNERS)).toBe(1);
  });

  test("does not stop the event loop while it is waited for", async () => {
    const pack = filePack(folder());
    const store = await open(pack, { busyTimeoutMs: 60_000 });
    const { release } = await holdLock(mainPath(pack.layout));
    let turns = 0;
    const ticking = setInterval(() => {
      turns += 1;
    }, 5);

    const write = store.admit(anAdmission([anEvent()]));
    await until(async () => turns > 8);
    await release();
    await write;

    clearInterval(ticking);
  });
});

describe("the write queue", () => {
  function queueOn(capacity: number) {
    const database = new Database(":memory:");
    database.run("CREATE TABLE notes (text TEXT PRIMARY KEY)");
    const queue = new WriteQueue(database, { capacity, busyTimeoutMs: 1000, path: "the pack" });
    const add = (text: string) =>
      queue.run(() => {
        database.query("INSERT INTO notes VALUES (?)").run(text);
        return text;
      });
    const all = () =>
      database
        .query<{ text: string }, []>("SELECT text FROM notes ORDER BY rowid")
        .all()
        .map(({ text }) => text);
    return { database, queue, add, all };
  }

  test.each([1, 2, 7])("with room for %d makes callers wait and drops none", async (capacity) => {
    const { add, all } = queueOn(capacity);
    const texts = Array.from({ length: 300 }, (_, index) => `n${index}`);

    const answers = await Promise.all(texts.map(add));

    expect(answers).toEqual(texts);
    expect(all().sort()).toEqual([...texts].sort());
  });

  test("commits calls that arrive together in one transaction", async () => {
    const { database, queue } = queueOn(1000);
    const transactions = new Set<number>();
    let begun = 0;
    const query = database.query.bind(database);
    database.query = (sql: string) => {
      if (sql.startsWith("BEGIN")) begun += 1;
      return query(sql);
    };

    await Promise.all(Array.from({ length: 200 }, () => queue.run(() => transactions.add(begun))));

    expect([...transactions]).toEqual([1]);
    expect(begun).toBe(1);
  });

  test("undoes what a failing call has written, and only that", async () => {
    const { database, queue, add, all } = queueOn(10);

    const outcomes = await Promise.allSettled([
      add("first"),
      queue.run(() => {
        database.query("INSERT INTO notes VALUES ('half')").run();
        throw new RangeError("half way");
      }),
      add("last"),
    ]);

    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(outcomes[1]).toMatchObject({ reason: new RangeError("half way") });
    expect(all()).toEqual(["first", "last"]);
  });

  test("settles a call no earlier than its commit", async () => {
    const { database, add } = queueOn(10);

    await add("one");

    expect(database.inTransaction).toBe(false);
  });

  test("refuses callers that wait for room when it closes, and keeps the accepted ones", async () => {
    const { queue, add, all } = queueOn(2);
    const calls = Array.from({ length: 5 }, (_, index) => add(`n${index}`));
    const outcomes = Promise.allSettled(calls);

    await queue.close();

    expect(
      (await outcomes).map((outcome) =>
        outcome.status === "rejected" ? outcome.reason.code : outcome.value,
      ),
    ).toEqual(["n0", "n1", "engine_closed", "engine_closed", "engine_closed"]);
    expect(all()).toEqual(["n0", "n1"]);
  });
});

test("a call that is alone does not wait for a turn of the event loop", async () => {
  const database = new Database(join(folder(), "queue.db"));
  const queue = new WriteQueue(database, { capacity: 9, busyTimeoutMs: 1000, path: "queue.db" });
  let turns = 0;
  const turn = setImmediate(() => {
    turns += 1;
  });
  expect(await queue.run(() => [database.inTransaction, turns], true)).toEqual([true, 0]);
  expect(await queue.run(() => turns)).toBe(1);
  clearImmediate(turn);
  await queue.close();
  database.close();
});
