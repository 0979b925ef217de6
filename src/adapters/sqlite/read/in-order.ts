import type { Database } from "bun:sqlite";
import type { MemoryNode } from "../../../domain/node.ts";
import { PageBuilder } from "../../../domain/search/pages.ts";
import { NODE_PAGE, nodeReader } from "./pages.ts";

/** Nodes by key, in the order of the keys; those beyond the size of a page are left out. */
export function readInOrder(database: Database, keys: readonly number[]): readonly MemoryNode[] {
  const page = new PageBuilder(NODE_PAGE, keys.length);
  const readRow = nodeReader(database);
  for (const key of keys) {
    const row = readRow(key);
    if (row !== undefined && !page.add(row)) break;
  }
  return page.page().items;
}

/** Where a walk over edges begins. */
export type Beginning = { readonly key: number; readonly owner: number };

/** The key of a node and that of its owner. */
export function findBeginning(database: Database, id: string): Beginning | undefined {
  return (
    database.query<Beginning, [string]>("SELECT key, owner FROM nodes WHERE id = ?").get(id) ??
    undefined
  );
}
