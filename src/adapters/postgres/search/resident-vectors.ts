import type { CandidateFilter } from "../../../domain/candidate-filter.ts";
import { bestFirst } from "../../../domain/search/bm25.ts";
import type { EmbeddingIdentity } from "../../../ports/models.ts";
import type { Hit } from "../../../ports/store/search-index.ts";
import { bytesPerVector, type Kernel, loadKernel, Slab } from "../../native/kernel.ts";
import { Params } from "../../sql/conditions.ts";
import { POSTGRES } from "../../sql/dialect.ts";
import { passes } from "../../sql/searches.ts";
import { requireModel } from "../../sql/settings.ts";
import { readVector, writeVector } from "../connection/insert-many.ts";
import { run } from "../connection/run.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { type OwnerKey, ownerKey } from "../owner-key.ts";

/** Maximum memories of an owner whose vectors are all compared by the server. */
const COMPARED_MAX = 8000;
/** Maximum bytes of all slabs of a store. */
const BUDGET = 256 * 2 ** 20;
/** Vectors read at once. */
const READ_AT_ONCE = 2000;
/** Vectors examined in the first round per hit wanted: the filter excludes some. */
const FIRST_LOOK = 1.25;
/** Minimum growth of each further round. */
const WIDER = 4;
/** Maximum number of vectors compared one by one. */
const LOOKED_AT_MAX = 10_000;

/** Shared by vector searches. */
export type VectorReads = {
  readonly database: Database;
  /** The model that the caller uses. */
  readonly embedding: EmbeddingIdentity;
  /** The vectors of owners with many memories. */
  readonly resident: ResidentVectors;
};

export type VectorSearch = {
  readonly vector: Float32Array;
  readonly filter: CandidateFilter;
  readonly k: number;
};

/**
 * Vectors of owners with many memories, held in memory as rows of bytes that a search compares first. They are kept current with every
 * committed change: each vector carries its owner's version. The least recently active owners are evicted.
 */
export class ResidentVectors {
  readonly #large = new Set<OwnerKey>();
  readonly #slabs = new Map<OwnerKey, Slab>();
  readonly #busy = new Map<OwnerKey, Promise<unknown>>();
  readonly #comparedMax: number;

  /** @param comparedMax memories of an owner up to which none of their vectors are held */
  constructor(comparedMax = COMPARED_MAX) {
    this.#comparedMax = comparedMax;
  }

  isLarge(owner: OwnerKey): boolean {
    return this.#large.has(owner);
  }

