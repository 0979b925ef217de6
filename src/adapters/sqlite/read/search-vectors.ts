import type { Database } from "bun:sqlite";
import type { CandidateFilter } from "../../../domain/candidate-filter.ts";
import type { Hit } from "../../../ports/store.ts";
import { ownerKey } from "../write/owners.ts";
import { activeOf, candidateCondition, type Parameter } from "./filter-sql.ts";

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

/** The cosine of each given node that is the owner's and has a vector. */
export function cosines(
  database: Database,
  vector: Float32Array,
  userId: string,
  keys: readonly number[],
): Hit[] {
  const owner = ownerKey(database, userId);
  if (owner === undefined || keys.length === 0) return [];
  const one = database.query<Hit, [Float32Array, number, number]>(
    `SELECT node_key AS key, 1.0 - vec_distance_cosine(embedding, ?) AS score FROM vectors
     WHERE node_key = ? AND owner = ? AND active = 1`,
  );
  return keys.flatMap((key) => one.get(vector, key, owner) ?? []);
}
