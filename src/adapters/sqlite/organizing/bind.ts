import type { Store } from "../../../ports/store/store.ts";
import type { PackAccess } from "../pack-access.ts";
import {
  readConsolidatedIds,
  readEntityNames,
  readNewestKey,
  readNewestOfType,
  readNewNodes,
  readPeriodSources,
  readPublishedSummaries,
  readRepeatedTexts,
} from "./reads.ts";
import { readWalkPlace, writeWalkPlace } from "./walk-places.ts";

/** What jobs read that go over all memories, see `Organizing`. */
export function bindOrganizing({ read, write }: PackAccess) {
  return {
    walkPlace: (...given) => read((database) => readWalkPlace(database, ...given)),
    saveWalkPlace: (...given) => write((database) => writeWalkPlace(database, ...given)),
    newestKey: () => read(readNewestKey),
    repeatedTexts: (given) => read((database) => readRepeatedTexts(database, given)),
    entityNames: (given) => read((database) => readEntityNames(database, given)),
    newNodes: (given) => read((database) => readNewNodes(database, given)),
    newestOfType: (...given) => read((database) => readNewestOfType(database, ...given)),
    periodSources: (...given) => read((database) => readPeriodSources(database, ...given)),
    publishedSummaries: (...given) =>
      read((database) => readPublishedSummaries(database, ...given)),
    consolidatedIds: (given) => read((database) => readConsolidatedIds(database, given)),
  } satisfies Partial<Store<number>>;
}
