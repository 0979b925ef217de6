import { Database } from "bun:sqlite";
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { getLoadablePath } from "sqlite-vec";
import { type Inference, loadInference } from "../../src/adapters/embedding/inference.ts";
import { modelRoot } from "../../src/adapters/embedding/model-files.ts";
import { openDatabase } from "../../src/adapters/sqlite/connection/open-database.ts";
import { mixing, searchedKeys, searchedVectors } from "../../src/adapters/sqlite/vectors/exact.ts";
import { DEFAULT_MODEL } from "../../src/domain/embedding-models.ts";
import { questionTerms } from "../../src/domain/lexical-analysis.ts";

/** The model without anything around it: one thread, one text at a time, in this process. */
export async function openRawModel(): Promise<Inference> {
  return await loadInference({
    model: DEFAULT_MODEL,
    root: modelRoot(DEFAULT_MODEL),
    threads: 1,
    maxTokens: 512,
  });
}

const SYNC_FILE_BLOCKS = 1024;

/**
 * Milliseconds of each of `count` writes of 4 KiB that reach the disk before they return. They overwrite a file in place,
 * as a write-ahead log does that has reached its size.
 */
export function probeSync(folder: string, count: number): number[] {
  const block = Buffer.alloc(4096, 1);
  const file = openSync(join(folder, "sync-probe"), "w");
  try {
    writeSync(file, Buffer.alloc(block.length * SYNC_FILE_BLOCKS));
    fdatasyncSync(file);
    return Array.from({ length: count }, (_, index) => {
      const start = performance.now();
      writeSync(file, block, 0, block.length, (index % SYNC_FILE_BLOCKS) * block.length);
      fdatasyncSync(file);
      return performance.now() - start;
    });
  } finally {
    closeSync(file);
  }
}

/** The two searches of a retrieval and nothing else. */
export type RawSearch = {
  /** Milliseconds of a plain nearest-neighbour query, k = 50. */
  vector(question: Float32Array): number;
  /** Milliseconds of a plain full-text query for the same words, the best 50 by BM25. */
  text(question: string): number;
  close(): void;
};

const CANDIDATES = 50;

/** The vectors of a pack once more, as sqlite-vec keeps them by default. The caller removes the file. */
function makeRawVectors(database: Database, path: string): Database {
  const raw = new Database(path, { create: true });
  raw.loadExtension(getLoadablePath());
  raw.run("PRAGMA journal_mode = OFF");
  raw.run("PRAGMA synchronous = OFF");
  raw.run(`PRAGMA mmap_size = ${2 ** 30}`);
  const { dimension } = mixing(database);
  raw.run(
    `CREATE VIRTUAL TABLE vectors USING vec0 (node_key INTEGER PRIMARY KEY, embedding FLOAT[${dimension}] distance_metric=cosine)`,
  );
  const insert = raw.query("INSERT INTO vectors (node_key, embedding) VALUES (?, ?)");
  const owners = database.query<{ owner: number }, []>("SELECT owner FROM owners").all();
  raw.transaction(() => {
    for (const { owner } of owners) {
      const all = searchedKeys(database, owner);
      for (const { keys, vectors } of searchedVectors(database, all, dimension)) {
        for (const [index, key] of keys.entries()) {
          insert.run(key, vectors.slice(index * dimension, (index + 1) * dimension));
        }
      }
    }
  })();
  return raw;
}

function openReading(pack: string): Database {
  return openDatabase({
    layout: { kind: "file", path: pack },
    mode: "read-only",
    synchronous: "full",
    busyTimeoutMs: 5_000,
  });
}

/** Searches a pack's own words, and its vectors in a file of sqlite-vec, with the page cache settings of the program. */
export function openRawSearch(pack: string): RawSearch {
  const database = openReading(pack);
  const path = `${pack}.raw`;
  rmSync(path, { force: true });
  const raw = makeRawVectors(database, path);
  return {
    vector: (question) =>
      timedQuery(raw, "SELECT node_key, distance FROM vectors WHERE embedding MATCH ? AND k = ?", [
        question,
        CANDIDATES,
      ]),
    text: (question) =>
      timedQuery(
        database,
        `SELECT rowid, bm25(lexical_documents) AS score FROM lexical_documents
         WHERE lexical_documents MATCH ? ORDER BY bm25(lexical_documents) LIMIT ?`,
        [
          questionTerms(question)
            .map(({ term }) => `"${term}"`)
            .join(" OR "),
          CANDIDATES,
        ],
      ),
    close: () => {
      database.close();
      raw.close();
      rmSync(path, { force: true });
    },
  };
}

function timedQuery(
  database: Database,
  sql: string,
  parameters: (string | number | Float32Array)[],
): number {
  const query = database.query(sql);
  const start = performance.now();
  const rows = query.all(...parameters);
  const ms = performance.now() - start;
  if (rows.length === 0) throw new Error(`the probe found nothing: ${sql}`);
  return ms;
}

/** What a pack has got, written once more into an SQLite file that knows nothing of it. */
export type RawInserts = {
  /** Passes over what the pack has got until now. */
  skip(): void;
  /** Inserts what the pack has got since, in so many durable transactions. @returns milliseconds of processor time */
  insert(transactions: number): number;
  close(): void;
};

const ROWS_OF = ["nodes", "edges", "operations"] as const;
const VECTOR_ROWS = "(SELECT node_key, owner, revision, hex(content_hash) AS hash FROM vectors)";

/** The probe of what costs a pack its rows. @param dimension of the vectors, which are written as bytes */
export function openRawInserts(pack: string, folder: string, dimension: number): RawInserts {
  const from = openReading(pack);
  const to = new Database(join(folder, "insert-probe.db"), { create: true });
  to.run("PRAGMA journal_mode = WAL");
  to.run("PRAGMA synchronous = FULL");
  to.run("CREATE TABLE IF NOT EXISTS rows (key INTEGER PRIMARY KEY, bytes BLOB NOT NULL)");
  const insert = to.query<never, Uint8Array>("INSERT INTO rows (bytes) VALUES (?)");
  const seen = new Map<string, number>();
  const newRows = (): Uint8Array[] => {
    const rows = ROWS_OF.flatMap((table) => rowsAbove(from, table, "key", seen));
    const vectors = rowsAbove(from, VECTOR_ROWS, "node_key", seen);
    return [...rows, ...vectors.map(() => new Uint8Array(dimension * 4))];
  };
  return {
    skip: () => void newRows(),
    insert: (transactions) => {
      const rows = newRows();
      const share = Math.ceil(rows.length / transactions);
      const before = process.cpuUsage();
      for (let at = 0; at < rows.length; at += share) {
        to.transaction(() => {
          for (const row of rows.slice(at, at + share)) insert.run(row);
        })();
      }
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1000;
    },
    close: () => {
      from.close();
      to.close();
    },
  };
}

/** The rows of a table above the keys that were seen, as bytes. */
function rowsAbove(
  database: Database,
  table: string,
  key: string,
  seen: Map<string, number>,
): Uint8Array[] {
  const rows = database
    .query<Record<string, unknown>, [number]>(
      `SELECT * FROM ${table} WHERE ${key} > ? ORDER BY ${key}`,
    )
    .all(seen.get(table) ?? 0);
  seen.set(table, Number(rows.at(-1)?.[key] ?? seen.get(table) ?? 0));
  return rows.map((row) => Buffer.from(JSON.stringify(Object.values(row))));
}
