import type { Database } from "bun:sqlite";
import {
  columnText,
  DOCUMENT_REACH,
  neighbourWords,
  ownWords,
  type Surrounded,
} from "../../../domain/search/turns.ts";
import { asInstant } from "../../../lib/instant.ts";
import { snowball } from "../../stemming/stem.ts";
import { hasRow } from "../connection/ask.ts";
import {
  ACTIVE,
  HAS_TEXT,
  HAS_WORDS,
  IS_EXTRACTED_ENTITY,
  readTurn,
  surround,
  surroundAll,
  TURN,
  type Turn,
  turnsAround,
} from "./turns.ts";

const AROUND = { reach: DOCUMENT_REACH } as const;

/**
 * Bits of a document's number for the key of its node; the bits above are the owner. The index lists the documents of each word
 * by number, so an owner's are adjacent and a search reads no others.
 */
const KEY_BITS = 40;
/** Mask of the node's key in a document's number. */
export const KEY_MASK = 2 ** KEY_BITS - 1;

/** The number of a document, as SQL. @param owner and key: SQL */
export function documentNumber(owner: string, key: string): string {
  return `((${owner} << ${KEY_BITS}) | ${key})`;
}

/** Writes the lexical documents of nodes, and rewrites those of the turns around them. Runs inside a write transaction. */
export function writeDocuments(database: Database, keys: Iterable<number>): void {
  for (const place of surroundAll(database, keys, AROUND).values()) put(database, place);
}

/**
 * Removes the documents of inactive nodes, and rewrites those that contained the beginnings of their texts. Runs
 * inside a write transaction.
 */
export function removeDocuments(database: Database, gone: readonly Turn[]): void {
  keepRemoved(database);
  for (const turn of gone) remove(database, turn);
  writeAround(database, gone);
}

/** Percentage of removed documents in a part of the index at which it is rewritten without them. */
const REMOVED_MAX = 50;

/** Raised from the default of 10, since rewriting costs more than everything else in a removal. */
function keepRemoved(database: Database): void {
  if (hasRow(database, "lexical_documents_config WHERE k = 'deletemerge'")) return;
  database
    .query("INSERT INTO lexical_documents (lexical_documents, rank) VALUES ('deletemerge', ?)")
    .run(REMOVED_MAX);
}

function remove(database: Database, { owner, key }: Pick<Turn, "owner" | "key">): void {
  database
    .query(`DELETE FROM lexical_documents WHERE rowid = ${documentNumber("?1", "?2")}`)
    .run(owner, key);
}

function writeAround(database: Database, gone: readonly Turn[]): void {
  for (const turn of turnsAround(database, gone, AROUND)) {
    put(database, surround(database, turn, AROUND));
  }
}

/**
 * Rewrites the next `limit` documents above a key; the last step removes those without an active node with text. Runs inside a
 * write transaction.
 */
export function rewriteDocuments(
  database: Database,
  after: number,
  limit: number,
): { readonly written: number; readonly cursor: number; readonly hasMore: boolean } {
  const turns = database
    .query<Turn, [number, number]>(
      `SELECT ${TURN} FROM nodes WHERE key > ? AND lifecycle_state IN ${ACTIVE} AND ${HAS_TEXT}
       ORDER BY key LIMIT ?`,
    )
    .all(after, limit);
  for (const turn of turns) put(database, surround(database, turn, AROUND));
  const hasMore = turns.length === limit;
  if (!hasMore) removeOrphanDocuments(database);
  return { written: turns.length, cursor: turns.at(-1)?.key ?? after, hasMore };
}

/**
 * Removes documents without an active node with text, and rewrites those that contained the beginnings of inactive nodes' texts. Runs
 * inside a write transaction.
 */
export function mendDocuments(database: Database): void {
  const orphans = removeOrphanDocuments(database);
  writeAround(
    database,
    orphans.flatMap((key) => readTurn(database, key) ?? []),
  );
}

/** @returns the keys of the documents' nodes */
function removeOrphanDocuments(database: Database): readonly number[] {
  // In two parts: a single number may exceed what a double represents.
  const orphans = database
    .query<{ owner: number; key: number }, []>(
      `SELECT id >> ${KEY_BITS} AS owner, id & ${KEY_MASK} AS key FROM (SELECT id FROM lexical_documents_docsize
       EXCEPT SELECT ${documentNumber("owner", "key")} FROM nodes
         WHERE lifecycle_state IN ${ACTIVE} AND ${HAS_WORDS})`,
    )
    .all();
  for (const orphan of orphans) remove(database, orphan);
  return orphans.map(({ key }) => key);
}

/** The words of a document, by column. */
function columnsOf({ turn, before, after }: Surrounded<Turn>): readonly (readonly string[])[] {
  const time = turn.event_time === null ? undefined : asInstant(turn.event_time);
  const beside = [before, after].map((turns) =>
    neighbourWords(
      turns.map(({ content }) => content),
      snowball,
    ),
  );
  return [ownWords(turn.content, time, snowball), ...beside];
}

function put(database: Database, place: Surrounded<Turn>): void {
  const { owner, key, node_type: nodeType } = place.turn;
  const isWordless =
    nodeType === "entity" &&
    hasRow(database, `nodes WHERE key = ? AND ${IS_EXTRACTED_ENTITY}`, key);
  if (isWordless) return;
  const columns = columnsOf(place).map(columnText);
  database
    .query(
      `INSERT OR REPLACE INTO lexical_documents (rowid, own, previous, next)
       VALUES (${documentNumber("?1", "?2")}, ?3, ?4, ?5)`,
    )
    .run(owner, key, ...columns);
}
