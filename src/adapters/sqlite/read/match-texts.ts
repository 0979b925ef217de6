import type { Database } from "bun:sqlite";
import { COLUMN_WEIGHTS, rarity } from "../../../domain/search/bm25.ts";
import type { Hit } from "../../../ports/store/search-index.ts";
import { countRows, type Parameter } from "../connection/ask.ts";
import { documentNumber, KEY_MASK } from "../write/lexical-index.ts";
import { activeOf, type Condition } from "./filter-sql.ts";

/** Weight of an occurrence in each column, as SQL. @param factor of the form */
export function weightsOf(factor: number): string {
  return [COLUMN_WEIGHTS.own, COLUMN_WEIGHTS.previous, COLUMN_WEIGHTS.next]
    .map((weight) => (weight * factor).toFixed(2))
    .join(", ");
}

/** A form of a word: an expression of FTS5, and what an occurrence counts. */
export type MatchedForm = { readonly match: string; readonly weight: number };

/** The expression that any of the forms matches. */
export function anyForm(forms: readonly MatchedForm[]): string {
  return forms.map(({ match }) => match).join(" OR ");
}

/** The documents of an owner, as SQL; its key is both parameters. */
export const OF_OWNER = `rowid BETWEEN ${documentNumber("?", "0")} AND ${documentNumber("?", String(KEY_MASK))}`;

export type Sizes = { readonly pack: number; readonly owner: number };

/**
 * The score of every document of an owner that matches and passes, computed by FTS5. FTS5 weighs a word by its rarity in the
 * whole pack. If several owners share one, or a word has several forms, each is searched separately, and its share is reweighted
 * to the rarity of the word among the owner's documents.
 * @param words for each word, its forms
 */
export function matchTexts(
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
export function countHolding(
  database: Database,
  forms: readonly MatchedForm[],
  owner: number,
): number {
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
