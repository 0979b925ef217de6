import type { Database } from "bun:sqlite";
import type { CandidateFilter } from "../../../domain/candidate-filter.ts";
import {
  anyOf,
  BOUND,
  bestFirst,
  COLUMN_WEIGHTS,
  COUNTED_MAX,
  type Postings,
  RANKED_WORDS_MAX,
  rarestWords,
  rarity,
  share,
  type Weighed,
  weighted,
  weighWords,
  withCoverage,
} from "../../../domain/search/bm25.ts";
import { questionWords } from "../../../domain/stemmed-words.ts";
import type { Hit, TextHit } from "../../../ports/store/search-index.ts";
import type { Bounds, Kernel } from "../../native/kernel.ts";
import { snowball } from "../../stemming/stem.ts";
import { ask, countRows, hasRow, type Parameter } from "../connection/ask.ts";
import { kernelOn } from "../connection/kernel-on.ts";
import { documentNumber, KEY_MASK } from "../write/lexical-index.ts";
import { ownerKey } from "../write/owners.ts";
import { ACTIVE } from "../write/turns.ts";
import { activeOf, allowedKeys, type Condition, candidateCondition } from "./filter-sql.ts";

export type TextSearch = {
  /** Hits wanted. */
  readonly k: number;
  /** Nodes whose scores are also wanted, whatever their rank. */
  readonly others: readonly number[];
};

/**
 * The best nodes by BM25; any word may match. Rarity is measured among the owner's documents, so that other owners' documents neither
 * affect ranking nor leak; only a document's length is compared with the mean of the pack. FTS5 finds the documents; its scoring would take
 * longer, so scores are computed here, with the same result.
 */
export function searchText(
  database: Database,
  question: string,
  filter: CandidateFilter,
  { k, others }: TextSearch,
): TextHit<number>[] {
  // Quoted, so that text is never an operator.
  const words = questionWords(question, snowball).map(({ forms }) =>
    forms.map(({ term, prefix, weight }) => ({
      match: `"${term}"${prefix ? "*" : ""}`,
      weight,
      word: prefix ? undefined : term,
    })),
  );
  if (words.length === 0 || (k === 0 && others.length === 0)) return [];
  // One snapshot: the weight of a word and its documents must match.
  return database.transaction(() => {
    const owner = ownerKey(database, filter.userId);
    if (owner === undefined) return [];
    const search = {
      ...rankingWords(database, words, owner),
      owner,
      narrowed: candidateCondition(filter),
      k,
      others,
    };
    const kernel = kernelOn(database);
    return kernel === undefined
      ? searchByIndex(database, search)
      : searchByPostings(database, kernel, search);
  })();
}

/** The words that rank documents, and the number of documents with each of the others. */
function rankingWords(
  database: Database,
  words: Search["words"],
  owner: number,
): Pick<Search, "words" | "unranked"> {
  if (words.length <= RANKED_WORDS_MAX) return { words, unranked: [] };
  const holding = words.map((forms) => countFew(database, anyForm(forms), owner));
  const isRanking = rarestWords(holding);
  return {
    words: words.filter((_, at) => isRanking[at]),
    unranked: holding.filter((_, at) => !isRanking[at]),
  };
}

/** The number of the owner's documents that match, at most `COUNTED_MAX`. */
function countFew(database: Database, expression: string, owner: number): number {
  const matching = `lexical_documents WHERE lexical_documents MATCH ? AND ${OF_OWNER}`;
  return countRows(
    database,
    `(SELECT 1 FROM ${matching} LIMIT ${COUNTED_MAX})`,
    expression,
    owner,
    owner,
  );
}

type Search = TextSearch & {
  /** For each word, its forms. */
  readonly words: readonly (readonly MatchedForm[])[];
  /** For a long question's words that do not rank, the number of documents that contain each. */
  readonly unranked: readonly number[];
  readonly owner: number;
  readonly narrowed: Condition | undefined;
};

function searchByIndex(
  database: Database,
  { words, unranked, owner, narrowed, k, others }: Search,
): TextHit<number>[] {
  const { documents: pack } = readTotals(database);
  const sizes = { pack, owner: countDocuments(database, owner, pack) };
  const ranked = matchTexts(database, words, narrowed, owner, sizes).sort(bestFirst);
  const wanted = new Set(others);
  const hits = [...ranked.slice(0, k), ...ranked.slice(k).filter(({ key }) => wanted.has(key))];
  const holding = words.map((forms) => countHolding(database, forms, owner));
  return withCoverage(hits, [...holding, ...unranked], sizes.owner);
}

