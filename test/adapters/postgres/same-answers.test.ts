import { afterAll, test } from "bun:test";
import { createEngine } from "../../../src/engine/engine.ts";
import { openPostgres } from "../../contract/postgres-place.ts";
import { engines, REAL_MODEL } from "../../engine/engines.ts";
import { leftOut } from "../../left-out.ts";
import { databaseUrl, dropDatabase, makeDatabase, NO_POSTGRES } from "../../postgres/databases.ts";
import { answersOf, countedIds, expectSame, fill, remembering, stoppedClock } from "./answers.ts";

// What is done behind the calls is done at another moment in each.
const { open, close } = engines({ upkeep: undefined });
afterAll(close);

test.skipIf(NO_POSTGRES !== undefined)(
  `a database answers 500 questions as a pack does${leftOut(NO_POSTGRES)}`,
  async () => {
    const embedder = remembering(REAL_MODEL);
    const packClock = stoppedClock();
    const pack = await open({ embedder, clock: packClock, ids: countedIds() });
    const name = await makeDatabase();
    const clock = stoppedClock();
    const { scoringVersion } = pack.deps.settings;
    const url = databaseUrl(name);
    const store = await openPostgres(
      { url },
      { embedding: embedder.identity, scoringVersion, clock },
    );
    const engine = createEngine({ ...pack.deps, store, clock, ids: countedIds() });
    try {
      const both = [
        { engine: pack.engine, at: packClock.at },
        { engine, at: clock.at },
      ] as const;
      for (const one of both) await fill(one);
      const [expected, found] = [await answersOf(both[0]), await answersOf(both[1])];

      expectSame(found, expected);
    } finally {
      await engine.close();
      await dropDatabase(name);
    }
  },
  900_000,
);
