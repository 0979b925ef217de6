import type { CandidateFilter } from "../../../domain/candidate-filter.ts";
import {
  anyOf,
  bestFirst,
  COUNTED_MAX,
  type Postings,
  RANKED_WORDS_MAX,
  rarestWords,
  share,
  weighted,
  weighWords,
  withCoverage,
} from "../../../domain/search/bm25.ts";
import { questionWords } from "../../../domain/stemmed-words.ts";
import type { Hit, TextHit } from "../../../ports/store/search-index.ts";
import { Params } from "../../sql/conditions.ts";
import { POSTGRES } from "../../sql/dialect.ts";
import { isCandidate, passes } from "../../sql/searches.ts";
import { snowball } from "../../stemming/stem.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { type OwnerKey, ownerKey } from "../owner-key.ts";
import { type PostingBlock, readLengths, readPostings } from "./posting-blocks.ts";
import { termOf } from "./terms.ts";

/** Documents filtered in the first round per hit wanted, and the growth of each further round. */
const FIRST_LOOK = 4;
const WIDER = 16;

export type TextReads = { readonly database: Database; readonly lengths: LengthsCache };

export type TextSearch = {
  readonly question: string;
  readonly filter: CandidateFilter;
  /** Hits wanted. */
  readonly k: number;
  /** Nodes whose scores are also wanted, whatever their rank. */
  readonly others: readonly number[];
};

/** The best nodes by BM25; any word may match. */
export async function searchText(
  { database, lengths }: TextReads,
  search: TextSearch,
): Promise<TextHit<number>[]> {
  const { question, filter, k, others } = search;
  const words = questionWords(question, snowball).map(({ forms }) =>
    forms.map(({ term, prefix, weight }) => ({ term: termOf(term), prefix, weight })),
  );
  if (words.length === 0 || (k === 0 && others.length === 0)) return [];
  const index = await database.read(filter.userId, (sql) =>
    readIndex(sql, ownerKey(filter.userId), words.flat(), lengths),
  );
  if (index.collection.documents === 0) return [];
  const postings = words.map((forms) =>
    anyOf(forms.map((form) => weighted(index.postingsOf(form), form.weight))),
  );
  const { ranking, unranked } = rankingWords(postings);
  const hits = await choose(database, rankWords(ranking, index.collection), search);
  const holding = [...ranking.map(({ keys }) => keys.length), ...unranked];
  return withCoverage(hits, holding, index.collection.documents);
}

/** The words that rank documents, and the number of documents with each of the others, counted as in a pack. */
function rankingWords(words: readonly Postings[]): {
  readonly ranking: readonly Postings[];
  readonly unranked: readonly number[];
} {
  if (words.length <= RANKED_WORDS_MAX) return { ranking: words, unranked: [] };
  const holding = words.map(({ keys }) => Math.min(keys.length, COUNTED_MAX));
  const isRanking = rarestWords(holding);
  return {
    ranking: words.filter((_, at) => isRanking[at]),
    unranked: holding.filter((_, at) => !isRanking[at]),
  };
}

/** The best that pass, then those of the others that match and pass. */
async function choose(
  database: Database,
  ranking: Ranking,
  { filter, k, others }: TextSearch,
): Promise<readonly Hit<number>[]> {
  const wanted = [...new Set(others)].flatMap((key) => ranking.hitOf(key) ?? []);
  const asked = new Set<number>();
  const allowed = new Set<number>();
  const ask = async (hits: readonly Hit<number>[]): Promise<void> => {
    const fresh = hits.map(({ key }) => key).filter((key) => !asked.has(key));
    for (const key of fresh) asked.add(key);
    for (const key of await allowedKeys(database, fresh, filter)) allowed.add(key);
  };
  const passing = (hits: readonly Hit<number>[]) => hits.filter(({ key }) => allowed.has(key));
  for (let count = k * FIRST_LOOK; ; count *= WIDER) {
    const best = ranking.best(count);
    await ask([...best, ...wanted]);
    const hits = passing(best).slice(0, k);
    if (hits.length < k && best.length === count && k > 0) continue;
    const isHit = new Set(hits.map(({ key }) => key));
    const rest = passing(wanted).filter(({ key }) => !isHit.has(key));
    return [...hits, ...rest.sort((a, b) => b.score - a.score || a.key - b.key)];
  }
}

