import { COLUMN_WEIGHTS } from "../../../domain/search/bm25.ts";
import {
  DOCUMENT_REACH,
  neighbourWords,
  ownWords,
  type Surrounded,
} from "../../../domain/search/turns.ts";
import { asInstant } from "../../../lib/instant.ts";
import { porterStem, snowball } from "../../stemming/stem.ts";

/** Stems cached for all owners: computing one takes a few microseconds, which cannot be observed from outside. */
const STEMS_MAX = 20_000;
const stems = new Map<string, string>();

/** The term under which a word is indexed and searched for. */
export function termOf(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  if (stems.size >= STEMS_MAX) stems.clear();
  // All forms of sigma are one letter.
  const term = porterStem(word.replaceAll("ς", "σ"));
  stems.set(word, term);
  return term;
}

/** The part of a memory that goes into its document. */
export type Text = { readonly content: string; readonly event_time: string | null };

/** What the word index holds of a memory. */
export type WordDocument = {
  /** Weighted frequencies. */
  readonly terms: ReadonlyMap<string, number>;
  /** Words in all columns. */
  readonly words: number;
};

/** The beginnings of neighbours are read several times, once for each of their neighbours. */
export function documentMaker(): (place: Surrounded<Text>) => WordDocument {
  const beginnings = new Map<Text, readonly string[]>();
  const beginningOf = (text: Text): readonly string[] => {
    const known = beginnings.get(text);
    if (known !== undefined) return known;
    const terms = neighbourWords([text.content], snowball).map(termOf);
    beginnings.set(text, terms);
    return terms;
  };
  return ({ turn, before, after }) => {
    const time = turn.event_time === null ? undefined : asInstant(turn.event_time);
    const columns = [
      [COLUMN_WEIGHTS.own, ownWords(turn.content, time, snowball).map(termOf)],
      [COLUMN_WEIGHTS.previous, before.slice(0, DOCUMENT_REACH).flatMap(beginningOf)],
      [COLUMN_WEIGHTS.next, after.slice(0, DOCUMENT_REACH).flatMap(beginningOf)],
    ] as const;
    const terms = new Map<string, number>();
    let words = 0;
    for (const [weight, column] of columns) {
      words += column.length;
      for (const term of column) terms.set(term, (terms.get(term) ?? 0) + weight);
    }
    return { terms, words };
  };
}

const NOTHING: WordDocument = { terms: new Map(), words: 0 };

/** The terms whose frequencies differ between two documents, with those of the second; 0 for terms that only the first has. */
export function changedTerms(
  before: WordDocument = NOTHING,
  after: WordDocument = NOTHING,
): ReadonlyMap<string, number> {
  const changed = new Map<string, number>();
  for (const term of before.terms.keys()) if (!after.terms.has(term)) changed.set(term, 0);
  for (const [term, frequency] of after.terms) {
    if (before.terms.get(term) !== frequency) changed.set(term, frequency);
  }
  return changed;
}
