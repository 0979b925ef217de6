import type { Database } from "bun:sqlite";
import { modelRules } from "../../../domain/embedding-models.ts";
import { bestFirst } from "../../../domain/search/bm25.ts";
import { fromPayload, lean } from "../../../domain/search/turns.ts";
import { sha256Hex } from "../../../lib/hashing.ts";
import type { Hit } from "../../../ports/store/search-index.ts";
import type { Parameter } from "../connection/ask.ts";
import { kernelOn } from "../connection/kernel-on.ts";
import type { Condition } from "../read/filter-sql.ts";

const BYTES = Float32Array.BYTES_PER_ELEMENT;
/** Vectors read at a time. */
const CHUNK = 2048;

/** Joins the vectors that are mixed into that of a row `v`. */
const BESIDE =
  "LEFT JOIN vectors p ON p.node_key = v.previous LEFT JOIN vectors s ON s.node_key = v.next";
/** What a row is searched by, as arguments. */
const MIXED = "v.embedding, p.embedding, s.embedding";
/** Rows of nodes that are searched. @param key of the node, as SQL */
export const isSearched = (key: string): string =>
  `EXISTS (SELECT 1 FROM vectors v WHERE v.node_key = ${key} AND v.revision IS NOT NULL)`;

/** The pack's model: numbers of a vector, and the weight of each turn beside a turn. */
export function mixing(database: Database): {
  readonly dimension: number;
  readonly weight: number;
} {
  const row = database
    .query<{ model: string; dimension: number }, []>(
      "SELECT embedding_model AS model, embedding_dim AS dimension FROM pack_manifest",
    )
    .get();
  return { dimension: row?.dimension ?? 0, weight: modelRules(row?.model).lean };
}

/** The hash of a text whose vector was made from one with this beginning of its hash; another one if it was made from another text. */
export function hashOf(content: string, beginning: string): string {
  const hash = sha256Hex(content);
  return hash.startsWith(beginning) ? hash : beginning.padEnd(hash.length, "0");
}

/** The vector of a row itself. @param dimension of the pack's model */
export function ownVector(embedding: Uint8Array, dimension: number): Float32Array {
  return embedding.length === dimension * BYTES ? floatsOf(embedding) : fromPayload(embedding);
}

export function floatsOf(bytes: Uint8Array): Float32Array {
  // A copy, because the offset of a typed array must be a multiple of its element size.
  return new Float32Array(bytes.slice().buffer);
}

/** The cosine of each node of an owner that has a vector; in no particular order. */
export function exactCosines(
  database: Database,
  question: Float32Array,
  owner: number,
  keys: readonly number[],
): Hit<number>[] {
  if (keys.length === 0) return [];
  return scored(database, question, {
    from: "json_each(?) k CROSS JOIN vectors v ON v.node_key = k.value",
    condition: "v.owner = ? AND v.revision IS NOT NULL",
    parameters: [JSON.stringify(keys), owner],
  });
}

/** The nearest of an owner's vectors, all of which are read. @param within a condition on rows `v` */
export function nearestOf(
  database: Database,
  question: Float32Array,
  owner: number,
  { sql, parameters }: Condition,
  k: number,
): Hit<number>[] {
  return scored(
    database,
    question,
    {
      from: "vectors v",
      condition: `v.owner = ? AND v.revision IS NOT NULL AND ${sql}`,
      parameters: [owner, ...parameters],
    },
    k,
  );
}

type Rows = {
  readonly from: string;
  readonly condition: string;
  readonly parameters: readonly Parameter[];
};