/** The keys that are active nodes of the owner and pass; without a condition all of them, unchecked. */
async function allowedKeys(
  database: Database,
  keys: readonly number[],
  filter: CandidateFilter,
): Promise<readonly number[]> {
  if (keys.length === 0 || passes(POSTGRES, new Params(), filter).length === 0) return keys;
  const params = new Params(ownerKey(filter.userId), keys);
  const sql = `SELECT n.key FROM nodes n WHERE n.key = ANY ($2::integer[]) AND ${isCandidate(POSTGRES, params, filter)}`;
  const rows = await database.read(filter.userId, (on) =>
    on.all<{ key: number }>(sql, ...params.values),
  );
  return rows.map(({ key }) => key);
}

/** A form of a word. */
type Form = { readonly term: string; readonly prefix: boolean };

type Index = {
  readonly collection: Collection;
  readonly postingsOf: (form: Form) => Postings;
};

type IndexRow = {
  /** Null for the owner, and for lengths of documents. */
  readonly term: string | null;
  /** -1 for the owner. */
  readonly block: number;
  readonly bytes: Uint8Array | null;
  /** Of the owner alone. */
  readonly version: string | null;
  readonly documents: number | null;
  readonly words: number | null;
};

const OWNER = `SELECT NULL::text AS term, -1 AS block, NULL::bytea AS bytes, version::text,
    lexical_documents AS documents, lexical_words::float8 AS words FROM owners WHERE owner = $1::bigint`;
const TERMS = `SELECT term, block, postings, NULL, NULL, NULL FROM lexical_postings
  WHERE owner = $1::bigint AND term = ANY ($2::text[])`;
const BEGINNINGS = `SELECT l.term, l.block, l.postings, NULL, NULL, NULL
  FROM unnest($3::text[], $4::text[]) u (a, b) JOIN lexical_postings l
    ON l.owner = $1::bigint AND l.term >= u.a AND l.term < u.b`;
const LENGTHS = `SELECT NULL, block, lengths, NULL, NULL, NULL FROM lexical_documents WHERE owner = $1::bigint`;

/** A question's data from an owner's word index, in one statement and so in one snapshot. */
async function readIndex(
  sql: Sql,
  owner: OwnerKey,
  forms: readonly Form[],
  cache: LengthsCache,
): Promise<Index> {
  const prefixes = forms.filter(({ prefix }) => prefix).map(({ term }) => term);
  const terms = forms.filter(({ prefix }) => !prefix).map(({ term }) => term);
  const values = [owner, terms, ...(prefixes.length === 0 ? [] : [prefixes, prefixes.map(after)])];
  const parts = [OWNER, TERMS, ...(prefixes.length === 0 ? [] : [BEGINNINGS])];
  const read = async (what: readonly string[]) => {
    const rows = await sql.all<IndexRow>(what.join(" UNION ALL "), ...values);
    return { rows, about: rows.find(({ block }) => block < 0) };
  };
  const kept = cache.of(owner);
  let { rows, about } = await read(kept === undefined ? [...parts, LENGTHS] : parts);
  let lengths = kept?.lengths ?? lengthsOf(rows);
  if (kept !== undefined && about?.version !== kept.version) {
    ({ rows, about } = await read([...parts, LENGTHS]));
    lengths = lengthsOf(rows);
  }
  if (about?.version != null) cache.keep(owner, { version: about.version, lengths });
  const collection = { documents: about?.documents ?? 0, words: about?.words ?? 0, lengths };
  const byTerm = Map.groupBy(rows, ({ term }) => term ?? "");
  return {
    collection,
    postingsOf: ({ term, prefix }) =>
      prefix
        ? sumOf(
            [...byTerm]
              .filter(([each]) => each.startsWith(term))
              .map(([, found]) => readPostings(blocksOf(found))),
          )
        : readPostings(blocksOf(byTerm.get(term) ?? [])),
  };
}

function blocksOf(rows: readonly IndexRow[]): readonly PostingBlock[] {
  return rows
    .flatMap(({ block, bytes }) => (bytes === null ? [] : [{ block, postings: bytes }]))
    .sort((a, b) => a.block - b.block);
}

