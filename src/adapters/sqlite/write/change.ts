import type { Database } from "bun:sqlite";
import { ALL_OWNERS, type Owner } from "../../../domain/owner.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { IndexedNode, KeyedNode } from "../../../ports/store/search-index.ts";
import type { ChangeHooks } from "../../sql/change.ts";
import { readNodeRows } from "../../sql/nodes.ts";
import { toNode } from "../../sql/rows.ts";
import { native, run } from "../connection/run.ts";
import { evictVectors } from "../vectors/write-vectors.ts";
import { advanceIndexSequence } from "./index-sequence.ts";
import { removeDocuments } from "./lexical-index.ts";
import { readTurns } from "./turns.ts";

/** What changes in a pack ask of its indexes. @param add writes new nodes; absent: decisions add none */
export function changeHooks(
  now: ChangeHooks["now"],
  add?: (database: Database, items: readonly IndexedNode[]) => void,
): ChangeHooks {
  return {
    now,
    add: add && ((items) => native((database) => add(database, items))),
    evict: (_owner, keys) => native((database) => evict(database, keys)),
  };
}

/** Nodes of an owner, by id. */
export function readNodes(
  database: Database,
  ids: readonly Uuid[],
  owner: Owner = ALL_OWNERS,
): ReadonlyMap<Uuid, KeyedNode<number>> {
  const rows = run(database, readNodeRows(ids, owner));
  return new Map(
    rows.map((row) => {
      const node = toNode(row);
      return [node.id, { key: row.key, node }];
    }),
  );
}

/**
 * Removes nodes that are no longer active from both indexes, and rewrites what is indexed for the turns around them, as if they
 * had never existed. The cost does not grow with the length of a conversation. Runs inside a write transaction, after the new
 * states are written.
 */
export function evict(database: Database, keys: readonly number[]): void {
  if (keys.length === 0) return;
  const gone = readTurns(database, keys);
  // The vectors first: once the word index has changes, each write to the vector index is a savepoint for it, which costs several
  // times as much as the write.
  evictVectors(database, gone);
  removeDocuments(database, gone);
  advanceIndexSequence(database);
}
