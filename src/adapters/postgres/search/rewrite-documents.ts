import type { Sql } from "../connection/sql.ts";
import type { OwnerKey } from "../owner-key.ts";
import { BLOCK_KEYS, blockOf, lastOf, replaced, storedLength } from "./posting-blocks.ts";
import { type Entries, entriesOf, HAS_WORDS, wordDocuments } from "./word-changes.ts";
import {
  appendEntries,
  putEntries,
  readNear,
  removeEntries,
  writeLengths,
} from "./write-documents.ts";

/** What is written next. */
export type Step = {
  /** The key up to which everything is written. */
  readonly after: number;
  readonly limit: number;
  readonly signal?: AbortSignal | undefined;
};

/** Progress of rewriting an owner's documents. */
export type Rewriting = {
  readonly written: number;
  /** Where to continue. */
  readonly cursor: number;
  readonly hasMore: boolean;
};

/** UTF-8 bytes of texts after which a step ends, limiting its time and memory. */
const STEP_BYTES = 8_000_000;
/** Number of documents, and of entries written, between two checks of the signal. */
const LOOKS = 8;
const ENTRIES_AT_ONCE = 5000;

const NEXT = `SELECT key, before < ${STEP_BYTES} AS fits FROM (
    SELECT n.key, sum(octet_length(n.content)) OVER (ORDER BY n.key ROWS UNBOUNDED PRECEDING) - octet_length(n.content) AS before
    FROM nodes n WHERE n.owner = $1::bigint AND n.key > $2 AND ${HAS_WORDS}) next
  ORDER BY key LIMIT $3`;

/**
 * Writes an owner's next documents above a key: at most `limit`, fewer if long. Outdated index entries for them and for keys in between are
 * replaced, correct ones left. The last step updates the counts. Runs inside a transaction that holds the owner's lock, and rolls it back
 * when aborted.
 */
export async function rewriteDocuments(
  sql: Sql,
  owner: OwnerKey,
  { after, limit, signal }: Step,
): Promise<Rewriting> {
  const next = await sql.all<{ key: number; fits: boolean }>(NEXT, owner, after, limit + 1);
  const keys = next.flatMap(({ key, fits }, place) => (fits && place < limit ? [key] : []));
  const hasMore = keys.length < next.length;
  const cursor = keys.at(-1) ?? after;
  const newest = hasMore ? cursor : await readNewestKey(sql, owner);
  // Keys begin at 1, blocks at 0; there may also be entries after the newest key.
  const to = hasMore || newest === 0 ? newest : lastOf(blockOf(newest));
  const range = { after: after === 0 ? -1 : after, to };
  const documents = await documentsOf(sql, owner, keys, signal);
  await replaceEntries(sql, owner, { range, fresh: entriesOf(documents), signal });
  await replaceLengths(sql, owner, range, documents);
  if (!hasMore) await countAll(sql, owner, newest);
  return { written: keys.length, cursor, hasMore };
}

type Document = {
  readonly key: number;
  readonly terms: ReadonlyMap<string, number>;
  readonly stored: number;
};

async function documentsOf(
  sql: Sql,
  owner: OwnerKey,
  keys: readonly number[],
  signal: AbortSignal | undefined,
): Promise<readonly Document[]> {
  const { near } = await readNear(sql, owner, keys);
  const documents: Document[] = [];
  for await (const some of parts(keys, Math.ceil(keys.length / LOOKS), signal)) {
    for (const [key, { terms, words }] of wordDocuments(near, new Set(some))) {
      documents.push({ key, terms, stored: storedLength(words) });
    }
  }
  return documents;
}

/** Items in batches; in between, other work runs and the signal is checked. */
async function* parts<T>(
  items: readonly T[],
  size: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly T[]> {
  for (let from = 0; from < items.length; from += size) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
    yield items.slice(from, from + size);
  }
}

/** Keys above the first, up to the second. */
type Range = { readonly after: number; readonly to: number };

type Replacement = {
  readonly range: Range;
  readonly fresh: readonly Entries[];
  readonly signal: AbortSignal | undefined;
};

/** Replaces all entries of some keys. */
async function replaceEntries(
  sql: Sql,
  owner: OwnerKey,
  { range, fresh, signal }: Replacement,
): Promise<void> {
  const old = await sql.all<Entries>(
    `SELECT term, block, postings FROM lexical_postings WHERE owner = $1::bigint AND block BETWEEN $2 AND $3`,
    owner,
    blockOf(range.after + 1),
    blockOf(range.to),
  );
  const missing = new Map(fresh.map((entry) => [nameOf(entry), entry]));
  const [changed, gone]: [Entries[], Entries[]] = [[], []];
  for await (const some of parts(old, ENTRIES_AT_ONCE, signal)) {
    for (const entry of some) {
      const name = nameOf(entry);
      const own = missing.get(name)?.postings ?? NONE;
      missing.delete(name);
      const postings = replaced(entry.postings, within(range, entry.block), own);
      if (postings?.length === 0) gone.push(entry);
      else if (postings !== undefined) changed.push({ ...entry, postings });
    }
  }
  for await (const some of parts(gone, ENTRIES_AT_ONCE, signal))
    await removeEntries(sql, owner, some);
  for await (const some of parts(changed, ENTRIES_AT_ONCE, signal))
    await putEntries(sql, owner, some);
  const added = [...missing.values()];
  for await (const some of parts(added, ENTRIES_AT_ONCE, signal))
    await appendEntries(sql, owner, some);
}

function nameOf({ term, block }: Entries): string {
  return `${term} ${block}`;
}

const NONE = new Uint8Array(0);

/** The keys of a block that are in a range. */
function within({ after, to }: Range, block: number): readonly [first: number, last: number] {
  const start = block * BLOCK_KEYS;
  return [Math.max(after + 1 - start, 0), Math.min(to, lastOf(block)) - start];
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

/** Removes entries above the newest key, and counts the rest. */
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

/** The highest key of an owner's nodes in any state; 0 without one. */
async function readNewestKey(sql: Sql, owner: OwnerKey): Promise<number> {
  const row = await sql.get<{ key: number | null }>(
    "SELECT max(key) AS key FROM nodes WHERE owner = $1::bigint",
    owner,
  );
  return row?.key ?? 0;
}
