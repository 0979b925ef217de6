import type { CandidateFilter } from "../../../domain/candidate-filter.ts";
import { bestFirst } from "../../../domain/search/order.ts";
import type { EmbeddingIdentity } from "../../../ports/embedder.ts";
import type { Hit } from "../../../ports/store/search-index.ts";
import { Params } from "../connection/params.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import { ownerKey } from "../owner-key.ts";
import { requireModel } from "../schema/manifest.ts";
import { hasDimension } from "../schema/tables-search.ts";
import { isCandidate, ofKind, passes } from "./candidates.ts";
import { cosine, readVector, writeVector } from "./vector-bytes.ts";

/** Memories of an owner up to which every vector is compared. */
const COMPARED_MAX = 20_000;
/** Vectors that are compared exactly in the first round per hit wanted, and the growth of each further round. */
const FIRST_LOOK = 4;
const WIDER = 8;
/** Maximum difference between a cosine and that of two vectors of 16 bits. */
const HALF_ERROR = 2 ** -10;
/** Maximum difference between two ways of computing a cosine with 32 bits. */
const SUM_ERROR = 2 ** -18;

/** What searches of vectors share. */
export type VectorReads = {
  readonly database: Database;
  /** The model that the caller uses. */
  readonly embedding: EmbeddingIdentity;
  /** Owners whose vectors are too many to compare all of them, by number. */
  readonly large: Set<string>;
};

export type VectorSearch = {
  readonly vector: Float32Array;
  readonly filter: CandidateFilter;
  readonly k: number;
};

/**
 * The nearest nodes by cosine. Of an owner with few memories every vector is compared, with 16 bits, and as many again exactly as
 * may be among the best. Of others an index finds the nearest, of which a few may be missing.
 * @throws SvcError embedding_mismatch
 */
export async function searchVectors(
  reads: VectorReads,
  { vector, filter, k }: VectorSearch,
): Promise<readonly Hit<number>[]> {
  if (k === 0) return [];
  let wanted = k * FIRST_LOOK;
  // Conditions that a vector is not stored with are checked for the nearest, or, if too few of them pass, for all.
  for (let within = false; ; wanted *= WIDER) {
    const isIndexed = reads.large.has(ownerKey(filter.userId)) && !within;
    const found = await look(reads, { vector, filter, k }, { wanted, within, isIndexed });
    const hits = found.hits.sort(bestFirst).slice(0, k);
    const last = hits[k - 1]?.score ?? Number.NEGATIVE_INFINITY;
    const isComplete = isIndexed ? hits.length === k : !found.hasMore || last >= found.rest;
    if (isComplete) return hits;
    within ||= hits.length < k;
  }
}

type Look = {
  /** Vectors that are compared exactly. */
  readonly wanted: number;
  /** Whether only vectors of nodes that pass the whole filter are among them. */
  readonly within: boolean;
  /** Whether the index finds them. */
  readonly isIndexed: boolean;
};

type Found = {
  readonly hits: Hit<number>[];
  /** Upper bound of the cosine of vectors that were not compared exactly. */
  readonly rest: number;
  readonly hasMore: boolean;
};

type FoundRow = {
  /** Whether the vectors are of the model; nothing is found otherwise. */
  readonly fits: boolean;
  readonly documents: number | null;
  /** Null where nothing is found. */
  readonly key: number | null;
  readonly distance: number;
  /** Null for a node that does not pass, or is too far away. */
  readonly sent: Uint8Array | null;
};

