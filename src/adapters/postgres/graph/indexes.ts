import type { IndexedNode } from "../../../ports/store/search-index.ts";
import type { Sql } from "../connection/sql.ts";
import type { OwnerKey } from "../owner-key.ts";

/** What a change of memories does to both indexes, inside its own transaction. */
export type Indexes = {
  /** Writes the lexical documents of nodes, and rewrites those of the turns around them. */
  readonly writeDocuments: (sql: Sql, owner: OwnerKey, keys: readonly number[]) => Promise<void>;
  /**
   * Removes nodes that are no longer active from both indexes, and rewrites what is indexed for the turns around them, as if they
   * had never existed. The new states are written.
   */
  readonly evict: (sql: Sql, owner: OwnerKey, keys: readonly number[]) => Promise<void>;
  /** Writes new nodes with their entries. @throws SvcError embedding_mismatch */
  readonly addNodes: (sql: Sql, items: readonly IndexedNode[]) => Promise<void>;
};
