import { isOfConversation } from "../../../domain/search/turns.ts";
import { sha256Hex } from "../../../lib/hashing.ts";
import type { EmbeddingIdentity } from "../../../ports/models.ts";
import type { Entry, IndexWrites } from "../../sql/change.ts";
import { native } from "../connection/run.ts";
import type { Sql } from "../connection/sql.ts";
import type { OwnerKey } from "../owner-key.ts";
import { BLOCK_KEYS } from "./posting-blocks.ts";
import { HAS_TEXT, HAS_WORDS } from "./word-changes.ts";
import { writeDocuments } from "./write-documents.ts";
import { evictVectors, putVectors, type VectorEntry } from "./write-vectors.ts";

/** Whether a node `n` has a vector, as SQL. */
export const HAS_VECTOR =
  "EXISTS (SELECT 1 FROM vectors v WHERE v.owner = n.owner AND v.key = n.key)";
/** Whether a node `n` has a lexical document, as SQL: two bytes per key of a block, zero without one. */
export const HAS_DOCUMENT = `EXISTS (SELECT 1 FROM lexical_documents d WHERE d.owner = n.owner AND d.block = n.key / ${BLOCK_KEYS}
  AND substr(d.lengths, n.key % ${BLOCK_KEYS} * 2 + 1, 2) NOT IN ('', '\\x0000'))`;

export function indexWrites(embedding: EmbeddingIdentity): IndexWrites {
  return {
    embedding,
    isIncomplete: `${HAS_TEXT} AND (NOT ${HAS_VECTOR} OR ${HAS_WORDS} AND NOT ${HAS_DOCUMENT})`,
    write: (owner, entries) => native((sql) => write(sql, String(owner), entries, embedding)),
    evict: (owner, keys) => native((sql) => evict(sql, String(owner), keys)),
  };
}

async function write(
  sql: Sql,
  owner: OwnerKey,
  entries: readonly Entry[],
  identity: EmbeddingIdentity,
): Promise<void> {
  const vectors = entries.flatMap(({ key, node, vector }): VectorEntry[] =>
    vector === undefined ? [] : [{ key, vector, contentHash: sha256Hex(node.content) }],
  );
  const texts = entries.flatMap(({ key, lexical }) => (lexical ? [key] : []));
  const areAlone = !entries.some(({ node }) => isOfConversation(node));
  const [wordless] = await Promise.all([
    vectors.length === 0 ? texts : withoutDocument(sql, owner, texts),
    putVectors(sql, owner, vectors, identity, areAlone),
  ]);
  await writeDocuments(sql, owner, wordless, areAlone);
}

/** Nodes without a lexical document yet; existing documents were written with their nodes and neighbours. */
async function withoutDocument(
  sql: Sql,
  owner: OwnerKey,
  keys: readonly number[],
): Promise<readonly number[]> {
  if (keys.length === 0) return [];
  const rows = await sql.all<{ key: number }>(
    `SELECT n.key FROM nodes n WHERE n.owner = $1::bigint AND n.key = ANY ($2::integer[]) AND NOT ${HAS_DOCUMENT}`,
    owner,
    keys,
  );
  return rows.map(({ key }) => key);
}

/** See `IndexWrites`. Runs inside a write transaction with the owner's lock, after the new states are written. */
export async function evict(sql: Sql, owner: OwnerKey, keys: readonly number[]): Promise<void> {
  if (keys.length === 0) return;
  await evictVectors(sql, owner, keys);
  await writeDocuments(sql, owner, keys);
}
