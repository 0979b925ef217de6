import type { Database } from "bun:sqlite";
import type { CandidateFilter } from "../../../domain/candidate-filter.ts";
import { questionTerms } from "../../../domain/lexical-analysis.ts";
import type { Hit } from "../../../ports/store.ts";
import { ACTIVE } from "../write/turns.ts";
import { ownerKey } from "../write/owners.ts";
import { activeOf, type Condition, candidateCondition, type Parameter } from "./filter-sql.ts";

/** Weights of a turn's own words and of those of the turns around it. */
const BM25 = "bm25(lexical_documents, 1.0, 0.5, 0.5)";

export type TextSearch = {
  /** Hits wanted. */
  readonly k: number;
  /** Nodes whose score is wanted too, wherever they rank. */
  readonly others: readonly number[];
};

/**
 * The best nodes by BM25; any word may match.
 *
 * BM25 is a sum over words, each weighted by its rarity. FTS5 weighs by rarity in the whole pack; where several owners
 * share one, each word is asked for alone and its share is reweighted to the rarity among the owner's memories, so that
 * what others wrote neither ranks nor shows. Only the document length is still compared with the mean of the pack.
 */
export function searchText(
  database: Database,
  question: string,
  filter: CandidateFilter,
  { k, others }: TextSearch,
): Hit[] {
  const owner = ownerKey(database, filter.userId);
  // Quoted, so that no text is ever an operator.
  const terms = questionTerms(question).map(({ term, prefix }) => `"${term}"${prefix ? "*" : ""}`);
  if (owner === undefined || terms.length === 0 || (k === 0 && others.length === 0)) return [];
  const ranked = [...scoreAll(database, terms, filter, owner)]
    .map(([key, score]) => ({ key, score }))
    .sort((a, b) => b.score - a.score || a.key - b.key);
  const wanted = new Set(others);
  return [...ranked.slice(0, k), ...ranked.slice(k).filter(({ key }) => wanted.has(key))];
}

/** The score of every node of the owner that holds a word and passes the filter. */
function scoreAll(
  database: Database,
  terms: readonly string[],
  filter: CandidateFilter,
  owner: number,
): ReadonlyMap<number, number> {
  const alone = database.query("SELECT 1 FROM owners LIMIT 1 OFFSET 1").get() === null;
  const narrowed = candidateCondition(filter);
  if (!alone) return scoreTermwise(database, terms, narrowed, owner);
  // In a pack of one owner FTS5's own statistics are the owner's, and every entry of the index is the owner's.
  const hits =
    narrowed === undefined
      ? database
          .query<Hit, [string]>(
            `SELECT rowid AS key, -${BM25} AS score FROM lexical_documents WHERE lexical_documents MATCH ?`,
          )
          .all(terms.join(" OR "))
      : matching(database, terms.join(" OR "), narrowed, owner).filter(isAllowed);
  return new Map(hits.map(({ key, score }) => [key, score]));
}

function scoreTermwise(
  database: Database,
  terms: readonly string[],
  narrowed: Condition | undefined,
  owner: number,
): ReadonlyMap<number, number> {
  const inPack = database.query<{ n: number }, [string]>(
    "SELECT count(*) AS n FROM lexical_documents WHERE lexical_documents MATCH ?",
  );
  const sizes = indexSizes(database, owner);
  const scores = new Map<number, number>();
  for (const term of terms) {
    const hits = matching(database, term, narrowed, owner);
    if (hits.length === 0) continue;
    const factor =
      rarity(sizes.owner, hits.length) / rarity(sizes.pack, inPack.get(term)?.n ?? hits.length);
    for (const { key, score } of hits.filter(isAllowed)) {
      scores.set(key, (scores.get(key) ?? 0) + score * factor);
    }
  }
  return scores;
}

type OwnedHit = Hit & { readonly allowed: number };

function isAllowed({ allowed }: OwnedHit): boolean {
  return allowed === 1;
}

/** The owner's active nodes that match an expression, and whether each passes the filter. */
function matching(
  database: Database,
  expression: string,
  narrowed: Condition | undefined,
  owner: number,
): OwnedHit[] {
  const active = activeOf(owner);
  return database
    .query<OwnedHit, Parameter[]>(
      // CROSS JOIN keeps the index on the outside: looking hits up in `nodes` is cheap, the reverse is not.
      `SELECT f.rowid AS key, -${BM25} AS score, ${narrowed?.sql ?? "1"} AS allowed
       FROM lexical_documents f CROSS JOIN nodes n ON n.key = f.rowid
       WHERE lexical_documents MATCH ? AND ${active.sql}`,
    )
    .all(...(narrowed?.parameters ?? []), expression, ...active.parameters);
}

/** Inverse document frequency as FTS5 computes it: a word in more than half of the documents weighs next to nothing. */
function rarity(documents: number, withTerm: number): number {
  const idf = Math.log((documents - withTerm + 0.5) / (withTerm + 0.5));
  return idf <= 0 ? 1e-6 : idf;
}

/** Documents in the index, of the pack and of the owner. */
function indexSizes(database: Database, owner: number): { pack: number; owner: number } {
  return (
    database
      .query<{ pack: number; owner: number }, [number]>(
        `SELECT (SELECT count(*) FROM lexical_documents_docsize) AS pack,
           (SELECT count(*) FROM nodes WHERE owner = ? AND lifecycle_state IN ${ACTIVE}) AS owner`,
      )
      .get(owner) ?? { pack: 0, owner: 0 }
  );
}
