import type { Database } from "bun:sqlite";
import type { CandidateFilter } from "../../../domain/candidate-filter.ts";
import { bestFirst } from "../../../domain/search/bm25.ts";
import { nearestWithParts, withParts } from "../../../domain/search/turns.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { Hit, KeptEntry } from "../../../ports/store/search-index.ts";
import { Codes, type Likely } from "../../native/codes.ts";
import { loadKernel, type Slab } from "../../native/kernel.ts";
import { ownerKey } from "../connection/ask.ts";
import { likelyOf } from "../vectors/codes.ts";
import { exactCosines, mixing, nearestOf, ownVector, searchedKeys } from "../vectors/exact.ts";
import { nearestParts } from "../vectors/parts.ts";
import type { ResidentVectors } from "../vectors/resident.ts";
import { HAS_WORDS } from "../write/turns.ts";
import { activeOf, allowedKeys, type Condition, candidateCondition } from "./filter-sql.ts";

/** Maximum number of vectors compared one by one; for more, all that pass are read. */
const LOOKED_AT_MAX = 10_000;
/** Minimum growth of each further round. */
const WIDER = 4;

/** One search within the snapshot of a read transaction. */
type Search = {
  readonly vector: Float32Array;
  readonly owner: number;
  readonly narrowed: Condition | undefined;
  readonly k: number;
};

/**
 * The nearest nodes by cosine, the same with and without the vectors in memory. Runs inside a read transaction.
 * @param resident vectors in memory; absent: all are read
 */
export function searchVectors(
  database: Database,
  vector: Float32Array,
  filter: CandidateFilter,
  k: number,
  resident?: ResidentVectors,
): Hit<number>[] {
  const owner = ownerKey(database, filter.userId);
  if (owner === undefined || k === 0) return [];
  const search = { vector, owner, narrowed: candidateCondition(filter), k };
  const held = resident?.vectorsOf(database, owner, vector.length);
  const hits = (held && searchHeld(database, held, search)) ?? searchIndex(database, search);
  return [...nearestWithParts(hits, nearestParts(database, vector, owner, search.narrowed), k)];
}

/** The cosine of each given node of the owner that has a vector. */
export function cosines(
  database: Database,
  vector: Float32Array,
  userId: string,
  keys: readonly number[],
): Hit<number>[] {
  const owner = ownerKey(database, userId);
  if (owner === undefined || keys.length === 0) return [];
  const among = {
    sql: "n.key IN (SELECT value FROM json_each(?))",
    parameters: [JSON.stringify(keys)],
  };
  const parts = nearestParts(database, vector, owner, among);
  return [...withParts(exactCosines(database, vector, owner, keys), parts)];
}

/** The own-text vector of each given node of the owner that has one. The indexed vector of a turn is a different one. */
export function ownVectors(
  database: Database,
  userId: string,
  keys: readonly number[],
): ReadonlyMap<number, Float32Array> {
  const owner = ownerKey(database, userId);
  if (owner === undefined || keys.length === 0) return new Map();
  const rows = database
    .query<{ key: number; embedding: Uint8Array }, [string, number]>(
      `SELECT k.value AS key, v.embedding FROM json_each(?) k CROSS JOIN vectors v ON v.node_key = k.value
       WHERE v.owner = ? AND v.revision IS NOT NULL`,
    )
    .all(JSON.stringify(keys), owner);
  const { dimension } = mixing(database);
  return new Map(rows.map(({ key, embedding }) => [key, ownVector(embedding, dimension)]));
}

type KeptRow = {
  readonly id: Uuid;
  readonly key: number;
  readonly embedding: Uint8Array | null;
  readonly parts: Uint8Array | null;
  readonly has_words: number;
};

