import { everythingOf } from "../../../domain/candidate-filter.ts";
import { bestFirst } from "../../../domain/search/bm25.ts";
import { nearestWithParts, withParts } from "../../../domain/search/turns.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { Hit, KeptEntry, NearNode, SearchIndex } from "../../../ports/store/search-index.ts";
import { Params } from "../../sql/conditions.ts";
import { POSTGRES } from "../../sql/dialect.ts";
import { readByName } from "../../sql/nodes.ts";
import { ofKind, passes } from "../../sql/searches.ts";
import { requireModel } from "../../sql/settings.ts";
import { readVector, writeVector } from "../connection/insert-many.ts";
import { accessOf, run } from "../connection/run.ts";
import type { Sql } from "../connection/sql.ts";
import { ownerKey } from "../owner-key.ts";
import { nearestParts, nearestPartsOf } from "./parts.ts";
import {
  searchResident,
  storedModel,
  type VectorReads,
  type VectorSearch,
} from "./resident-vectors.ts";
import { MAY_HAVE_WORDS } from "./word-changes.ts";

/** The nearest nodes by cosine, with the parts of long texts. @throws SvcError embedding_mismatch */
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

/**
 * The server compares all vectors of an owner; for owners with many memories they are compared here, in memory, from the second question
 * on.
 */
async function searchTexts(
  reads: VectorReads,
  search: VectorSearch,
): Promise<readonly Hit<number>[]> {
  if (search.k === 0) return [];
  const isLarge = reads.resident.isLarge(ownerKey(search.filter.userId));
  return (
    (isLarge && (await searchResident(reads, search))) || (await searchOnServer(reads, search))
  );
}

type FoundRow = {
  /** Whether the vectors are of the model; otherwise there are no results. */
  readonly fits: boolean;
  readonly documents: number | null;
  /** Null if there are no results. */
  readonly key: number | null;
  readonly score: number;
};

async function searchOnServer(
  { database, embedding, resident }: VectorReads,
  { vector, filter, k }: VectorSearch,
): Promise<readonly Hit<number>[]> {
  const owner = ownerKey(filter.userId);
  const params = new Params(owner, writeVector(vector));
  const kinds = ofKind(params, filter, "v").map((condition) => `AND ${condition}`);
  const passing = passes(POSTGRES, params, filter);
  // Adding zero separates them, so that nodes are read nearest first, and only as many as needed.
  const joined = `CROSS JOIN LATERAL (SELECT FROM nodes n
    WHERE n.owner = $1::bigint AND n.key = v.key AND ${passing.join(" AND ")} OFFSET 0) n`;
  const statement = `WITH ${storedModel(params, embedding)}
    SELECT s.fits, (SELECT o.lexical_documents FROM owners o WHERE o.owner = $1::bigint) AS documents,
      x.key, 1 - x.distance AS score
    FROM stored s LEFT JOIN (
      SELECT v.key, v.distance FROM (
        SELECT v.key, v.embedding <=> $2::vector AS distance FROM vectors v
        WHERE (SELECT fits FROM stored) AND v.owner = $1::bigint ${kinds.join(" ")} ORDER BY distance, v.key) v
      ${passing.length === 0 ? "" : joined}
      ORDER BY v.distance, v.key LIMIT ${params.add(k)}) x ON true`;
  const rows = await database.read(filter.userId, async (sql) => {
    const found = await sql.all<FoundRow>(statement, ...params.values);
    if (found[0]?.fits !== true) await run(sql, requireModel(embedding));
    return found;
  });
  resident.noteSize(owner, rows[0]?.documents ?? 0);
  return rows.flatMap(({ key, score }) => (key === null ? [] : [{ key, score }])).sort(bestFirst);
}

/** Conditions of the search besides the vector. */
type NearQuestion = Parameters<SearchIndex<number>["nearNodes"]>[1];
type Choose = Parameters<SearchIndex<number>["nearNodes"]>[2];

/** See `nearNodes` of the port. The cosines are exact. */
export async function nearNodes(
  reads: VectorReads,
  vector: Float32Array,
  { userId, scope, count }: NearQuestion,
  choose: Choose,
): Promise<readonly NearNode<number>[]> {
  const filter = { ...everythingOf(userId), scopes: [scope] };
  const hits = await searchTexts(reads, { vector, filter, k: count });
  const keys = hits.map(({ key }) => key);
  const found = await readByName(accessOf(reads.database), userId, { key: keys });
  const nodes = new Map(found.map(({ key, node }) => [key, node]));
  const nearest = hits.flatMap(({ key, score }) => {
    const node = nodes.get(key);
    return node === undefined ? [] : [{ key, node, cosine: score }];
  });
  return choose(nearest);
}

/** The cosine of each given node of the owner that has a vector. Runs in a snapshot. */
export async function readCosines(
  sql: Sql,
  vector: Float32Array,
  userId: string,
  keys: readonly number[],
): Promise<readonly Hit<number>[]> {
  if (keys.length === 0) return [];
  const owner = ownerKey(userId);
  const hits = await sql.all<Hit<number>>(
    `SELECT key, 1 - (embedding <=> $2::vector) AS score FROM vectors
     WHERE owner = $1::bigint AND key = ANY ($3::integer[])`,
    owner,
    writeVector(vector),
    keys,
  );
  return withParts(hits, await nearestPartsOf(sql, vector, owner, keys));
}

/** The vector of the own text of each given node of the owner that has one. Runs in a snapshot. */
export async function readOwnVectors(
  sql: Sql,
  userId: string,
  keys: readonly number[],
): Promise<ReadonlyMap<number, Float32Array>> {
  if (keys.length === 0) return new Map();
  const rows = await sql.all<{ readonly key: number; readonly sent: Uint8Array }>(
    `SELECT v.key, vector_send(n.embedding) AS sent
     FROM vectors v JOIN nodes n ON n.owner = $1::bigint AND n.key = v.key
     WHERE v.owner = $1::bigint AND v.key = ANY ($2::integer[])`,
    ownerKey(userId),
    keys,
  );
  return new Map(rows.map(({ key, sent }) => [key, readVector(sent)]));
}

type KeptRow = {
  readonly id: Uuid;
  readonly key: number;
  readonly sent: Uint8Array | null;
  readonly parts: Uint8Array | null;
  readonly has_words: boolean;
};

/** See the port. */
export async function keptEntries(
  sql: Sql,
  userId: string,
  ids: readonly Uuid[],
): Promise<ReadonlyMap<Uuid, KeptEntry<number>>> {
  const rows = await sql.all<KeptRow>(
    `SELECT n.id::text AS id, n.key, vector_send(n.embedding) AS sent, p.parts, ${MAY_HAVE_WORDS} AS has_words
     FROM nodes n LEFT JOIN vector_parts p ON p.owner = n.owner AND p.key = n.key
     WHERE n.owner = $1::bigint AND n.id = ANY ($2::uuid[])`,
    ownerKey(userId),
    ids,
  );
  return new Map(
    rows.map(({ id, key, sent, parts, has_words: hasWords }) => [
      id,
      {
        key,
        vector: sent === null ? undefined : readVector(sent),
        parts: parts ?? undefined,
        hasWords,
      },
    ]),
  );
}