async function look(reads: VectorReads, search: VectorSearch, look: Look): Promise<Found> {
  const { vector, filter, k } = search;
  const owner = ownerKey(filter.userId);
  const params = new Params(owner, writeVector(vector));
  const { model, version, dimension } = reads.embedding;
  const distance = look.isIndexed
    ? `v.embedding::halfvec(${dimension}) <=> $2::halfvec(${dimension})`
    : "v.embedding <=> $2::halfvec";
  const joined = look.within
    ? `JOIN nodes n ON n.owner = $1::bigint AND n.key = v.key AND ${isCandidate(params, filter)}`
    : "";
  const kinds = [
    ...ofKind(params, filter, "v"),
    ...(look.isIndexed ? [hasDimension("v.embedding", dimension)] : []),
  ].map((condition) => `AND ${condition}`);
  const passing = look.within ? [] : passes(params, filter);
  // The sum keeps the index out, whatever the statistics say.
  const order = look.isIndexed ? distance : `(${distance}) + 0, v.key`;
  const sql = `WITH stored AS MATERIALIZED (
      SELECT value::json ->> 'model' = ${params.add(model)} AND value::json ->> 'version' = ${params.add(version)}
        AND (value::json ->> 'dimension')::integer = ${params.add(dimension)} AS fits
      FROM (SELECT value::json -> 'embedding' AS value FROM settings WHERE name = 'manifest') s),
    nearest AS MATERIALIZED (
      SELECT v.key, ${distance} AS distance, v.exact FROM vectors v ${joined}
      WHERE (SELECT fits FROM stored) AND v.owner = $1::bigint ${kinds.join(" ")} ORDER BY ${order} LIMIT ${params.add(look.wanted)}),
    compared AS (
      SELECT x.key, coalesce(x.exact, n.embedding) AS vector, coalesce(x.exact, n.embedding) <=> $2::vector AS exact
      FROM nearest x JOIN nodes n ON n.owner = $1::bigint AND n.key = x.key
      WHERE ${["true", ...passing].join(" AND ")}),
    best AS (SELECT max(exact) AS exact FROM (SELECT exact FROM compared ORDER BY exact LIMIT ${params.add(k)}) b)
    SELECT s.fits, (SELECT o.lexical_documents FROM owners o WHERE o.owner = $1::bigint) AS documents,
      x.key, x.distance, CASE WHEN c.exact <= (SELECT exact FROM best) + ${SUM_ERROR} THEN vector_send(c.vector) END AS sent
    FROM stored s LEFT JOIN nearest x ON true LEFT JOIN compared c ON c.key = x.key`;
  const rows = look.isIndexed
    ? await throughIndex(reads.database, filter.userId, sql, params)
    : await reads.database.read(filter.userId, (on) => on.all<FoundRow>(sql, ...params.values));
  const [first] = rows;
  if (first?.fits !== true) {
    await reads.database.read(filter.userId, (on) => requireModel(on, reads.embedding));
  }
  noteSize(reads, owner, first?.documents ?? 0);
  const found = rows.flatMap(({ key, ...row }) => (key === null ? [] : [{ ...row, key }]));
  return {
    hits: found.flatMap(({ key, sent }) =>
      sent === null ? [] : [{ key, score: cosine(readVector(sent), vector) }],
    ),
    rest: 1 - Math.max(...found.map((row) => row.distance)) + HALF_ERROR,
    hasMore: found.length === look.wanted,
  };
}

function noteSize({ large }: VectorReads, owner: string, documents: number): void {
  if (documents > COMPARED_MAX) large.add(owner);
  else large.delete(owner);
}

function throughIndex(
  database: Database,
  userId: string,
  text: string,
  params: Params,
): Promise<readonly FoundRow[]> {
  return database.snapshot(userId, async (sql) => {
    const [, , rows] = await Promise.all([
      sql.run("SET LOCAL hnsw.iterative_scan = strict_order"),
      sql.run("SET LOCAL hnsw.ef_search = 200"),
      sql.all<FoundRow>(text, ...params.values),
    ]);
    return rows;
  });
}

type VectorRow = { readonly key: number; readonly sent: Uint8Array };

/** The cosine of each given node of the owner that has a vector. Runs in a snapshot. */
export async function readCosines(
  sql: Sql,
  vector: Float32Array,
  userId: string,
  keys: readonly number[],
): Promise<readonly Hit<number>[]> {
  if (keys.length === 0) return [];
  const rows = await sql.all<VectorRow>(
    `SELECT v.key, vector_send(coalesce(v.exact, n.embedding)) AS sent
     FROM vectors v JOIN nodes n ON n.owner = $1::bigint AND n.key = v.key
     WHERE v.owner = $1::bigint AND v.key = ANY ($2::integer[])`,
    ownerKey(userId),
    listText(keys),
  );
  return rows.map(({ key, sent }) => ({ key, score: cosine(readVector(sent), vector) }));
}
