import { bestFirst } from "../../../domain/search/order.ts";
import { nearestWithParts, withParts } from "../../../domain/search/parts.ts";
import type { EmbeddingIdentity } from "../../../ports/embedder.ts";
import type { Hit } from "../../../ports/store/search-index.ts";
import { Params } from "../connection/params.ts";
import type { Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import { ownerKey } from "../owner-key.ts";
import { requireModel } from "../schema/manifest.ts";
import { isCandidate, ofKind, passes } from "./candidates.ts";
import { nearestParts, nearestPartsOf } from "./parts.ts";
import { searchResident } from "./search-resident.ts";
import { storedModel } from "./stored-model.ts";
import { cosine, HALF_ERROR, readVector, writeVector } from "./vector-bytes.ts";
import type { VectorReads, VectorSearch } from "./vector-reads.ts";

/** Vectors that are compared exactly in the first round per hit wanted, and the growth of each further round. */
const FIRST_LOOK = 4;
const WIDER = 8;
/**
 * Maximum difference between two ways of computing the cosines of two vectors with 32 bits, for each of their numbers: a rounding in
 * the product and in both lengths, in each of the two.
 */
const SUM_ERROR = 2 ** -22;

/**
 * The nearest nodes by cosine, the same as comparing all of them gives. The server compares every vector of an owner with 16 bits,
 * and as many again exactly as may be among the best; those of an owner with many memories are compared here, in memory, as soon
 * as the owner asks for the second time.
 * @throws SvcError embedding_mismatch
 */
export async function searchTexts(
  reads: VectorReads,
  search: VectorSearch,
): Promise<readonly Hit<number>[]> {
  if (search.k === 0) return [];
  if (reads.resident.isLarge(ownerKey(search.filter.userId))) {
    const hits = await searchResident(reads, search);
    if (hits !== undefined) return hits;
  }
  return await searchOnServer(reads, search);
}

/** The same with the parts of long texts. @throws SvcError embedding_mismatch */
export async function searchVectors(
  reads: VectorReads,
  search: VectorSearch,
): Promise<readonly Hit<number>[]> {
  const { vector, filter, k } = search;
  if (k === 0) return [];
  const [hits, parts] = await Promise.all([
    searchTexts(reads, search),
    reads.database.read(filter.userId, (sql) => nearestParts(sql, vector, filter)),
  ]);
  return nearestWithParts(hits, parts, k);
}

async function searchOnServer(
  reads: VectorReads,
  search: VectorSearch,
): Promise<readonly Hit<number>[]> {
  const { k } = search;
  let wanted = k * FIRST_LOOK;
  // Conditions that a vector is not stored with are checked for the nearest, or, if too few of them pass, for all.
  for (let within = false; ; wanted *= WIDER) {
    const found = await look(reads, search, { wanted, within });
    const hits = found.hits.sort(bestFirst).slice(0, k);
    const last = hits[k - 1]?.score ?? Number.NEGATIVE_INFINITY;
    if (!found.hasMore || last >= found.rest) return hits;
    within ||= hits.length < k;
  }
}

type Look = {
  /** Vectors that are compared exactly. */
  readonly wanted: number;
  /** Whether only vectors of nodes that pass the whole filter are among them. */
  readonly within: boolean;
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
  const { vector, filter } = search;
  const owner = ownerKey(filter.userId);
  const params = new Params(owner, writeVector(vector));
  const sql = statement(params, reads.embedding, search, look);
  const rows = await reads.database.read(filter.userId, (on) =>
    on.all<FoundRow>(sql, ...params.values),
  );
  const [first] = rows;
  if (first?.fits !== true) {
    await reads.database.read(filter.userId, (on) => requireModel(on, reads.embedding));
  }
  reads.resident.noteSize(owner, first?.documents ?? 0);
  const found = rows.flatMap(({ key, ...row }) => (key === null ? [] : [{ ...row, key }]));
  return {
    hits: found.flatMap(({ key, sent }) =>
      sent === null ? [] : [{ key, score: cosine(readVector(sent), vector) }],
    ),
    rest: 1 - Math.max(...found.map((row) => row.distance)) + HALF_ERROR,
    hasMore: found.length === look.wanted,
  };
}

function statement(
  params: Params,
  embedding: EmbeddingIdentity,
  { filter, k }: VectorSearch,
  { wanted, within }: Look,
): string {
  const joined = within
    ? `JOIN nodes n ON n.owner = $1::bigint AND n.key = v.key AND ${isCandidate(params, filter)}`
    : "";
  const kinds = ofKind(params, filter, "v").map((condition) => `AND ${condition}`);
  const passing = within ? [] : passes(params, filter);
  return `WITH ${storedModel(params, embedding)},
    nearest AS MATERIALIZED (
      SELECT v.key, v.embedding <=> $2::halfvec AS distance, v.exact FROM vectors v ${joined}
      WHERE (SELECT fits FROM stored) AND v.owner = $1::bigint ${kinds.join(" ")}
      ORDER BY distance, v.key LIMIT ${params.add(wanted)}),
    compared AS (
      SELECT x.key, coalesce(x.exact, n.embedding) AS vector, coalesce(x.exact, n.embedding) <=> $2::vector AS exact
      FROM nearest x JOIN nodes n ON n.owner = $1::bigint AND n.key = x.key
      WHERE ${["true", ...passing].join(" AND ")}),
    best AS (SELECT max(exact) AS exact FROM (SELECT exact FROM compared ORDER BY exact LIMIT ${params.add(k)}) b)
    SELECT s.fits, (SELECT o.lexical_documents FROM owners o WHERE o.owner = $1::bigint) AS documents,
      x.key, x.distance, CASE WHEN c.exact <= (SELECT exact FROM best) + ${SUM_ERROR * embedding.dimension} THEN vector_send(c.vector) END AS sent
    FROM stored s LEFT JOIN nearest x ON true LEFT JOIN compared c ON c.key = x.key`;
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
  const owner = ownerKey(userId);
  const rows = await sql.all<VectorRow>(
    `SELECT v.key, vector_send(coalesce(v.exact, n.embedding)) AS sent
     FROM vectors v JOIN nodes n ON n.owner = $1::bigint AND n.key = v.key
     WHERE v.owner = $1::bigint AND v.key = ANY ($2::integer[])`,
    owner,
    listText(keys),
  );
  const hits = rows.map(({ key, sent }) => ({ key, score: cosine(readVector(sent), vector) }));
  return withParts(hits, await nearestPartsOf(sql, vector, owner, keys));
}
