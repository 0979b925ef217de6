import { afterAll, afterEach, expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { mainPath } from "../../src/adapters/sqlite/connection/layout.ts";
import { createEngine } from "../../src/engine/engine.ts";
import {
  migrateDatabase,
  migrateFromDatabase,
  migrateToDatabase,
} from "../../src/packs/migrate-database.ts";
import {
  answersOf,
  expectSame,
  fill,
  remembering,
  stoppedClock,
} from "../adapters/postgres/answers.ts";
import { exported } from "../adapters/sqlite/exported.ts";
import { openPostgres } from "../contract/postgres-place.ts";
import { filePack, openSqlitePack } from "../contract/sqlite-pack.ts";
import { engines, REAL_MODEL } from "../engine/engines.ts";
import { leftOut } from "../left-out.ts";
import { dropDatabase, NO_POSTGRES } from "../postgres/databases.ts";
import { aRun, databaseConfig, emptyDatabase, packConfig } from "./stores.ts";

// What is done behind the calls is done at another moment in each.
const { open, close } = engines({ upkeep: undefined });
const made: string[] = [];
afterEach(async () => {
  for (const url of made.splice(0)) await dropDatabase(new URL(url).pathname.slice(1));
});
afterAll(close);

/** The records of an export, between header and footer, in which the time of the export is. */
const records = (text: string): readonly string[] => text.split("\n").slice(1, -2);

test.skipIf(NO_POSTGRES !== undefined)(
  `a pack that was moved into a database, into one in partitions and back answers 500 questions as before, and is exported alike${leftOut(NO_POSTGRES)}`,
  async () => {
    const embedder = remembering(REAL_MODEL);
    const clock = stoppedClock();
    const { engine, deps, pack } = await open({ embedder, clock });
    await fill({ engine, at: clock.at });
    const expected = await answersOf({ engine, at: clock.at });
    await engine.close();
    const options = {
      embedding: embedder.identity,
      scoringVersion: deps.settings.scoringVersion,
      clock,
    };
    const text = exported(pack, false);
    const [url, parted] = [await emptyDatabase(), await emptyDatabase()];
    made.push(url, parted);

    const { counts } = await migrateToDatabase(packConfig(pack), databaseConfig(url), aRun());
    await migrateDatabase(databaseConfig(url), databaseConfig(parted, 3), aRun());
    const copy = filePack(join(dirname(mainPath(pack.layout)), "copy"));
    await migrateFromDatabase(databaseConfig(parted), packConfig(copy), { kind: "plain" }, aRun());

    expect(counts.receipt).toBe(500);
    expect(records(exported(copy, false))).toEqual([...records(text)]);
    for (const store of [
      await openPostgres({ url: parted }, options),
      await openSqlitePack(copy, options),
    ]) {
      const moved = createEngine({ ...deps, store });
      try {
        expectSame(await answersOf({ engine: moved, at: clock.at }), expected);
      } finally {
        await moved.close();
      }
    }
  },
  900_000,
);
