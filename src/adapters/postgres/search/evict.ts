import type { Sql } from "../connection/sql.ts";
import type { OwnerKey } from "../owner-key.ts";
import { writeDocuments } from "./write-documents.ts";
import { evictVectors } from "./write-vectors.ts";

/**
 * Removes nodes that are no longer active from both indexes, and rewrites what is indexed for the turns around them, as if they
 * had never existed. The cost does not grow with the length of a conversation. Runs inside a write transaction with the owner's
 * lock, after the new states are written.
 */
export async function evict(sql: Sql, owner: OwnerKey, keys: readonly number[]): Promise<void> {
  if (keys.length === 0) return;
  await evictVectors(sql, owner, keys);
  await writeDocuments(sql, owner, keys);
}
