import { ALL_OWNERS } from "../../../domain/owner.ts";
import type { Upkeep } from "../../../ports/store/upkeep.ts";
import type { Database } from "../connection/sql.ts";
import { readEdgesOf } from "../graph/edges.ts";
import { countRetained, readAging } from "./aging.ts";
import { sweepIndexes } from "./sweep-indexes.ts";

/** What the upkeep of a database looks for. */
export function bindUpkeep(database: Database) {
  const { read } = database;
  return {
    walkAging: (walk) => read(walk.owner, (sql) => readAging(sql, walk)),
    edgesAt: (nodeId) => read(ALL_OWNERS, (sql) => readEdgesOf(sql, nodeId)),
    countRetained: (owner) => read(owner, (sql) => countRetained(sql, owner)),
    sweepIndexes: (owner, limit) => sweepIndexes(database, owner, limit),
  } satisfies Upkeep;
}