function searchByPostings(
  database: Database,
  kernel: Kernel,
  { words, unranked, owner, narrowed, k, others }: Search,
): TextHit<number>[] {
  const totals = readTotals(database);
  if (totals.documents === 0) return [];
  const collection = {
    documents: countDocuments(database, owner, totals.documents),
    meanLength: totals.words / totals.documents,
  };
  const isLarge = collection.documents >= totals.documents * READ_FROM;
  const lists = isLarge ? readLists(database, kernel, words.flat(), owner) : undefined;
  const stems = words.flatMap(([, ...others]) => others);
  const hasStems =
    stems.length > 0 && (lists !== undefined || isHeld(database, anyForm(stems), owner));
  const postings = words.map((forms) =>
    anyOf(
      forms
        .slice(0, hasStems ? undefined : 1)
        .map((form) =>
          weighted(
            lists?.get(form.match) ?? postingsOf(database, kernel, form.match, owner),
            form.weight,
          ),
        ),
    ),
  );
  const hits = rankTexts(kernel, postings, collection, {
    k,
    others,
    lengthsOf: (keys) => lengthsOf(database, owner, keys),
    allowedOf: (keys) => allowedKeys(database, keys, owner, narrowed),
  });
  const holding = postings.map(({ keys }) => keys.length);
  return withCoverage(hits, [...holding, ...unranked], collection.documents);
}

/** Whether any of the owner's documents matches. One query for all stems spares most short questions one for each. */
function isHeld(database: Database, expression: string, owner: number): boolean {
  const documents = `lexical_documents WHERE lexical_documents MATCH ? AND ${OF_OWNER}`;
  return hasRow(database, documents, expression, owner, owner);
}

/** Share of the pack's documents from which an owner's lists are read as a whole, with those of others. */
const READ_FROM = 0.125;

/** What the kernel is told of the columns. */
const COLUMNS = `${KEY_MASK}, ${weightsOf(1)}`;

/** The owner's documents that contain each form that is a whole word, read without FTS5; undefined if only FTS5 can tell. */
function readLists(
  database: Database,
  kernel: Kernel,
  forms: readonly MatchedForm[],
  owner: number,
): ReadonlyMap<string, Postings> | undefined {
  const whole = forms.filter(({ word }) => word !== undefined);
  const read = `SELECT svckernel_lists(lexical_documents, ?, ${LOWEST}, ${HIGHEST}, ${COLUMNS}) FROM lexical_documents LIMIT 1`;
  const text = whole.map(({ word }) => word).join("\n");
  const lists = kernel.lists(whole.length, () => ask(database, read, text, owner, owner) === 1);
  return lists && new Map(whole.map(({ match }, at) => [match, lists[at] ?? anyOf([])]));
}

/** The owner's documents that match an expression. */
function postingsOf(database: Database, kernel: Kernel, match: string, owner: number): Postings {
  const walk = `SELECT 1 FROM lexical_documents WHERE lexical_documents MATCH ? AND ${OF_OWNER}
    AND svckernel_gather(lexical_documents, ${COLUMNS})`;
  return kernel.gather(() => void database.query(walk).all(match, owner, owner));
}

/** Documents of an owner. @param pack those of all owners */
function countDocuments(database: Database, owner: number, pack: number): number {
  if (isOnlyOwner(database)) return pack;
  return countRows(database, `nodes WHERE owner = ? AND lifecycle_state IN ${ACTIVE}`, owner);
}

function isOnlyOwner(database: Database): boolean {
  return ask(database, "SELECT 1 FROM owners LIMIT 1 OFFSET 1") === undefined;
}

/** FTS5's own totals of documents and words. */
function readTotals(database: Database): { readonly documents: number; readonly words: number } {
  const block = ask<Uint8Array>(database, "SELECT block FROM lexical_documents_data WHERE id = 1");
  const [documents = 0, ...words] = block === undefined ? [] : readNumbers(block);
  return { documents, words: sum(words) };
}

/** The number of words in each document, over all columns. */
function lengthsOf(
  database: Database,
  owner: number,
  keys: readonly number[],
): ReadonlyMap<number, number> {
  const rows = database
    .query<{ key: number; sz: Uint8Array }, [string, number]>(
      `SELECT k.value AS key, d.sz FROM json_each(?) k
         CROSS JOIN lexical_documents_docsize d ON d.id = ${documentNumber("?", "k.value")}`,
    )
    .all(JSON.stringify(keys), owner);
  return new Map(rows.map(({ key, sz }) => [key, sum(readNumbers(sz))]));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, value) => total + value, 0);
}

/** A sequence of SQLite varints, as FTS5 stores its totals: seven bits a byte, highest first, the last byte below 128. */
function readNumbers(bytes: Uint8Array): number[] {
  const numbers: number[] = [];
  let value = 0;
  for (const byte of bytes) {
    value = value * 128 + (byte & 127);
    if (byte >= 128) continue;
    numbers.push(value);
    value = 0;
  }
  return numbers;
}

