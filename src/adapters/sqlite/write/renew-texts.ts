import type { Database } from "bun:sqlite";
import { ANALYSER } from "../../../domain/stemmed-words.ts";
import { ask, hasRow } from "../connection/ask.ts";
import { readPackSetting, writePackSetting } from "../schema/pack-settings.ts";
import { advanceIndexSequence } from "./index-sequence.ts";
import { formerDocuments, writeDocuments } from "./lexical-index.ts";
import { ACTIVE, HAS_TEXT } from "./turns.ts";

/*
 * Texts of packs that an earlier analyser indexed are indexed again, step by step, while searches and writes go on. The pack
 * records up to which key its texts are of this analyser. A process of an earlier version that still has the pack open may write
 * above that key: the next opening goes on from there.
 */

/** Setting of a pack: the version of the analyser, a blank, the key up to which its texts are of that version. */
const NAME = "analyser";
/** Nodes that one step looks at, */
const NODES_A_STEP = 100;
/** and UTF-16 units of their texts after which it ends. */
const CHARS_A_STEP = 200_000;

function readCursor(database: Database): number {
  const [version, key] = readPackSetting(database, NAME)?.split(" ") ?? [];
  return Number(version) === ANALYSER ? Number(key) : 0;
}

function writeCursor(database: Database, key: number): void {
  writePackSetting(database, NAME, `${ANALYSER} ${key}`);
}

/** Whether there may be texts that an earlier analyser indexed. */
export function hasFormerTexts(database: Database): boolean {
  return hasRow(database, "nodes WHERE key > ?", readCursor(database));
}

/** The next texts that were looked at. */
type Look = {
  /** Keys of the nodes whose documents are to be written again. */
  readonly former: readonly number[];
  readonly from: number;
  readonly to: number;
  readonly hasMore: boolean;
};

/**
 * Looks at the next texts. Not inside a write transaction: others write meanwhile, and damage in the index spoils nothing of
 * theirs.
 */
export function lookAtTexts(database: Database): Look {
  const from = readCursor(database);
  const rows = database.prepare<{ key: number; length: number }, [number, number]>(
    `SELECT key, length(content) AS length FROM nodes
     WHERE key > ? AND lifecycle_state IN ${ACTIVE} AND ${HAS_TEXT} ORDER BY key LIMIT ?`,
  );
  const keys: number[] = [];
  let room = CHARS_A_STEP;
  for (const { key, length } of rows.iterate(from, NODES_A_STEP)) {
    keys.push(key);
    room -= length;
    if (room <= 0) break;
  }
  rows.finalize();
  const hasMore = keys.length === NODES_A_STEP || room <= 0;
  const to = hasMore ? (keys.at(-1) ?? from) : newestKey(database);
  return { former: formerDocuments(database, keys), from, to, hasMore };
}

/**
 * Indexes texts again that were looked at. Texts that came meanwhile are above them. Runs inside a write transaction.
 * @returns whether there are more
 */
export function renewTexts(database: Database, { former, from, to, hasMore }: Look): boolean {
  // Another process was faster.
  if (readCursor(database) !== from) return hasFormerTexts(database);
  if (former.length > 0) {
    writeDocuments(database, stillActive(database, former));
    advanceIndexSequence(database);
  }
  writeCursor(database, to);
  return hasMore;
}

function stillActive(database: Database, keys: readonly number[]): readonly number[] {
  return database
    .query<{ key: number }, [string]>(
      `SELECT n.key FROM json_each(?) k CROSS JOIN nodes n ON n.key = k.value
       WHERE n.lifecycle_state IN ${ACTIVE}`,
    )
    .all(JSON.stringify(keys))
    .map(({ key }) => key);
}

/** Records that all texts were indexed by this analyser. Runs inside a write transaction. */
export function noteTextsRenewed(database: Database): void {
  writeCursor(database, newestKey(database));
}

/** Records that nothing is known of the texts in the index. Runs inside a write transaction. */
export function forgetRenewal(database: Database): void {
  writePackSetting(database, NAME, undefined);
}

/** Records that the newest nodes are indexed, unless others are to be looked at before. Runs inside a write transaction. */
export function noteNewTexts(database: Database, keys: readonly number[]): void {
  const cursor = readCursor(database);
  const above = keys.filter((key) => key > cursor);
  if (above.length === 0) return;
  const newer = database
    .query("SELECT 1 FROM nodes WHERE key > ? LIMIT ?")
    .values(cursor, above.length + 1).length;
  if (newer === above.length) writeCursor(database, Math.max(...above));
}

function newestKey(database: Database): number {
  return ask<number>(database, "SELECT max(key) FROM nodes") ?? 0;
}