/** See the port. */
export function keptEntries(
  database: Database,
  userId: string,
  ids: readonly Uuid[],
): ReadonlyMap<Uuid, KeptEntry<number>> {
  const owner = ownerKey(database, userId);
  if (owner === undefined || ids.length === 0) return new Map();
  const rows = database
    .query<KeptRow, [string, number]>(
      `SELECT n.id, n.key, v.embedding, b.parts,
         (SELECT ${HAS_WORDS} FROM nodes WHERE key = n.key) AS has_words
       FROM json_each(?) i CROSS JOIN nodes n ON n.id = i.value AND n.owner = ?
         LEFT JOIN vectors v ON v.node_key = n.key LEFT JOIN vector_parts b ON b.node_key = n.key`,
    )
    .all(JSON.stringify(ids), owner);
  const { dimension } = mixing(database);
  return new Map(
    rows.map(({ id, key, embedding, parts, has_words: hasWords }) => [
      id,
      {
        key,
        vector: embedding === null ? undefined : ownVector(embedding, dimension),
        parts: parts ?? undefined,
        hasWords: hasWords === 1,
      },
    ]),
  );
}

/**
 * Searches the vectors in memory, at most three times. The first retired memory found is removed alone; after a second one, all that are no
 * longer in the pack are removed.
 * @returns undefined if too many vectors would have to be compared exactly
 */
function searchHeld(
  database: Database,
  held: Slab | Codes,
  search: Search,
): readonly Hit<number>[] | undefined {
  for (let looks = 1; ; looks += 1) {
    const found =
      held instanceof Codes
        ? lookIntoCodes(database, held, search)
        : lookInto(database, held, search);
    if (found === undefined || found.gone.length === 0) return found?.hits;
    // Other rows move into the places of removed ones, so previous results are invalid.
    held.remove(found.gone);
    if (looks > 1) held.keepOnly(new Set(searchedKeys(database, search.owner)));
  }
}

/**
 * Likely vectors for each hit wanted, and at least. Of 28,000 real vectors, 600 contain 99.97 % of the nearest 50. The first three for each hit
 * are compared exactly, and of the others those that may be near by so many standard deviations: less than half, with the same result.
 */
const LIKELY_PER_HIT = 3;
const LIKELY_MIN = 600;
const DEVIATIONS = 4;

/** Compares exactly what the codes say is near. @returns undefined if that would be too many */
function lookIntoCodes(database: Database, codes: Codes, search: Search): Look | undefined {
  const { vector: question, owner, narrowed, k } = search;
  const kernel = loadKernel();
  if (kernel === undefined) return undefined;
  const needed = Math.max(LIKELY_PER_HIT * k, LIKELY_MIN);
  const seen = new Set<number>();
  let hits: readonly Hit<number>[] = [];
  /** @returns those that are no longer in the pack */
  const compare = (some: readonly Likely[]): readonly number[] => {
    const fresh = some.map(({ key }) => key).filter((key) => !seen.has(key));
    const allowed = allowedKeys(database, fresh, owner, narrowed);
    const exact = exactCosines(database, question, owner, allowed);
    for (const key of fresh) seen.add(key);
    hits = [...hits, ...exact].sort(bestFirst);
    return withoutVector(database, { keys: fresh, owner }, exact.length);
  };
  if (narrowed === undefined) {
    const likely = likelyOf(database, { kernel, owner }, codes, { question, wanted: needed });
    const gone = [...compare(firstOf(likely, k, needed))];
    gone.push(...compare(promising(likely, hits, k)));
    return { hits: hits.slice(0, k), gone };
  }
  for (let wanted = 2 * needed; wanted <= LOOKED_AT_MAX; ) {
    const likely = likelyOf(database, { kernel, owner }, codes, { question, wanted });
    const gone = compare(likely);
    const isAll = likely.length < wanted;
    if (gone.length > 0 || isAll || hits.length >= needed) return { hits: hits.slice(0, k), gone };
    const share = (hits.length + 1) / (seen.size + 1);
    wanted = Math.max(WIDER * wanted, Math.ceil((1.2 * needed) / share));
  }
  return undefined;
}

/** The likeliest rows, which are compared in any case: all of few. */
function firstOf(likely: Likely[], k: number, needed: number): readonly Likely[] {
  likely.sort((a, b) => b.score - a.score);
  return likely.length < needed ? likely : likely.slice(0, LIKELY_PER_HIT * k);
}

/**
 * The rows that may be among the nearest `k` beside those that were compared, as codes predict cosines: by the line through these, and how
 * far they are from it.
 * @param hits those that were compared, nearest first
 */
