import type { Sql } from "../connection/sql.ts";
import { readNewestKey } from "../graph/read-nodes.ts";
import type { OwnerKey } from "../owner-key.ts";
import { BLOCK_KEYS, blockOf, compacted, postingOf, storedLength } from "./posting-blocks.ts";
import { HAS_WORDS } from "./turns.ts";
import { type Entries, entriesOf, wordDocuments } from "./word-changes.ts";
import { appendEntries, readNear, writeLengths } from "./write-documents.ts";

/** How far a rewrite of all documents of an owner is. */
export type Rewriting = {
  readonly written: number;
  /** Where to continue. */
  readonly cursor: number;
  readonly hasMore: boolean;
};

/**
 * Writes the next `limit` documents of an owner above a key, whatever the index holds of them and of what lies between them. The
 * last step counts what there is. Runs inside a transaction that holds the owner's lock.
 */
export async function rewriteDocuments(
  sql: Sql,
  owner: OwnerKey,
  after: number,
  limit: number,
): Promise<Rewriting> {
  const rows = await sql.all<{ key: number }>(
    `SELECT n.key FROM nodes n WHERE n.owner = $1::bigint AND n.key > $2 AND ${HAS_WORDS} ORDER BY n.key LIMIT $3`,
    owner,
    after,
    limit,
  );
  const keys = rows.map(({ key }) => key);
  const hasMore = keys.length === limit;
  const cursor = keys.at(-1) ?? after;
  const range = { after, to: hasMore ? cursor : await readNewestKey(sql, owner) };
  const { near } = await readNear(sql, owner, keys);
  const documents = Array.from(wordDocuments(near, new Set(keys)), ([key, { terms, words }]) => ({
    key,
    terms,
    stored: storedLength(words),
  }));
  await replaceEntries(sql, owner, range, entriesOf(documents));
  await replaceLengths(sql, owner, range, documents);
  if (!hasMore) await countAll(sql, owner, range.to);
  return { written: keys.length, cursor, hasMore };
}

/** Keys above the first, up to the second. */
type Range = { readonly after: number; readonly to: number };

/** Puts entries in the place of all those of some keys. */
async function replaceEntries(
  sql: Sql,
  owner: OwnerKey,
  range: Range,
  fresh: readonly Entries[],
): Promise<void> {
  const old = await sql.all<Entries>(
    `DELETE FROM lexical_postings WHERE owner = $1::bigint AND block BETWEEN $2 AND $3
     RETURNING term, block, postings`,
    owner,
    blockOf(range.after + 1),
    blockOf(range.to),
  );
  const removed = removals(range);
  const kept = old.flatMap((entry): readonly Entries[] => {
    const postings = compacted(Buffer.concat([entry.postings, removed.get(entry.block) ?? NONE]));
    return postings.length === 0 ? [] : [{ ...entry, postings }];
  });
  await appendEntries(sql, owner, kept);
  await appendEntries(sql, owner, fresh);
}

const NONE = new Uint8Array(0);

/** What removes the keys from their blocks. */
function removals({ after, to }: Range): ReadonlyMap<number, Uint8Array> {
  const keys = Array.from({ length: to - after }, (_, place) => after + 1 + place);
  return new Map(
    Array.from(Map.groupBy(keys, blockOf), ([block, inBlock]) => [
      block,
      Uint8Array.from(inBlock.flatMap((key) => postingOf(key, 0))),
    ]),
  );
}

async function replaceLengths(
  sql: Sql,
  owner: OwnerKey,
  { after, to }: Range,
  documents: readonly { readonly key: number; readonly stored: number }[],
): Promise<void> {
  const rows = await sql.all<{ block: number; lengths: Uint8Array }>(
    "SELECT block, lengths FROM lexical_documents WHERE owner = $1::bigint AND block BETWEEN $2 AND $3",
    owner,
    blockOf(after + 1),
    blockOf(to),
  );
  const stored = new Map(documents.map((document) => [document.key, document.stored]));
  const all = Array.from({ length: to - after }, (_, place) => {
    const key = after + 1 + place;
    return { key, stored: stored.get(key) ?? 0 };
  });
  const blocks = new Map(rows.map(({ block, lengths }) => [block, lengths]));
  if (all.length > 0) await writeLengths(sql, owner, blocks, all);
}

/** Removes what lies above the newest key, and counts everything else. */
async function countAll(sql: Sql, owner: OwnerKey, newest: number): Promise<void> {
  for (const table of ["lexical_postings", "lexical_documents"]) {
    await sql.run(
      `DELETE FROM ${table} WHERE owner = $1::bigint AND block > $2`,
      owner,
      blockOf(newest),
    );
  }
  await sql.run(
    `UPDATE owners SET (lexical_documents, lexical_words) = (
       SELECT count(*) FILTER (WHERE stored > 0), coalesce(sum(stored - 1) FILTER (WHERE stored > 0), 0)
       FROM lexical_documents d CROSS JOIN generate_series(0, ${BLOCK_KEYS - 1}) place
         CROSS JOIN LATERAL (SELECT get_byte(d.lengths, 2 * place) + 256 * get_byte(d.lengths, 2 * place + 1) AS stored) s
       WHERE d.owner = $1::bigint)
     WHERE owner = $1::bigint`,
    owner,
  );
}
