import { DOCUMENT_REACH } from "../../../domain/search/lexical-document.ts";
import type { Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import type { OwnerKey } from "../owner-key.ts";
import {
  BLOCK_BYTES_MAX,
  BLOCK_KEYS,
  blockOf,
  compacted,
  lengthIn,
  withLengths,
} from "./posting-blocks.ts";
import { HAS_WORDS, IS_OF_CONVERSATION, IS_TURN, windowsOf } from "./turns.ts";
import {
  type Entries,
  entriesOf,
  type Neighbour,
  type WordChange,
  wordChanges,
} from "./word-changes.ts";

/*
 * The word index of an owner. All of this runs inside a transaction that holds the owner's lock, after the nodes themselves were
 * written, once for all nodes of the transaction: neighbours that arrive together are written once.
 */

/**
 * Writes the documents of nodes, and those of the turns around them again. Nodes without words have none, nor those that are no
 * longer active.
 */
export async function writeDocuments(
  sql: Sql,
  owner: OwnerKey,
  keys: readonly number[],
): Promise<void> {
  if (keys.length === 0) return;
  const { near, blocks } = await readNear(sql, owner, keys);
  const changes = wordChanges(near, new Set(keys));
  if (changes.length === 0) return;
  const [long] = await Promise.all([
    appendEntries(sql, owner, entriesOf(changes)),
    writeLengths(sql, owner, blocks, changes),
    count(sql, owner, changes),
  ]);
  await compact(sql, owner, long);
}

type NearRow = Omit<Neighbour, "stored"> & {
  /** Of one node in each block; null without a block. */
  readonly lengths: Uint8Array | null;
};

const NEAR = `WITH ${windowsOf(2 * DOCUMENT_REACH)}
  SELECT n.key, n.content, n.event_time, n.session_id, n.scope, n.created_at, n.id::text AS id,
    ${IS_OF_CONVERSATION} AS is_of_conversation, ${IS_TURN} AS is_turn, ${HAS_WORDS} AS has_words,
    CASE WHEN n.key = min(n.key) OVER (PARTITION BY n.key / ${BLOCK_KEYS}) THEN d.lengths END AS lengths
  FROM windows w JOIN nodes n ON n.owner = $1::bigint AND n.key = w.key
    LEFT JOIN lexical_documents d ON d.owner = $1::bigint AND d.block = n.key / ${BLOCK_KEYS}`;

export type Blocks = ReadonlyMap<number, Uint8Array>;

/** The nodes, the turns near them, and the lengths of all blocks that these are in. */
export async function readNear(
  sql: Sql,
  owner: OwnerKey,
  keys: readonly number[],
): Promise<{ readonly near: readonly Neighbour[]; readonly blocks: Blocks }> {
  const rows = await sql.all<NearRow>(NEAR, owner, listText(keys));
  const blocks = new Map(
    rows.flatMap(({ key, lengths }) =>
      lengths === null ? [] : [[blockOf(key), lengths] as const],
    ),
  );
  const near = rows.map((row) => ({
    ...row,
    stored: lengthIn(blocks.get(blockOf(row.key)), row.key),
  }));
  return { near, blocks };
}

const APPEND = `WITH written AS (
    INSERT INTO lexical_postings (owner, term, block, postings)
    SELECT $1::bigint, t, b, decode(p, 'hex') FROM unnest($2::text[], $3::integer[], $4::text[]) u (t, b, p)
    ON CONFLICT (owner, term, block) DO UPDATE SET postings = lexical_postings.postings || excluded.postings
    RETURNING term, block, postings)
  SELECT term, block, postings FROM written WHERE length(postings) > ${BLOCK_BYTES_MAX}`;

/** @returns the blocks that have become too long */
export async function appendEntries(
  sql: Sql,
  owner: OwnerKey,
  entries: readonly Entries[],
): Promise<readonly Entries[]> {
  if (entries.length === 0) return [];
  return sql.all<Entries>(APPEND, owner, ...columnsOf(entries));
}

/** Terms, blocks and postings of entries, as lists. */
function columnsOf(entries: readonly Entries[]): [string, string, string] {
  return [
    listText(entries.map(({ term }) => term)),
    listText(entries.map(({ block }) => block)),
    listText(entries.map(({ postings }) => Buffer.from(postings).toString("hex"))),
  ];
}

const COMPACT = `UPDATE lexical_postings l SET postings = decode(p, 'hex')
  FROM unnest($2::text[], $3::integer[], $4::text[]) u (t, b, p)
  WHERE l.owner = $1::bigint AND l.term = u.t AND l.block = u.b`;

async function compact(sql: Sql, owner: OwnerKey, long: readonly Entries[]): Promise<void> {
  if (long.length === 0) return;
  const short = long.map((entry) => ({ ...entry, postings: compacted(entry.postings) }));
  await sql.run(COMPACT, owner, ...columnsOf(short));
}

const PUT_LENGTHS = `INSERT INTO lexical_documents (owner, block, lengths)
  SELECT $1::bigint, b, decode(l, 'hex') FROM unnest($2::integer[], $3::text[]) u (b, l)
  ON CONFLICT (owner, block) DO UPDATE SET lengths = excluded.lengths`;

export async function writeLengths(
  sql: Sql,
  owner: OwnerKey,
  blocks: Blocks,
  changes: readonly Pick<WordChange, "key" | "stored">[],
): Promise<void> {
  const byBlock = [...Map.groupBy(changes, ({ key }) => blockOf(key))];
  const lengths = byBlock.map(([block, inBlock]) => {
    const stored = new Map(inBlock.map((change) => [change.key, change.stored]));
    return Buffer.from(withLengths(blocks.get(block), stored)).toString("hex");
  });
  await sql.run(PUT_LENGTHS, owner, listText(byBlock.map(([block]) => block)), listText(lengths));
}

const COUNT = `UPDATE owners SET lexical_documents = lexical_documents + $2, lexical_words = lexical_words + $3
  WHERE owner = $1::bigint`;

async function count(sql: Sql, owner: OwnerKey, changes: readonly WordChange[]): Promise<void> {
  let [documents, words] = [0, 0];
  for (const { was, stored } of changes) {
    documents += Math.sign(stored) - Math.sign(was);
    words += Math.max(stored - 1, 0) - Math.max(was - 1, 0);
  }
  if (documents !== 0 || words !== 0) await sql.run(COUNT, owner, documents, words);
}
