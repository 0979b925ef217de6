import type { Database } from "bun:sqlite";
import type { CandidateFilter } from "../../domain/candidate-filter.ts";
import { questionTerms } from "../../domain/lexical-analysis.ts";
import type { Hit } from "../../ports/store.ts";
import { activeOf, candidateCondition, type Parameter } from "./filter-sql.ts";
import { ownerKey } from "./owners.ts";

/** The most neighbours that sqlite-vec gives in one search. */
const NEAREST_MAX = 4096;

/** The nearest nodes by cosine. The owner is a partition of the index; further filters narrow the scan by key. */
export function searchVectors(
  database: Database,
  vector: Float32Array,
  filter: CandidateFilter,
  k: number,
): Hit[] {
  const owner = ownerKey(database, filter.userId);
  if (owner === undefined || k === 0) return [];
  const narrowed = candidateCondition(filter);
  const active = activeOf(owner);
  const within =
    narrowed === undefined
      ? ""
      : `AND node_key IN (SELECT n.key FROM nodes n WHERE ${active.sql} AND ${narrowed.sql})`;
  const parameters = narrowed === undefined ? [] : [...active.parameters, ...narrowed.parameters];
  const nearest = database.query<Hit, (Parameter | Float32Array)[]>(
    `SELECT node_key AS key, 1.0 - distance AS score FROM vectors
     WHERE embedding MATCH ? AND k = ? AND owner = ? AND active = 1 ${within}`,
  );
  // Which of several equal vectors take the last places is chance: look further until all of them are in view.
  for (let width = Math.min(k + 1, NEAREST_MAX); ; width = Math.min(width * 8, NEAREST_MAX)) {
    const hits = nearest
      .all(vector, width, owner, ...parameters)
      .sort((a, b) => b.score - a.score || a.key - b.key);
    const isContested = hits.length === width && hits[k - 1]?.score === hits[width - 1]?.score;
    if (!isContested || width === NEAREST_MAX) return hits.slice(0, k);
  }
}

/** Weights of a turn's own words and of those of the turns around it. */
const BM25 = "bm25(lexical_documents, 1.0, 0.5, 0.5)";

/** The best nodes by BM25; any word may match. */
export function searchText(
  database: Database,
  question: string,
  filter: CandidateFilter,
  k: number,
): Hit[] {
  const owner = ownerKey(database, filter.userId);
  const expression = matchExpression(question);
  if (owner === undefined || expression === undefined || k === 0) return [];
  const narrowed = candidateCondition(filter);
  const active = activeOf(owner);
  return database
    .query<Hit, Parameter[]>(
      // CROSS JOIN keeps the index on the outside: looking hits up in `nodes` is cheap, the reverse is not.
      `SELECT f.rowid AS key, -${BM25} AS score
       FROM lexical_documents f CROSS JOIN nodes n ON n.key = f.rowid
       WHERE lexical_documents MATCH ? AND ${active.sql} ${narrowed === undefined ? "" : `AND ${narrowed.sql}`}
       ORDER BY ${BM25}, f.rowid LIMIT ?`,
    )
    .all(expression, ...active.parameters, ...(narrowed?.parameters ?? []), k);
}

/** The question as an FTS5 expression: quoted words joined by OR, so that no text is ever an operator. */
function matchExpression(question: string): string | undefined {
  const terms = questionTerms(question).map(({ term, prefix }) => `"${term}"${prefix ? "*" : ""}`);
  return terms.length === 0 ? undefined : terms.join(" OR ");
}
