import type { Store } from "../../../ports/store/store.ts";
import type { Parts } from "../parts.ts";
import { readBrowse, readFacetCounts, readNodesOf, readQuarterCounts } from "./browse.ts";
import { readContradictionsAmong, readContradictionsOf } from "./contradictions.ts";
import { readEdges, readNotedContradictions, readStoreCounts } from "./edges.ts";
import { readEntities } from "./entities.ts";
import { readChain, readNeighborhood } from "./walks.ts";

/** Walks over edges, and what a person looks through. */
export function bindReads({ database }: Parts) {
  return {
    neighborhood: (read) => database.snapshot(read.owner, (sql) => readNeighborhood(sql, read)),
    chain: (read) => database.snapshot(read.owner, (sql) => readChain(sql, read)),
    contradictionsAmong: (userId, ids) =>
      database.read(userId, (sql) => readContradictionsAmong(sql, userId, ids)),
    contradictionsOf: (nodeId, owner) =>
      database.read(owner, (sql) => readContradictionsOf(sql, nodeId, owner)),
    browse: (page) => database.snapshot(page.userId, (sql) => readBrowse(sql, page)),
    facetCounts: (filter) =>
      database.snapshot(filter.userId, (sql) => readFacetCounts(sql, filter)),
    quarterCounts: (filter) =>
      database.snapshot(filter.userId, (sql) => readQuarterCounts(sql, filter)),
    edges: (page) => database.read(page.owner, (sql) => readEdges(sql, page)),
    entities: (page) => database.snapshot(page.userId, (sql) => readEntities(sql, page)),
    notedContradictions: (page) =>
      database.snapshot(page.userId, (sql) => readNotedContradictions(sql, page)),
    storeCounts: (owner) => database.snapshot(owner, (sql) => readStoreCounts(sql, owner)),
    nodesOf: (userId, ids) => database.snapshot(userId, (sql) => readNodesOf(sql, userId, ids)),
  } satisfies Partial<Store>;
}
