import type { Database } from "bun:sqlite";
import type { CandidateFilter } from "../../../domain/candidate-filter.ts";
import {
  B,
  bestFirst,
  COLUMN_WEIGHTS,
  COUNTED_MAX,
  K1,
  RANKED_WORDS_MAX,
  rarestWords,
  rarity,
  weighWords,
  withCoverage,
} from "../../../domain/search/bm25.ts";
import { questionWords } from "../../../domain/stemmed-words.ts";
import type { Hit, TextHit } from "../../../ports/store/search-index.ts";
import { snowball } from "../../stemming/stem.ts";
import { ask, countRows, hasRow, ownerKey, type Parameter } from "../connection/ask.ts";
import { kernelOn } from "../connection/kernel-on.ts";
import { documentNumber, KEY_MASK } from "../write/lexical-index.ts";
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
    const isAlone = kernelOn(database) === undefined;
    return isAlone ? searchByIndex(database, search) : searchByLists(database, search);
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

function searchByLists(
  database: Database,
  { words, unranked, owner, narrowed, k, others }: Search,
): TextHit<number>[] {
  const totals = readTotals(database);
  if (totals.documents === 0) return [];
  const documents = countDocuments(database, owner, totals.documents);
  gatherWords(database, words, owner, documents >= totals.documents * READ_FROM);
  const holding = numbersOf(ask(database, HOLDING, owner, owner));
  const weighed = weighWords(
    Array.from(holding, (length, word) => ({ word, keys: { length } })),
    documents,
  );
  const rules = Float64Array.of(K1, B, totals.words / totals.documents);
  const ranking = Float64Array.from(weighed.flatMap(({ word, rarity }) => [word, rarity]));
  /** The best of all, and of `others` those that match, before any filter. */
  const rank = (wanted: number, others: readonly number[]): readonly Hit<number>[][] => {
    const [found = 0, ...hits] = numbersOf(
      ask(database, BEST, owner, owner, rules, ranking, wanted, Float64Array.from(others)),
    );
    return [toHits(hits.slice(0, 2 * found)), toHits(hits.slice(2 * found))];
  };
  const passing = (hits: readonly Hit<number>[]): readonly Hit<number>[] => {
    if (narrowed === undefined) return hits;
    const keys = hits.map(({ key }) => key);
    const allowed = new Set(allowedKeys(database, keys, owner, narrowed));
    return hits.filter(({ key }) => allowed.has(key));
  };
  let wanted = narrowed === undefined ? k : k * FIRST_LOOK;
  const [found = [], asked = []] = rank(wanted, others);
  const best = [...passing(found)];
  for (let seen = found.length; best.length < k && seen === wanted; ) {
    wanted *= WIDER;
    const [all = []] = rank(wanted, []);
    best.push(...passing(all.slice(seen)));
    seen = all.length;
  }
  const hits = best.slice(0, k);
  const isBest = new Set(hits.map(({ key }) => key));
  const more = asked.filter(({ key }) => !isBest.has(key));
  return withCoverage(
    [...hits, ...[...passing(more)].sort(bestFirst)],
    [...holding, ...unranked],
    documents,
  );
}

/** Documents examined in the first round per hit wanted if a filter may take them away, and the growth of each further round. */
const FIRST_LOOK = 4;
const WIDER = 8;

function numbersOf(bytes: unknown): Float64Array {
  return bytes instanceof Uint8Array ? new Float64Array(bytes.slice().buffer) : new Float64Array(0);
}

/** @param numbers key and score in turns */
function toHits(numbers: readonly number[]): Hit<number>[] {
  const hits: Hit<number>[] = [];
  for (let at = 0; at < numbers.length; at += 2) {
    hits.push({ key: numbers[at] ?? 0, score: numbers[at + 1] ?? 0 });
  }
  return hits;
}

/** Share of the pack's documents from which an owner's lists are read, and kept, as a whole, with those of others. */
const READ_FROM = 0.125;

/** Makes the kernel of this connection know the documents of each form, so that it can count and rank them. */
function gatherWords(
  database: Database,
  words: Search["words"],
  owner: number,
  isLarge: boolean,
): void {
  const readable = words.map((forms) =>
    forms
      .flatMap(({ word, weight }) => (word === undefined ? [] : `${2 * weight}${word}`))
      .join("\t"),
  );
  const isRead = ask(database, isLarge ? READ : BEGIN, readable.join("\n")) === 1;
  const stems = words.flatMap(([, ...others]) => others);
  const hasStems = isRead || (stems.length > 0 && isHeld(database, anyForm(stems), owner));
  for (const [number, forms] of words.entries()) {
    for (const [at, { match, weight, word }] of forms.entries()) {
      if ((isRead && word !== undefined) || (at > 0 && !hasStems)) continue;
      database.query(GATHER).all(match, owner, owner, number, at, weight);
    }
  }
}

/** Whether any of the owner's documents matches. One query for all stems spares most short questions one for each. */
function isHeld(database: Database, expression: string, owner: number): boolean {
  const documents = `lexical_documents WHERE lexical_documents MATCH ? AND ${OF_OWNER}`;
  return hasRow(database, documents, expression, owner, owner);
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

const WEIGHTS = weightsOf(1);
/** The functions of `kernel/words.h`. */
const LISTS = (structure: string): string =>
  `SELECT svckernel_lists(lexical_documents, ${structure}, ?, ${WEIGHTS}) FROM lexical_documents LIMIT 1`;
const BEGIN = LISTS("NULL");
const READ = LISTS("(SELECT block FROM lexical_documents_data WHERE id = 10)");
const GATHER = `SELECT 1 FROM lexical_documents WHERE lexical_documents MATCH ? AND ${OF_OWNER}
  AND svckernel_gather(lexical_documents, ?, ?, ?, ${WEIGHTS})`;
const HOLDING = `SELECT svckernel_holding(${LOWEST}, ${HIGHEST})`;
const BEST = `SELECT svckernel_best(${LOWEST}, ${HIGHEST}, ${KEY_MASK}, ?, ?, ?, ?)`;

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
