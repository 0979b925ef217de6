import type { Database } from "bun:sqlite";
import type { Hit } from "../../../ports/store/search-index.ts";
import { hasRow } from "../connection/ask.ts";
import { kernelOn } from "../connection/kernel-on.ts";

const BYTES = Float32Array.BYTES_PER_ELEMENT;

const schemas = new WeakMap<Database, string>();

/** SQLite's name of the file that holds the vectors. */
export function vectorFileOf(database: Database): string {
  const known = schemas.get(database);
  if (known !== undefined) return known;
  const isSeparate = hasRow(database, "pragma_database_list WHERE name = 'vector_file'");
  const name = isSeparate ? "vector_file" : "main";
  schemas.set(database, name);
  return name;
}

/** The vector of a row of `vectors_rowids r`, as SQL. Through the index itself, reading one vector takes three times as long. */
export function vectorOfRow(database: Database, dimension: number): string {
  const bytes = dimension * BYTES;
  return `svckernel_piece('${vectorFileOf(database)}', 'vectors_vector_chunks00', 'vectors', r.chunk_id, r.chunk_offset * ${bytes}, ${bytes})`;
}

/** The cosine of each node of an owner that has a vector, as computed by the index itself; in no particular order. */
export function exactCosines(
  database: Database,
  vector: Float32Array,
  owner: number,
  keys: readonly number[],
): Hit<number>[] {
  if (keys.length === 0) return [];
  const [embedding, joined] =
    kernelOn(database) === undefined
      ? ["v.embedding", "vectors v ON v.node_key = k.value"]
      : [vectorOfRow(database, vector.length), "vectors_rowids r ON r.rowid = k.value"];
  return database
    .query<Hit<number>, [Float32Array, string, number]>(
      `SELECT k.value AS key, 1.0 - vec_distance_cosine(${embedding}, ?) AS score
       FROM json_each(?) k CROSS JOIN vector_metadata m ON m.node_key = k.value AND m.owner = ?
         CROSS JOIN ${joined}`,
    )
    .all(vector, JSON.stringify(keys), owner);
}

type ChunkRow = {
  readonly rowids: Uint8Array;
  readonly validity: Uint8Array;
  readonly vectors: Uint8Array;
};

/** Vectors, one after the other, as many as keys. */
type Chunk = { readonly keys: number[]; readonly vectors: Float32Array };

/**
 * Reads all of an owner's vectors directly from the index's storage, in its chunks: the number of a row's node as 64 bits, whether the
 * row is in use as one bit, and the vectors. Reading them through the index takes five times as long.
 */
export function* chunksOf(database: Database, owner: number): Generator<Chunk> {
  const chunks = database.prepare<ChunkRow, [number]>(`${CHUNKS} WHERE c.partition00 = ?`);
  try {
    for (const row of chunks.iterate(owner)) yield usedRows(row);
  } finally {
    chunks.finalize();
  }
}

/** The vectors of one chunk; undefined without any. */
export function rowsOfChunk(database: Database, chunk: number): Chunk | undefined {
  const row = database.query<ChunkRow, [number]>(`${CHUNKS} WHERE c.chunk_id = ?`).get(chunk);
  const rows = row === null ? undefined : usedRows(row);
  return rows?.keys.length === 0 ? undefined : rows;
}

const CHUNKS = `SELECT c.rowids, c.validity, v.vectors FROM vectors_chunks c
  CROSS JOIN vectors_vector_chunks00 v ON v.rowid = c.chunk_id`;

function usedRows({ rowids, validity, vectors }: ChunkRow): Chunk {
  const floats = floatsOf(vectors);
  const count = rowids.byteLength / 8;
  const dimension = floats.length / count;
  const view = new DataView(rowids.buffer, rowids.byteOffset, rowids.byteLength);
  const keys: number[] = [];
  const kept = new Float32Array(floats.length);
  for (let row = 0; row < count; row += 1) {
    const isInUse = ((validity[row >> 3] ?? 0) >> (row & 7)) & 1;
    if (isInUse === 0) continue;
    kept.set(floats.subarray(row * dimension, (row + 1) * dimension), keys.length * dimension);
    keys.push(Number(view.getBigInt64(row * 8, true)));
  }
  return { keys, vectors: kept.subarray(0, keys.length * dimension) };
}

export function floatsOf(bytes: Uint8Array): Float32Array {
  // A view of floats must begin at a multiple of four.
  const aligned = bytes.byteOffset % BYTES === 0 ? bytes : bytes.slice();
  return new Float32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / BYTES);
}
