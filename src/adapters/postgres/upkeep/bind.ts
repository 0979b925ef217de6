import { ALL_OWNERS } from "../../../domain/owner.ts";
import { asInstant } from "../../../lib/instant.ts";
import type { Upkeep } from "../../../ports/store/work.ts";
import type { Database } from "../connection/sql.ts";
import { readEdgesOf } from "../graph/edges.ts";
import { readSetting, writeSetting } from "../schema/settings.ts";
import { countRetained, isDated, readAging, readLastSteps, readLastUses } from "./aging.ts";
import { sweepIndexes } from "./sweep-indexes.ts";

/** The reading of the clock that a pass doubted. */
const CLOCK = "doubted_clock";

/** What the upkeep of a database looks for. */
export function bindUpkeep(database: Database) {
  const { read, writeAny } = database;
  return {
    walkAging: (walk) => read(walk.owner, (sql) => readAging(sql, walk)),
    isDated: (from, to) => read(ALL_OWNERS, (sql) => isDated(sql, from, to)),
    doubtedClock: async () => {
      const at = await read(ALL_OWNERS, (sql) => readSetting(sql, CLOCK));
      return at === undefined ? undefined : asInstant(at);
    },
    doubtClock: (at) => writeAny((sql) => writeSetting(sql, CLOCK, at)),
    lastUses: (nodeIds) => read(ALL_OWNERS, (sql) => readLastUses(sql, nodeIds)),
    edgesAt: (nodeId) => read(ALL_OWNERS, (sql) => readEdgesOf(sql, nodeId)),
    lastSteps: (nodeIds) => read(ALL_OWNERS, (sql) => readLastSteps(sql, nodeIds)),
    countRetained: (owner, until) => read(owner, (sql) => countRetained(sql, owner, until)),
    sweepIndexes: (owner, limit) => sweepIndexes(database, owner, limit),
  } satisfies Upkeep;
}
