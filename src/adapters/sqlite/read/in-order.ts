import type { Database } from "bun:sqlite";
import type { MemoryNode } from "../../../domain/node.ts";
import type { Owner } from "../../../domain/owner.ts";
import { PageBuilder } from "../../../domain/search/pages.ts";
import { userIdOf } from "../write/owners.ts";
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

/** The starting point of a walk over edges. */
export type Beginning = { readonly key: number; readonly owner: number };

export function findBeginning(database: Database, id: string, owner: Owner): Beginning | undefined {
  return (
    database
      .query<Beginning, [string, string | null]>(
        `SELECT n.key, n.owner FROM nodes n JOIN owners o ON o.owner = n.owner
         WHERE n.id = ?1 AND (?2 IS NULL OR o.user_id = ?2)`,
      )
      .get(id, userIdOf(owner)) ?? undefined
  );
}
