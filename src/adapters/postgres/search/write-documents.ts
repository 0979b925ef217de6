import { DOCUMENT_REACH } from "../../../domain/search/turns.ts";
import type { Sql } from "../connection/sql.ts";
import type { OwnerKey } from "../owner-key.ts";
import {
  BLOCK_BYTES_MAX,
  BLOCK_KEYS,
  blockOf,
  compacted,
  lengthIn,
  withLengths,
} from "./posting-blocks.ts";
import {
  type Entries,
  entriesOf,
  HAS_WORDS,
  IS_OF_CONVERSATION,
  IS_TURN,
  type Neighbour,
  type WordChange,
  windowsOf,
  wordChanges,
} from "./word-changes.ts";

/*
 * An owner's word index. Runs inside a transaction that holds the owner's lock, after the nodes were written and once for all of them, so
 * that neighbours that arrive together are written once.
 */

/**
 * Writes the documents of nodes, and rewrites those of the surrounding turns. Nodes without words, or no longer active, have none.
 * @param areAlone whether none of them is or was a turn, so that there are no neighbours
 */
export async function writeDocuments(
  sql: Sql,
  owner: OwnerKey,
  keys: readonly number[],
  areAlone = false,
): Promise<void> {
  if (keys.length === 0) return;
  const { near, blocks } = await readNear(sql, owner, keys, areAlone);
  const changes = wordChanges(near, new Set(keys));
  if (changes.length === 0) return;
  const long = await sql.all<Entries>(
    APPEND_AND_COUNT,
    owner,
    ...columnsOf(entriesOf(changes)),
    ...lengthsOf(blocks, changes),
    ...countOf(changes),
  );
  const short = long.map((entry) => ({ ...entry, postings: compacted(entry.postings) }));
  await putEntries(sql, owner, short);
}

type NearRow = Omit<Neighbour, "stored"> & {
  /** Of one node in each block; null without a block. */
  readonly lengths: Uint8Array | null;
};

const nearIn = (windows: string): string => `WITH ${windows}
  SELECT n.key, n.content, n.event_time, n.session_id, n.scope, n.created_at, n.id::text AS id,
    ${IS_OF_CONVERSATION} AS is_of_conversation, ${IS_TURN} AS is_turn, ${HAS_WORDS} AS has_words,
    CASE WHEN n.key = min(n.key) OVER (PARTITION BY n.key / ${BLOCK_KEYS}) THEN d.lengths END AS lengths
  FROM windows w JOIN nodes n ON n.owner = $1::bigint AND n.key = w.key
    LEFT JOIN lexical_documents d ON d.owner = $1::bigint AND d.block = n.key / ${BLOCK_KEYS}`;
const NEAR = nearIn(windowsOf(2 * DOCUMENT_REACH));
const ALONE = nearIn("windows AS (SELECT unnest($2::integer[]) AS key)");

export type Blocks = ReadonlyMap<number, Uint8Array>;

/** The nodes, their neighbouring turns, and the lengths of all blocks that contain them. */
export async function readNear(
  sql: Sql,
  owner: OwnerKey,
  keys: readonly number[],
  areAlone = false,
): Promise<{ readonly near: readonly Neighbour[]; readonly blocks: Blocks }> {
  const rows = await sql.all<NearRow>(areAlone ? ALONE : NEAR, owner, keys);
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

const APPENDED = `written AS (
    INSERT INTO lexical_postings (owner, term, block, postings)
    SELECT $1::bigint, t, b, decode(p, 'hex') FROM unnest($2::text[], $3::integer[], $4::text[]) u (t, b, p)
    ON CONFLICT (owner, term, block) DO UPDATE SET postings = lexical_postings.postings || excluded.postings
    RETURNING term, block, postings)`;
const TOO_LONG = `SELECT term, block, postings FROM written WHERE length(postings) > ${BLOCK_BYTES_MAX}`;

/** @returns the blocks that have become too long */
export async function appendEntries(
  sql: Sql,
  owner: OwnerKey,
  entries: readonly Entries[],
): Promise<readonly Entries[]> {
  if (entries.length === 0) return [];
  return sql.all<Entries>(`WITH ${APPENDED} ${TOO_LONG}`, owner, ...columnsOf(entries));
}

/** Terms, blocks and postings of entries, as lists. */
function columnsOf(entries: readonly Entries[]): [string[], number[], string[]] {
  return [
    entries.map(({ term }) => term),
    entries.map(({ block }) => block),
    entries.map(({ postings }) => Buffer.from(postings).toString("hex")),
  ];
}

const PUT = `UPDATE lexical_postings l SET postings = decode(p, 'hex')
  FROM unnest($2::text[], $3::integer[], $4::text[]) u (t, b, p)
  WHERE l.owner = $1::bigint AND l.term = u.t AND l.block = u.b`;
const REMOVE = `DELETE FROM lexical_postings l USING unnest($2::text[], $3::integer[]) u (t, b)
  WHERE l.owner = $1::bigint AND l.term = u.t AND l.block = u.b`;

/** Updates the postings of existing entries. */
export async function putEntries(
  sql: Sql,
  owner: OwnerKey,
  entries: readonly Entries[],
): Promise<void> {
  if (entries.length > 0) await sql.run(PUT, owner, ...columnsOf(entries));
}

export async function removeEntries(
  sql: Sql,
  owner: OwnerKey,
  entries: readonly Entries[],
): Promise<void> {
  const [terms, blocks] = columnsOf(entries);
  if (entries.length > 0) await sql.run(REMOVE, owner, terms, blocks);
}

/** @param from number of the first parameter after the owner's */
const putLengths = (from: number): string => `INSERT INTO lexical_documents (owner, block, lengths)
  SELECT $1::bigint, b, decode(l, 'hex') FROM unnest($${from}::integer[], $${from + 1}::text[]) u (b, l)
  ON CONFLICT (owner, block) DO UPDATE SET lengths = excluded.lengths`;

/** All changes of the word index, in one statement. */
const APPEND_AND_COUNT = `WITH ${APPENDED}, measured AS (${putLengths(5)}), counted AS (
    UPDATE owners SET lexical_documents = lexical_documents + $7::integer, lexical_words = lexical_words + $8::bigint
    WHERE owner = $1::bigint AND ($7::integer <> 0 OR $8::bigint <> 0))
  ${TOO_LONG}`;

export async function writeLengths(
  sql: Sql,
  owner: OwnerKey,
  blocks: Blocks,
  changes: readonly Pick<WordChange, "key" | "stored">[],
): Promise<void> {
  await sql.run(putLengths(2), owner, ...lengthsOf(blocks, changes));
}

/** The blocks of keys, and the lengths in each, as lists. */
function lengthsOf(
  blocks: Blocks,
  changes: readonly Pick<WordChange, "key" | "stored">[],
): [number[], string[]] {
  const byBlock = [...Map.groupBy(changes, ({ key }) => blockOf(key))];
  const lengths = byBlock.map(([block, inBlock]) => {
    const stored = new Map(inBlock.map((change) => [change.key, change.stored]));
    return Buffer.from(withLengths(blocks.get(block), stored)).toString("hex");
  });
  return [byBlock.map(([block]) => block), lengths];
}

/** The increase in documents, and in their words. */
function countOf(changes: readonly WordChange[]): [number, number] {
  let [documents, words] = [0, 0];
  for (const { was, stored } of changes) {
    documents += Math.sign(stored) - Math.sign(was);
    words += Math.max(stored - 1, 0) - Math.max(was - 1, 0);
  }
  return [documents, words];
}