/** Weight of an occurrence in each column, as SQL. @param factor of the form */
function weightsOf(factor: number): string {
  return [COLUMN_WEIGHTS.own, COLUMN_WEIGHTS.previous, COLUMN_WEIGHTS.next]
    .map((weight) => (weight * factor).toFixed(2))
    .join(", ");
}

/** A form of a word: an expression of FTS5, what an occurrence counts, and the word itself unless it is the beginning of several. */
type MatchedForm = {
  readonly match: string;
  readonly weight: number;
  readonly word?: string | undefined;
};

/** The expression that any of the forms matches. */
function anyForm(forms: readonly MatchedForm[]): string {
  return forms.map(({ match }) => match).join(" OR ");
}

const LOWEST = documentNumber("?", "0");
const HIGHEST = documentNumber("?", String(KEY_MASK));
/** The documents of an owner, as SQL; its key is both parameters. */
const OF_OWNER = `rowid BETWEEN ${LOWEST} AND ${HIGHEST}`;

type Sizes = { readonly pack: number; readonly owner: number };

/**
 * The score of every document of an owner that matches and passes, computed by FTS5, which measures rarity in the whole pack. If several
 * owners share one, or a word has several forms, each is searched separately, and its share is reweighted to the rarity among the owner's
 * documents.
 * @param words for each word, its forms
 */
function matchTexts(
  database: Database,
  words: readonly (readonly MatchedForm[])[],
  narrowed: Condition | undefined,
  owner: number,
  sizes: Sizes,
): Hit<number>[] {
  if (sizes.pack === sizes.owner && words.every(({ length }) => length === 1)) {
    const any = { match: anyForm(words.flat()), weight: 1 };
    return matching(database, any, narrowed, owner).filter(isAllowed);
  }
  const scores = new Map<number, number>();
  for (const forms of words) {
    const found = forms.map((form) => matchForm(database, form, narrowed, owner));
    const holding = new Set(found.flatMap(({ hits }) => hits.map(({ key }) => key))).size;
    const best = new Map<number, number>();
    for (const { hits, inPack } of found) {
      const factor = rarity(sizes.owner, holding) / rarity(sizes.pack, inPack);
      for (const { key, score } of hits.filter(isAllowed)) {
        best.set(key, Math.max(best.get(key) ?? 0, score * factor));
      }
    }
    for (const [key, score] of best) scores.set(key, (scores.get(key) ?? 0) + score);
  }
  return [...scores].map(([key, score]) => ({ key, score }));
}

/** The number of an owner's documents that contain a word in any of its forms, before any filter. */
function countHolding(database: Database, forms: readonly MatchedForm[], owner: number): number {
  return matching(database, { match: anyForm(forms), weight: 1 }, undefined, owner).length;
}

type Matched = {
  readonly hits: readonly OwnedHit[];
  /** Documents of all owners that match. */
  readonly inPack: number;
};

function matchForm(
  database: Database,
  form: MatchedForm,
  narrowed: Condition | undefined,
  owner: number,
): Matched {
  const hits = matching(database, form, narrowed, owner);
  if (hits.length === 0) return { hits, inPack: 0 };
  const inPack = countRows(
    database,
    "lexical_documents WHERE lexical_documents MATCH ?",
    form.match,
  );
  return { hits, inPack };
}

type OwnedHit = Hit<number> & { readonly allowed: number };

function isAllowed({ allowed }: OwnedHit): boolean {
  return allowed === 1;
}

/** The owner's active nodes that match an expression, and whether each passes the filter. */
function matching(
  database: Database,
  { match, weight }: MatchedForm,
  narrowed: Condition | undefined,
  owner: number,
): OwnedHit[] {
  const active = activeOf(owner);
  return database
    .query<OwnedHit, Parameter[]>(
      // CROSS JOIN makes the index the outer loop: looking hits up in `nodes` is cheap, the reverse is not.
      `SELECT n.key, -bm25(lexical_documents, ${weightsOf(weight)}) AS score, ${narrowed?.sql ?? "1"} AS allowed
       FROM lexical_documents f CROSS JOIN nodes n ON n.key = f.rowid & ${KEY_MASK}
       WHERE lexical_documents MATCH ? AND f.${OF_OWNER} AND ${active.sql}`,
    )
    .all(...(narrowed?.parameters ?? []), match, owner, owner, ...active.parameters);
}

/** Documents examined in the first round per hit wanted, and the growth of each further round. */
const FIRST_LOOK = 4;
const WIDER = 4;