function lengthsOf(rows: readonly IndexRow[]): Int32Array {
  const blocks = rows
    .filter(({ term }) => term === null)
    .flatMap(({ block, bytes }) => (bytes === null ? [] : [{ block, lengths: bytes }]));
  return readLengths(blocks.sort((a, b) => a.block - b.block));
}

/** The first text after all with this prefix, by code point. */
function after(text: string): string {
  const characters = [...text];
  const last = characters.pop()?.codePointAt(0) ?? 0;
  return `${characters.join("")}${String.fromCodePoint(last + 1)}`;
}

/** The documents that contain any of the terms, with the sum of their frequencies. */
function sumOf(terms: readonly Postings[]): Postings {
  const sums = new Map<number, number>();
  for (const { keys, frequencies } of terms) {
    for (const [at, key] of keys.entries()) {
      sums.set(key, (sums.get(key) ?? 0) + (frequencies[at] ?? 0));
    }
  }
  const sorted = [...sums].sort(([a], [b]) => a - b);
  return {
    keys: Float64Array.from(sorted, ([key]) => key),
    frequencies: Float32Array.from(sorted, ([, frequency]) => frequency),
  };
}

/** An owner's documents. */
type Collection = {
  readonly documents: number;
  /** Words in all of them. */
  readonly words: number;
  /** Words in the document of each key; -1 without one. */
  readonly lengths: Int32Array;
};

/** The scores of all documents that have a word of the question. */
type Ranking = {
  /** The `count` best, best first. */
  readonly best: (count: number) => readonly Hit<number>[];
  /** The hit of a key; undefined without any of the words. */
  readonly hitOf: (key: number) => Hit<number> | undefined;
};

/**
 * Scores documents by BM25, with the same sums in the same order as every store.
 * @param words the owner's documents that contain each word of the question, by ascending key
 */
function rankWords(
  words: readonly Postings[],
  { documents, words: total, lengths }: Collection,
): Ranking {
  const meanLength = total / documents;
  const scores = new Float64Array(lengths.length);
  for (const { keys, frequencies, rarity } of weighWords(words, documents)) {
    for (let at = 0; at < keys.length; at += 1) {
      const key = keys[at] ?? 0;
      const length = lengths[key] ?? -1;
      if (length < 0) continue;
      scores[key] = (scores[key] ?? 0) + rarity * share(frequencies[at] ?? 0, length / meanLength);
    }
  }
  return {
    best: (count) => bestOf(scores, count),
    hitOf: (key) => {
      const score = scores[key] ?? 0;
      return score > 0 ? { key, score } : undefined;
    },
  };
}

/** The `count` highest scores above 0. */
function bestOf(scores: Float64Array, count: number): readonly Hit<number>[] {
  if (count === 0) return [];
  let best: Hit<number>[] = [];
  let least = 0;
  for (let key = 0; key < scores.length; key += 1) {
    const score = scores[key] ?? 0;
    // Keys ascend: of equal scores the first ones count.
    if (score <= least) continue;
    best.push({ key, score });
    if (best.length < 2 * count) continue;
    best = best.sort(bestFirst).slice(0, count);
    least = best[count - 1]?.score ?? 0;
  }
  return best.sort(bestFirst).slice(0, count);
}

/** Maximum cached document lengths, over all owners. */
const BUDGET = 4_000_000;
/** Minimum documents for caching lengths: fewer are read just as fast. */
const KEPT_FROM = 2048;

type Kept = {
  /** The version of the owner they belong to. */
  readonly version: string;
  readonly lengths: Int32Array;
};

/** The document lengths of the most recently active owners. */
export class LengthsCache {
  readonly #kept = new Map<OwnerKey, Kept>();
  #size = 0;

  of(owner: OwnerKey): Kept | undefined {
    return this.#kept.get(owner);
  }

  keep(owner: OwnerKey, kept: Kept): void {
    this.#remove(owner);
    const { length } = kept.lengths;
    if (length < KEPT_FROM || length > BUDGET) return;
    this.#kept.set(owner, kept);
    this.#size += length;
    // A map iterates in insertion order.
    for (const [other] of this.#kept) {
      if (this.#size <= BUDGET) return;
      this.#remove(other);
    }
  }

  #remove(owner: OwnerKey): void {
    this.#size -= this.#kept.get(owner)?.lengths.length ?? 0;
    this.#kept.delete(owner);
  }
}
