import type { Database } from "bun:sqlite";
import type { CandidateFilter } from "../../../domain/candidate-filter.ts";
import {
  anyOf,
  bestFirst,
  COUNTED_MAX,
  type Postings,
  RANKED_WORDS_MAX,
  rarestWords,
  weighted,
  withCoverage,
} from "../../../domain/search/bm25.ts";
import { questionWords } from "../../../domain/stemmed-words.ts";
import type { TextHit } from "../../../ports/store/search-index.ts";
import type { Kernel } from "../../native/kernel.ts";
import { snowball } from "../../stemming/stem.ts";
import { ask, countRows, hasRow } from "../connection/ask.ts";
import { kernelOn } from "../connection/kernel-on.ts";
import { documentNumber, KEY_MASK } from "../write/lexical-index.ts";
import { ownerKey } from "../write/owners.ts";
import { ACTIVE } from "../write/turns.ts";
import { allowedKeys, type Condition, candidateCondition } from "./filter-sql.ts";
import { readNumbers } from "./index-numbers.ts";
import {
  anyForm,
  countHolding,
  type MatchedForm,
  matchTexts,
  OF_OWNER,
  weightsOf,
} from "./match-texts.ts";
import { rankTexts } from "./rank-texts.ts";

export type TextSearch = {
  /** Hits wanted. */
  readonly k: number;
  /** Nodes whose scores are wanted too, whatever their rank. */
  readonly others: readonly number[];
};

/**
 * The best nodes by BM25; any word may match. Words are weighed by their rarity among the owner's documents, so that the
 * documents of others neither affect ranking nor show; only the length of a document is compared with the mean of the pack. FTS5
 * finds the documents; its scores would take longer than that, so they are computed here, with the same result.
 */
export function searchText(
  database: Database,
  question: string,
  filter: CandidateFilter,
  { k, others }: TextSearch,
): TextHit<number>[] {
  // Quoted, so that text is never an operator.
  const words = questionWords(question, snowball).map(({ forms }) =>
    forms.map(({ term, prefix, weight }) => ({ match: `"${term}"${prefix ? "*" : ""}`, weight })),
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

/** The words that rank documents, and how many documents have each of the others. */
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
  /** The number of documents that contain each word of a long question by which none is ranked. */
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
  const stems = words.flatMap(([, ...others]) => others);
  const hasStems = stems.length > 0 && isHeld(database, anyForm(stems), owner);
  const postings = words.map((forms) =>
    anyOf(
      forms
        .slice(0, hasStems ? undefined : 1)
        .map((form) => postingsOf(database, kernel, form, owner)),
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

/** Whether any of the owner's documents matches. One look for all stems spares most questions of a few words one for each. */
function isHeld(database: Database, expression: string, owner: number): boolean {
  const documents = `lexical_documents WHERE lexical_documents MATCH ? AND ${OF_OWNER}`;
  return hasRow(database, documents, expression, owner, owner);
}

/** The owner's documents that contain a form of a word. */
function postingsOf(
  database: Database,
  kernel: Kernel,
  { match, weight }: MatchedForm,
  owner: number,
): Postings {
  const walk = database.query<unknown, [string, number, number]>(
    `SELECT 1 FROM lexical_documents WHERE lexical_documents MATCH ? AND ${OF_OWNER}
       AND svckernel_gather(lexical_documents, ${KEY_MASK}, ${weightsOf(1)})`,
  );
  return weighted(
    kernel.gather(() => walk.all(match, owner, owner)),
    weight,
  );
}

/** Documents of an owner. @param pack those of all owners */
function countDocuments(database: Database, owner: number, pack: number): number {
  if (ask(database, "SELECT 1 FROM owners LIMIT 1 OFFSET 1") === undefined) return pack;
  return countRows(database, `nodes WHERE owner = ? AND lifecycle_state IN ${ACTIVE}`, owner);
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