/** The cosines of rows; with a limit, the best ones in order. */
function scored(
  database: Database,
  question: Float32Array,
  { from, condition, parameters }: Rows,
  limit?: number,
): Hit<number>[] {
  const { weight } = mixing(database);
  const rows = `FROM ${from} ${BESIDE} WHERE ${condition}`;
  if (kernelOn(database) === undefined) {
    const found = compared(database, question, weight, { rows, parameters });
    return limit === undefined ? found : found.sort(bestFirst).slice(0, limit);
  }
  const best = limit === undefined ? "" : "ORDER BY score DESC, key LIMIT ?";
  return database
    .query<{ key: number; score: number | null }, (Parameter | Float32Array)[]>(
      `SELECT v.node_key AS key, svckernel_cosine(?, ?, ${MIXED}) AS score ${rows} ${best}`,
    )
    .all(question, weight, ...parameters, ...(limit === undefined ? [] : [limit]))
    .filter((hit): hit is Hit<number> => hit.score !== null);
}

type MixedRow = {
  readonly key: number;
  readonly own: Uint8Array;
  readonly previous: Uint8Array | null;
  readonly next: Uint8Array | null;
};

/** What the search library computes, without it. */
function compared(
  database: Database,
  question: Float32Array,
  weight: number,
  { rows, parameters }: { readonly rows: string; readonly parameters: readonly Parameter[] },
): Hit<number>[] {
  const statement = database.prepare<MixedRow, Parameter[]>(
    `SELECT v.node_key AS key, v.embedding AS own, p.embedding AS previous, s.embedding AS next ${rows}`,
  );
  const hits: Hit<number>[] = [];
  try {
    for (const row of statement.iterate(...parameters)) {
      const score = cosine(question, mixed(row, question.length, weight));
      if (Number.isFinite(score)) hits.push({ key: row.key, score });
    }
  } finally {
    statement.finalize();
  }
  return hits;
}

function mixed(row: MixedRow, dimension: number, weight: number): Float32Array {
  const { own, previous, next } = row;
  if (own.length === dimension * BYTES) return floatsOf(own);
  const beside = [previous, next].map((bytes) => (bytes === null ? undefined : fromPayload(bytes)));
  return lean(fromPayload(own), beside, weight);
}

function cosine(question: Float32Array, vector: Float32Array): number {
  if (question.length !== vector.length) throw new RangeError("a vector has another dimension");
  let [product, one, other] = [0, 0, 0];
  for (const [index, value] of question.entries()) {
    const beside = vector[index] ?? 0;
    product += value * beside;
    one += value * value;
    other += beside * beside;
  }
  const lengths = Math.sqrt(one) * Math.sqrt(other);
  // In single precision, like all cosines.
  return lengths === 0 ? 0 : Math.fround(product / lengths);
}

/** Nodes of an owner that have a searched vector, by key. @param after only those changed after this revision */
export function searchedKeys(database: Database, owner: number, after = -1): readonly number[] {
  return database
    .query<{ key: number }, [number, number]>(
      "SELECT node_key AS key FROM vectors WHERE owner = ? AND revision > ? ORDER BY node_key",
    )
    .all(owner, after)
    .map(({ key }) => key);
}

/** Vectors, one after the other, as many as keys. */
type Chunk = { readonly keys: readonly number[]; readonly vectors: Float32Array };

/**
 * The searched vectors of nodes, in the order of the keys; nodes without one are left out. Needs the search library.
 * @throws SQLiteError if a vector has another dimension
 */
export function* searchedVectors(
  database: Database,
  keys: readonly number[],
  dimension: number,
): Generator<Chunk> {
  const { weight } = mixing(database);
  const read = database.query<
    { keys: string; vectors: Uint8Array | null },
    [number, number, string]
  >(
    `SELECT json_group_array(v.node_key) AS keys, svckernel_vectors(?, ?, ${MIXED}) AS vectors
     FROM json_each(?) k CROSS JOIN vectors v ON v.node_key = k.value ${BESIDE} WHERE v.revision IS NOT NULL`,
  );
  for (let from = 0; from < keys.length; from += CHUNK) {
    const row = read.get(dimension, weight, JSON.stringify(keys.slice(from, from + CHUNK)));
    if (row === null || row.vectors === null) continue;
    yield { keys: JSON.parse(row.keys), vectors: floatsOf(row.vectors) };
  }
}