export function promising(
  likely: readonly Likely[],
  hits: readonly Hit<number>[],
  k: number,
): readonly Likely[] {
  const cosineOf = new Map(hits.map(({ key, score }) => [key, score]));
  const pairs = likely.flatMap(({ key, score }) => {
    const cosine = cosineOf.get(key);
    return cosine === undefined ? [] : [[score, cosine] as const];
  });
  const others = likely.filter(({ key }) => !cosineOf.has(key));
  const least = hits[k - 1]?.score;
  if (least === undefined || others.length === 0) return others;
  const mean = (of: (pair: readonly [number, number]) => number): number =>
    pairs.reduce((sum, pair) => sum + of(pair), 0) / pairs.length;
  const [code, cosine] = [mean(([score]) => score), mean(([, score]) => score)];
  const spread = mean(([score]) => (score - code) ** 2);
  const slope = spread > 0 ? mean(([x, y]) => (x - code) * (y - cosine)) / spread : 0;
  const predicted = (score: number): number => cosine + Math.max(0, slope) * (score - code);
  const off = Math.sqrt(mean(([x, y]) => (y - predicted(x)) ** 2));
  return others.filter(({ score }) => predicted(score) + DEVIATIONS * off >= least);
}

/** Hits; or vectors no longer in the pack, without which the search must be repeated. */
type Look = { readonly hits: readonly Hit<number>[]; readonly gone: readonly number[] };

/** Compares as many vectors exactly as needed to rule out all others. @returns undefined if that would be too many */
function lookInto(database: Database, slab: Slab, search: Search): Look | undefined {
  const { vector, owner, narrowed, k } = search;
  const approximate = slab.compare(vector);
  if (approximate === undefined) return undefined;
  const seen = new Set<number>();
  let hits: Hit<number>[] = [];
  // A filter will exclude some of the nearest.
  let wanted = narrowed === undefined ? k : 2 * k;
  while (wanted <= LOOKED_AT_MAX || slab.count <= LOOKED_AT_MAX) {
    const { keys, threshold } = approximate(wanted);
    if (keys.length > LOOKED_AT_MAX) return undefined;
    const fresh = keys.filter((key) => !seen.has(key));
    const allowed = allowedKeys(database, fresh, owner, narrowed);
    const exact = exactCosines(database, vector, owner, allowed);
    for (const key of fresh) seen.add(key);
    hits = [...hits, ...exact].sort(bestFirst);
    // The score of every unexamined row is below the threshold.
    const last = hits[k - 1]?.score ?? Number.NEGATIVE_INFINITY;
    if (last >= threshold || seen.size >= slab.count) return { hits: hits.slice(0, k), gone: [] };
    const gone = withoutVector(database, { keys: fresh, owner }, exact.length);
    if (gone.length > 0) return { hits, gone };
    const share = (hits.length + 1) / (seen.size + 1);
    wanted = Math.max(WIDER * wanted, Math.ceil((1.5 * k) / share));
  }
  return undefined;
}

/** The nodes that have no vector of the owner in the pack. @param known how many are known to have one */
function withoutVector(
  database: Database,
  { keys, owner }: { readonly keys: readonly number[]; readonly owner: number },
  known: number,
): number[] {
  if (known === keys.length) return [];
  return database
    .query<{ key: number }, [string, number]>(
      `SELECT k.value AS key FROM json_each(?) k
       WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE node_key = k.value AND owner = ? AND revision IS NOT NULL)`,
    )
    .all(JSON.stringify(keys), owner)
    .map(({ key }) => key);
}

/** Reads all of an owner's vectors that pass. */
export function searchIndex(
  database: Database,
  { vector, owner, narrowed, k }: Search,
): Hit<number>[] {
  if (narrowed === undefined) {
    return nearestOf(database, vector, owner, { sql: "1", parameters: [] }, k);
  }
  const active = activeOf(owner);
  const within = {
    sql: `v.node_key IN (SELECT n.key FROM nodes n WHERE ${active.sql} AND ${narrowed.sql})`,
    parameters: [...active.parameters, ...narrowed.parameters],
  };
  return nearestOf(database, vector, owner, within, k);
}
