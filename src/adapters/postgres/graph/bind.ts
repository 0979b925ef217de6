import type { Graph } from "../../../ports/store/graph.ts";
import type { Parts } from "../parts.ts";
import { changeAlone } from "./change.ts";
import {
  countNodes,
  readExpired,
  readNode,
  readNodes,
  readNodesCiting,
  readScan,
} from "./read-nodes.ts";

/** What reads and changes memories one by one; walks over edges are in `read/`. */
export function bindGraph(parts: Parts) {
  const { database } = parts;
  return {
    change: (reads, decide) => changeAlone(database, reads, decide, parts),
    node: (id, owner) => database.read(owner, (sql) => readNode(sql, id, owner)),
    queryNodes: (filter) => database.snapshot(filter.owner, (sql) => readNodes(sql, filter)),
    scanNodes: (page) => database.read(page.userId, (sql) => readScan(sql, page)),
    expired: (read) => database.read(read.owner, (sql) => readExpired(sql, read)),
    nodesCiting: (id, owner) => database.read(owner, (sql) => readNodesCiting(sql, id, owner)),
    countNodes: (owner) => database.read(owner, (sql) => countNodes(sql, owner)),
  } satisfies Partial<Graph>;
}