  noteSize(owner: OwnerKey, memories: number): void {
    if (memories > this.#comparedMax) this.#large.add(owner);
    else if (this.#large.delete(owner)) this.#slabs.delete(owner);
  }

  /**
   * The vectors of an owner up to a version, possibly with some removed since. Undefined if they cannot be held: too many, or without the
   * library.
   */
  async slabOf(
    sql: Sql,
    owner: OwnerKey,
    dimension: number,
    newest: number,
  ): Promise<Slab | undefined> {
    const kernel = loadKernel();
    if (kernel === undefined) return undefined;
    // One after the other: changes must not be applied twice.
    const before = this.#busy.get(owner) ?? Promise.resolve();
    const mine = before.then(() => this.#refreshed(sql, owner, { kernel, dimension, newest }));
    const settled = mine.catch(() => {});
    this.#busy.set(owner, settled);
    try {
      return await mine;
    } finally {
      if (this.#busy.get(owner) === settled) this.#busy.delete(owner);
    }
  }

  async #refreshed(
    sql: Sql,
    owner: OwnerKey,
    { kernel, dimension, newest }: Target,
  ): Promise<Slab | undefined> {
    const held = this.#slabs.get(owner);
    const slab = held?.dimension === dimension ? held : new Slab(kernel, dimension, 0);
    this.#slabs.delete(owner);
    const isUsable = slab.revision >= newest || (await readChanges(sql, owner, slab));
    if (!isUsable || slab.count * bytesPerVector(dimension) > BUDGET) return undefined;
    slab.revision = Math.max(slab.revision, newest);
    // A map iterates in insertion order.
    this.#slabs.set(owner, slab);
    this.#makeRoom();
    return slab;
  }

  /** Bytes that are held. */
  get byteLength(): number {
    let bytes = 0;
    for (const slab of this.#slabs.values()) bytes += slab.byteLength;
    return bytes;
  }

  #makeRoom(): void {
    let bytes = this.byteLength;
    for (const [owner, slab] of this.#slabs) {
      if (bytes <= BUDGET || this.#slabs.size === 1) return;
      bytes -= slab.byteLength;
      this.#slabs.delete(owner);
    }
  }
}

type Target = {
  readonly kernel: Kernel;
  readonly dimension: number;
  /** The newest version of a vector. */
  readonly newest: number;
};

const CHANGES = `SELECT key, vector_send(embedding) AS sent FROM vectors
  WHERE owner = $1::bigint AND revision > $2 AND key > $3 ORDER BY key LIMIT ${READ_AT_ONCE}`;

/** Applies the changes after the slab's revision. @returns false if the slab is unusable */
async function readChanges(sql: Sql, owner: OwnerKey, slab: Slab): Promise<boolean> {
  const { revision, dimension } = slab;
  const isNew = slab.count === 0;
  for (let after = 0; ; ) {
    const rows = await sql.all<{ readonly key: number; readonly sent: Uint8Array }>(
      CHANGES,
      owner,
      revision,
      after,
    );
    const keys = rows.map(({ key }) => key);
    const vectors = new Float32Array(rows.length * dimension);
    for (const [row, { sent }] of rows.entries()) vectors.set(readVector(sent), row * dimension);
    if (!isNew) slab.remove(keys);
    if (!slab.append(keys, vectors)) return false;
    if (rows.length < READ_AT_ONCE) return true;
    after = keys.at(-1) ?? after;
  }
}

/**
 * The nearest nodes: by the vectors in memory, then exactly by the server for possible top hits.
 * @returns undefined if the vectors are not in memory, or too many would have to be compared exactly
 * @throws SvcError embedding_mismatch
 */
export function searchResident(
  { database, embedding, resident }: VectorReads,
  search: VectorSearch,
): Promise<readonly Hit<number>[] | undefined> {
  const { userId } = search.filter;
  return database.read(userId, async (sql) => {
    const owner = ownerKey(userId);
    const newest = await newestRevision(sql, owner, embedding);
    const slab = await resident.slabOf(sql, owner, embedding.dimension, newest);
    return slab && (await lookInto(sql, slab, embedding, search));
  });
}

async function newestRevision(
  sql: Sql,
  owner: OwnerKey,
  embedding: EmbeddingIdentity,
): Promise<number> {
  const params = new Params(owner);
  const row = await sql.get<{ fits: boolean; newest: number | null }>(
    `WITH ${storedModel(params, embedding)}
     SELECT s.fits, (SELECT max(revision) FROM vectors WHERE owner = $1::bigint)::float8 AS newest FROM stored s`,
    ...params.values,
  );
  if (row?.fits !== true) await run(sql, requireModel(embedding));
  return row?.newest ?? -1;
}

/** Compares as many vectors exactly as needed to rule out all others. */
async function lookInto(
  sql: Sql,
  slab: Slab,
  embedding: EmbeddingIdentity,
  search: VectorSearch,
): Promise<readonly Hit<number>[] | undefined> {
  const { vector, k } = search;
  const seen = new Set<number>();
  let hits: Hit<number>[] = [];
  for (let wanted = Math.ceil(k * FIRST_LOOK); ; ) {
    // Other searches may use the same memory between two rounds.
    const approximation = slab.compare(vector)?.(wanted);
    if (approximation === undefined || approximation.keys.length > LOOKED_AT_MAX) return undefined;
    const fresh = approximation.keys.filter((key) => !seen.has(key));
    for (const key of fresh) seen.add(key);
    const exact = await compareExactly(sql, embedding, search, fresh);
    slab.remove(exact.gone);
    hits = [...hits, ...exact.hits].sort(bestFirst);
    // The score of every unexamined row is below the threshold.
    const last = hits[k - 1]?.score ?? Number.NEGATIVE_INFINITY;
    const isAll = approximation.keys.length >= slab.count;
    if (isAll || last >= approximation.threshold) return hits.slice(0, k);
    const share = (hits.length + 1) / (seen.size + 1);
    wanted = Math.max(WIDER * wanted, Math.ceil((1.5 * k) / share));
  }
}

type ExactRow = {
  readonly fits: boolean;
  /** Null where there is none. */
  readonly key: number | null;
  /** Null for a node that does not pass. */
  readonly score: number | null;
};

/** @returns the cosines of those that pass the filter, and the keys of those without a vector */
async function compareExactly(
  sql: Sql,
  embedding: EmbeddingIdentity,
  { vector, filter }: VectorSearch,
  keys: readonly number[],
): Promise<{ readonly hits: readonly Hit<number>[]; readonly gone: readonly number[] }> {
  if (keys.length === 0) return { hits: [], gone: [] };
  const params = new Params(ownerKey(filter.userId), keys, writeVector(vector));
  const passing = ["true", ...passes(POSTGRES, params, filter)].join(" AND ");
  const rows = await sql.all<ExactRow>(
    `WITH ${storedModel(params, embedding)}
     SELECT s.fits, x.key, x.score FROM stored s LEFT JOIN (
       SELECT v.key, CASE WHEN ${passing} THEN 1 - (v.embedding <=> $3::vector) END AS score
       FROM vectors v JOIN nodes n ON n.owner = $1::bigint AND n.key = v.key
       WHERE v.owner = $1::bigint AND v.key = ANY ($2::integer[])) x ON true`,
    ...params.values,
  );
  if (rows[0]?.fits !== true) await run(sql, requireModel(embedding));
  const found = new Set(rows.map(({ key }) => key));
  return {
    hits: rows.flatMap(({ key, score }) =>
      key === null || score === null ? [] : [{ key, score }],
    ),
    gone: keys.filter((key) => !found.has(key)),
  };
}

/** A table expression `stored` of one row, as SQL: whether the vectors of the database are of a model (`fits`). */
export function storedModel(
  params: Params,
  { model, version, dimension }: EmbeddingIdentity,
): string {
  return `stored AS MATERIALIZED (
    SELECT value::json ->> 'model' = ${params.add(model)} AND value::json ->> 'version' = ${params.add(version)}
      AND (value::json ->> 'dimension')::integer = ${params.add(dimension)} AS fits
    FROM (SELECT value::json -> 'embedding' AS value FROM settings WHERE name = 'manifest') s)`;
}
