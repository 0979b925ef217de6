import type { Database } from "bun:sqlite";
import { COLUMN_WEIGHTS, rarity } from "../../../domain/search/bm25.ts";
import type { Hit } from "../../../ports/store/search-index.ts";
import { documentNumber, KEY_MASK } from "../write/lexical-index.ts";
import { activeOf, type Condition, type Parameter } from "./filter-sql.ts";

/** Weight of an occurrence in each column, as SQL. */
export const WEIGHTS = [COLUMN_WEIGHTS.own, COLUMN_WEIGHTS.previous, COLUMN_WEIGHTS.next]
  .map((weight) => weight.toFixed(1))
  .join(", ");
const BM25 = `bm25(lexical_documents, ${WEIGHTS})`;
/** The documents of an owner, as SQL; its key is both parameters. */
export const OF_OWNER = `rowid BETWEEN ${documentNumber("?", "0")} AND ${documentNumber("?", String(KEY_MASK))}`;

/** Numbers of documents. */
export type Sizes = { readonly pack: number; readonly owner: number };

/**
 * The score of every document of an owner that matches and passes, computed by FTS5. FTS5 weighs a word by its rarity in the
 * whole pack. If several owners share one, each word is searched separately, and its share is reweighted to the rarity among the
 * owner's documents.
 * @param terms expressions of FTS5, one for each word
 */
export function matchTexts(
  database: Database,
  terms: readonly string[],
  narrowed: Condition | undefined,
  owner: number,
  sizes: Sizes,
): Hit<number>[] {
  if (sizes.pack === sizes.owner) {
    return matching(database, terms.join(" OR "), narrowed, owner).filter(isAllowed);
  }
  const inPack = database.query<{ n: number }, [string]>(
    "SELECT count(*) AS n FROM lexical_documents WHERE lexical_documents MATCH ?",
  );
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
  return [...scores].map(([key, score]) => ({ key, score }));
}

type OwnedHit = Hit<number> & { readonly allowed: number };

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
      // CROSS JOIN makes the index the outer loop: looking hits up in `nodes` is cheap, the reverse is not.
      `SELECT n.key, -${BM25} AS score, ${narrowed?.sql ?? "1"} AS allowed
       FROM lexical_documents f CROSS JOIN nodes n ON n.key = f.rowid & ${KEY_MASK}
       WHERE lexical_documents MATCH ? AND f.${OF_OWNER} AND ${active.sql}`,
    )
    .all(...(narrowed?.parameters ?? []), expression, owner, owner, ...active.parameters);
}