/** The statistics that BM25 needs. */
type Collection = {
  /** Documents of the owner. */
  readonly documents: number;
  /** Words in a document of the pack, on average; above 0. */
  readonly meanLength: number;
};

type Ranking = {
  /** Hits wanted. */
  readonly k: number;
  /** Keys whose scores are also wanted. */
  readonly others: readonly number[];
  /** The number of words in each document. */
  readonly lengthsOf: (keys: readonly number[]) => ReadonlyMap<number, number>;
  /** The keys that pass the filter. */
  readonly allowedOf: (keys: readonly number[]) => readonly number[];
};

/**
 * The best documents by BM25, followed by those of `others` that match and pass. A document's upper bound follows from its word
 * frequencies; its length is looked up, and the filter applied, only if the bound may suffice.
 * @param words the owner's documents that contain each word of the question, by ascending key
 */
function rankTexts(
  kernel: Kernel,
  words: readonly Postings[],
  collection: Collection,
  ranking: Ranking,
): Hit<number>[] {
  const weighed = weighWords(words, collection.documents);
  const score = (keys: readonly number[]): Hit<number>[] =>
    scoreAll(weighed, collection, ranking, ranking.allowedOf(keys));
  const best = findBest(kernel, boundAll(kernel, weighed), score, ranking.k);
  const isBest = new Set(best.map(({ key }) => key));
  const others = ranking.others.filter(
    (key) => !isBest.has(key) && weighed.some(({ keys }) => keys[placeOf(keys, key, 0)] === key),
  );
  return [...best, ...score(others).sort(bestFirst)];
}

type Word = Weighed<Postings>;

/** Scores the documents with the highest upper bounds first, then all whose bound reaches the score of the k-th best. */
function findBest(
  kernel: Kernel,
  bounds: Bounds,
  score: (keys: readonly number[]) => Hit<number>[],
  k: number,
): Hit<number>[] {
  if (k === 0) return [];
  const count = bounds.keys.length;
  const reachedBy = (wanted: number): number =>
    kernel.select(bounds.most, undefined, { slack: 0, count, wanted }).threshold;
  let hits: Hit<number>[] = [];
  let seenTo = Number.POSITIVE_INFINITY;
  let from = reachedBy(k * FIRST_LOOK);
  for (let wanted = k * FIRST_LOOK; ; ) {
    hits = [...hits, ...score(keysBetween(bounds, from, seenTo))].sort(bestFirst);
    const last = hits[k - 1]?.score;
    const isEnough = last !== undefined && last >= from;
    if (isEnough || from === Number.NEGATIVE_INFINITY) return hits.slice(0, k);
    seenTo = from;
    wanted *= WIDER;
    from = last ?? reachedBy(wanted);
  }
}

/** The documents with an upper bound of at least `from` but below `to`. */
function keysBetween({ keys, most }: Bounds, from: number, to: number): readonly number[] {
  const between: number[] = [];
  for (let position = 0; position < keys.length; position += 1) {
    const bound = most[position] ?? 0;
    if (bound >= from && bound < to) between.push(keys[position] ?? 0);
  }
  return between;
}

/** Each document's upper bound, at any length. */
function boundAll(kernel: Kernel, words: readonly Word[]): Bounds {
  let all: Bounds = { keys: new Float64Array(0), most: new Float32Array(0) };
  for (const word of words) {
    all = kernel.join(all, word, { rarity: word.rarity, ...BOUND });
  }
  return all;
}

function scoreAll(
  words: readonly Word[],
  { meanLength }: Collection,
  { lengthsOf }: Ranking,
  keys: readonly number[],
): Hit<number>[] {
  const lengths = lengthsOf(keys);
  const places = words.map(() => 0);
  let before = Number.NEGATIVE_INFINITY;
  return keys.map((key) => {
    const length = (lengths.get(key) ?? 0) / meanLength;
    // Keys mostly ascend: what a word's list has before the last one is not searched again.
    if (key < before) places.fill(0);
    before = key;
    let score = 0;
    for (const [index, word] of words.entries()) {
      const place = placeOf(word.keys, key, places[index] ?? 0);
      places[index] = place;
      const frequency = word.keys[place] === key ? (word.frequencies[place] ?? 0) : 0;
      score += word.rarity * share(frequency, length);
    }
    return { key, score };
  });
}

/** The first place from `low` on whose key is not below `key`: in steps that double, then by halves. */
function placeOf(keys: Float64Array, key: number, low: number): number {
  let step = 1;
  while (low + step < keys.length && (keys[low + step] ?? 0) < key) step *= 2;
  let [from, to] = [low, Math.min(low + step, keys.length)];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((keys[middle] ?? 0) < key) from = middle + 1;
    else to = middle;
  }
  return from;
}
