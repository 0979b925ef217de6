import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { mainPath } from "../../src/adapters/sqlite/connection/layout.ts";
import type { EngineDeps } from "../../src/engine/deps.ts";
import { createEngine } from "../../src/engine/engine.ts";
import {
  migrateDatabase,
  migrateFromDatabase,
  migrateToDatabase,
} from "../../src/packs/migrate-database.ts";
import type { Store } from "../../src/ports/store/store.ts";
import {
  answersOf,
  countedIds,
  expectSame,
  fill,
  QUESTIONS,
  remembering,
  stoppedClock,
} from "../adapters/postgres/answers.ts";
import { exported } from "../adapters/sqlite/exported.ts";
import { openPostgres } from "../contract/postgres-place.ts";
import { filePack, openSqlitePack, type SqlitePack } from "../contract/sqlite-pack.ts";
import { engines, REAL_MODEL } from "../engine/engines.ts";
import { leftOut } from "../left-out.ts";
import { dropDatabase, NO_POSTGRES } from "../postgres/databases.ts";
import { aRun, databaseConfig, emptyDatabase, packConfig } from "./stores.ts";

// What is done behind the calls is done at another moment in each.
const { open, close } = engines({ upkeep: undefined });
const made: string[] = [];
afterAll(async () => {
  await close();
  for (const url of made) await dropDatabase(new URL(url).pathname.slice(1));
});

const newDatabase = async (): Promise<string> => {
  const url = await emptyDatabase();
  made.push(url);
  return url;
};

/** The records of an export, between header and footer, in which the time of the export is. */
const records = (text: string): readonly string[] => text.split("\n").slice(1, -2);

describe.skipIf(NO_POSTGRES !== undefined)(`beside a pack${leftOut(NO_POSTGRES)}`, () => {
  const embedder = remembering(REAL_MODEL);
  /** The pack, closed, and what it answered. */
  let pack: SqlitePack;
  let deps: EngineDeps;
  let expected: Awaited<ReturnType<typeof answersOf>>;
  beforeAll(async () => {
    const clock = stoppedClock();
    const opened = await open({ embedder, clock, ids: countedIds() });
    ({ pack, deps } = opened);
    const asked = { engine: opened.engine, at: clock.at };
    await fill(asked);
    expected = await answersOf(asked);
    await opened.engine.close();
  }, 900_000);

  const clock = stoppedClock();
  const options = () => ({
    embedding: embedder.identity,
    scoringVersion: deps.settings.scoringVersion,
    clock,
  });
  const engineOn = (store: Store) => createEngine({ ...deps, store, clock, ids: countedIds() });

  test("a database answers questions as a pack does", async () => {
    const engine = engineOn(await openPostgres({ url: await newDatabase() }, options()));
    const both = { engine, at: clock.at };
    try {
      await fill(both);
      expectSame(await answersOf(both), expected);
    } finally {
      await engine.close();
    }
  }, 900_000);

  test("a pack that was moved into a database, into one in partitions and back answers questions as before, and is exported alike", async () => {
    const text = exported(pack, false);
    const [url, parted] = [await newDatabase(), await newDatabase()];

    const { counts } = await migrateToDatabase(packConfig(pack), databaseConfig(url), aRun());
    await migrateDatabase(databaseConfig(url), databaseConfig(parted, 3), aRun());
    const copy = filePack(join(dirname(mainPath(pack.layout)), "copy"));
    await migrateFromDatabase(databaseConfig(parted), packConfig(copy), { kind: "plain" }, aRun());

    expect(counts.receipt).toBe(QUESTIONS);
    expect(records(exported(copy, false))).toEqual([...records(text)]);
    for (const store of [
      await openPostgres({ url: parted }, options()),
      await openSqlitePack(copy, options()),
    ]) {
      const engine = engineOn(store);
      try {
        expectSame(await answersOf({ engine, at: clock.at }), expected);
      } finally {
        await engine.close();
      }
    }
  }, 900_000);
});
