import { bestFirst } from "../../../domain/search/order.ts";
import type { Hit } from "../../../ports/store/search-index.ts";
import type { Slab } from "../../native/slab.ts";
import { Params } from "../connection/params.ts";
import type { Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import { type OwnerKey, ownerKey } from "../owner-key.ts";
import { requireModel } from "../schema/manifest.ts";
import { passes } from "./candidates.ts";
import { storedModel } from "./stored-model.ts";
import { cosine, HALF_ERROR, readVector } from "./vector-bytes.ts";
import type { VectorReads, VectorSearch } from "./vector-reads.ts";

/** Vectors looked at in the first round per hit wanted: some are excluded by the filter. */
const FIRST_LOOK = 1.25;
/** Minimum growth of each further round. */
const WIDER = 4;
/** Maximum number of vectors that are compared one by one. */
const LOOKED_AT_MAX = 10_000;

/**
 * The nearest nodes, by the vectors in memory and exact ones of those that may be among the best.
 * @returns undefined if the vectors are not in memory, or too many would have to be compared exactly
 * @throws SvcError embedding_mismatch
 */
export function searchResident(
  reads: VectorReads,
  search: VectorSearch,
): Promise<readonly Hit<number>[] | undefined> {
  const { embedding, resident } = reads;
  const { userId } = search.filter;
  return reads.database.read(userId, async (sql) => {
    const owner = ownerKey(userId);
    const newest = await newestRevision(sql, owner, reads);
    const slab = await resident.slabOf(sql, owner, embedding.dimension, newest);
    return slab && (await lookInto(sql, slab, reads, search));
  });
}

async function newestRevision(
  sql: Sql,
  owner: OwnerKey,
  { embedding }: VectorReads,
): Promise<number> {
  const params = new Params(owner);
  const row = await sql.get<{ fits: boolean; newest: number | null }>(
    `WITH ${storedModel(params, embedding)}
     SELECT s.fits, (SELECT max(revision) FROM vectors WHERE owner = $1::bigint)::float8 AS newest FROM stored s`,
    ...params.values,
  );
  if (row?.fits !== true) await requireModel(sql, embedding);
  return row?.newest ?? -1;
}

/** Compares exactly as many vectors as needed until no other one can be among the best. */
async function lookInto(
  sql: Sql,
  slab: Slab,
  reads: VectorReads,
  search: VectorSearch,
): Promise<readonly Hit<number>[] | undefined> {
  const { vector, k } = search;
  const seen = new Set<number>();
  let hits: Hit<number>[] = [];
  for (let wanted = Math.ceil(k * FIRST_LOOK); ; ) {
    // Other searches use the same memory between two rounds.
    const approximation = slab.compare(vector)?.(wanted);
    if (approximation === undefined || approximation.keys.length > LOOKED_AT_MAX) return undefined;
    const fresh = approximation.keys.filter((key) => !seen.has(key));
    for (const key of fresh) seen.add(key);
    const exact = await compareExactly(sql, reads, search, fresh);
    slab.remove(exact.gone);
    hits = [...hits, ...exact.hits].sort(bestFirst);
    // The score of every unexamined row is below the threshold.
    const last = hits[k - 1]?.score ?? Number.NEGATIVE_INFINITY;
    const isAll = approximation.keys.length >= slab.count;
    if (isAll || last >= approximation.threshold + HALF_ERROR) return hits.slice(0, k);
    const share = (hits.length + 1) / (seen.size + 1);
    wanted = Math.max(WIDER * wanted, Math.ceil((1.5 * k) / share));
  }
}

type ExactRow = {
  readonly fits: boolean;
  /** Null where there is none. */
  readonly key: number | null;
  /** Null for a node that does not pass. */
  readonly sent: Uint8Array | null;
};

/** @returns the cosines of those that pass the filter, and the keys of those that have no vector any more */
async function compareExactly(
  sql: Sql,
  { embedding }: VectorReads,
  { vector, filter }: VectorSearch,
  keys: readonly number[],
): Promise<{ readonly hits: readonly Hit<number>[]; readonly gone: readonly number[] }> {
  if (keys.length === 0) return { hits: [], gone: [] };
  const params = new Params(ownerKey(filter.userId), listText(keys));
  const passing = ["true", ...passes(params, filter)].join(" AND ");
  const rows = await sql.all<ExactRow>(
    `WITH ${storedModel(params, embedding)}
     SELECT s.fits, x.key, x.sent FROM stored s LEFT JOIN (
       SELECT v.key, CASE WHEN ${passing} THEN vector_send(coalesce(v.exact, n.embedding)) END AS sent
       FROM vectors v JOIN nodes n ON n.owner = $1::bigint AND n.key = v.key
       WHERE v.owner = $1::bigint AND v.key = ANY ($2::integer[])) x ON true`,
    ...params.values,
  );
  if (rows[0]?.fits !== true) await requireModel(sql, embedding);
  const found = new Set(rows.map(({ key }) => key));
  return {
    hits: rows.flatMap(({ key, sent }) =>
      key === null || sent === null ? [] : [{ key, score: cosine(readVector(sent), vector) }],
    ),
    gone: keys.filter((key) => !found.has(key)),
  };
}
