import type { Store } from "../../../ports/store/store.ts";
import type { Database } from "../connection/sql.ts";
import { readNewestKey } from "../graph/read-nodes.ts";
import { ownerKey } from "../owner-key.ts";
import {
  readConsolidatedIds,
  readEntityNames,
  readNewestOfType,
  readNewNodes,
  readPeriodSources,
  readPublishedSummaries,
  readRepeatedTexts,
} from "./reads.ts";
import { readWalkPlace, writeWalkPlace } from "./walk-places.ts";

/** What jobs read that go over all memories of an owner, see `Organizing`. */
export function bindOrganizing({ read, write }: Database) {
  return {
    walkPlace: (job, userId) => read(userId, (sql) => readWalkPlace(sql, job, userId)),
    saveWalkPlace: (job, userId, place) =>
      write(userId, (sql) => writeWalkPlace(sql, job, userId, place)),
    newestKey: (userId) => read(userId, (sql) => readNewestKey(sql, ownerKey(userId))),
    repeatedTexts: (given) => read(given.userId, (sql) => readRepeatedTexts(sql, given)),
    entityNames: (userId) => read(userId, (sql) => readEntityNames(sql, userId)),
    newNodes: (given) => read(given.userId, (sql) => readNewNodes(sql, given)),
    newestOfType: (userId, ...given) =>
      read(userId, (sql) => readNewestOfType(sql, userId, ...given)),
    periodSources: (userId, days) => read(userId, (sql) => readPeriodSources(sql, userId, days)),
    publishedSummaries: (userId, since) =>
      read(userId, (sql) => readPublishedSummaries(sql, userId, since)),
    consolidatedIds: (userId) => read(userId, (sql) => readConsolidatedIds(sql, userId)),
  } satisfies Partial<Store<number>>;
}
