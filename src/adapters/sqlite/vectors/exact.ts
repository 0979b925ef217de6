import type { Database } from "bun:sqlite";
import type { Hit } from "../../../ports/store/search-index.ts";
import { hasRow } from "../connection/ask.ts";
import { kernelOn } from "../connection/kernel-on.ts";

/** Vectors per chunk of the index, as created by `createVectors`. */
export const CHUNK_ROWS = 64;
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
