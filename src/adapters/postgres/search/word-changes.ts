import { DOCUMENT_REACH, type Surrounded, surroundings } from "../../../domain/search/turns.ts";
import { blockOf, postingOf, storedLength } from "./posting-blocks.ts";
import { changedTerms, documentMaker, type Text, type WordDocument } from "./terms.ts";
import { besides, inOrder, isOfSame, type Placed } from "./turns.ts";

/** A node that was written or retired, or a turn near one. */
export type Neighbour = Placed &
  Text & {
    /** Whether it is a turn now, or was one before it became inactive. */
    readonly is_of_conversation: boolean;
    readonly is_turn: boolean;
    /** Whether it should have a document. */
    readonly has_words: boolean;
    /** `storedLength` of its present document; 0 without one. */
    readonly stored: number;
  };

/** A memory's new document, or none. */
export type WordChange = {
  readonly key: number;
  /** The terms whose frequencies differ; 0 for a removed one. */
  readonly terms: ReadonlyMap<string, number>;
  /** `storedLength` before and after; 0 without a document. */
  readonly was: number;
  readonly stored: number;
};

/**
 * Changes of the word index for written or retired nodes. A document follows from the surrounding turns that have documents, so only which
 * nodes have one must be read.
 * @param near the nodes themselves, and twice `DOCUMENT_REACH` turns on either side of each
 * @param changed keys of nodes that were written, or are no longer active
 */
export function wordChanges(
  near: readonly Neighbour[],
  changed: ReadonlySet<number>,
): readonly WordChange[] {
  const make = documentMaker();
  const after = placesOf(near.filter(({ is_turn }) => is_turn));
  const before = placesOf(
    near.filter((node) => (node.is_turn ? node.stored > 0 : wasTurn(node, changed))),
  );
  const order = inOrder(near.filter((node) => node.is_turn || wasTurn(node, changed)));
  const rewritten = besides(order, changed, DOCUMENT_REACH, ({ is_turn }) => is_turn);
  return near.flatMap((node): WordChange[] => {
    if (!changed.has(node.key) && !rewritten.has(node.key)) return [];
    const alone = { turn: node, before: [], after: [] };
    const old = node.stored > 0 ? make(before.get(node.key) ?? alone) : undefined;
    const next = node.has_words ? make(after.get(node.key) ?? alone) : undefined;
    const stored = next === undefined ? 0 : storedLength(next.words);
    const terms = changedTerms(old, next);
    if (terms.size === 0 && stored === node.stored) return [];
    return [{ key: node.key, terms, was: node.stored, stored }];
  });
}

/** Whether a node is no longer a turn. */
function wasTurn(node: Neighbour, changed: ReadonlySet<number>): boolean {
  return changed.has(node.key) && node.is_of_conversation && !node.is_turn;
}

function placesOf(turns: readonly Neighbour[]): ReadonlyMap<number, Surrounded<Neighbour>> {
  return new Map(
    Array.from(surroundings(inOrder(turns), DOCUMENT_REACH, isOfSame), (place) => [
      place.turn.key,
      place,
    ]),
  );
}

/** The new documents of nodes, by key. @param near as for `wordChanges` */
export function wordDocuments(
  near: readonly Neighbour[],
  keys: ReadonlySet<number>,
): ReadonlyMap<number, WordDocument> {
  const make = documentMaker();
  const places = placesOf(near.filter(({ is_turn }) => is_turn));
  return new Map(
    near
      .filter(({ key, has_words }) => has_words && keys.has(key))
      .map((node) => [
        node.key,
        make(places.get(node.key) ?? { turn: node, before: [], after: [] }),
      ]),
  );
}

/** The entries of a term in a block. */
export type Entries = {
  readonly term: string;
  readonly block: number;
  readonly postings: Uint8Array;
};

/** Entries by term, then block, so that concurrent writers cannot deadlock. */
export function entriesOf(
  frequencies: Iterable<{ readonly key: number; readonly terms: ReadonlyMap<string, number> }>,
): readonly Entries[] {
  const places = new Map<string, { term: string; block: number; bytes: number[] }>();
  for (const { key, terms } of frequencies) {
    for (const [term, frequency] of terms) {
      const block = blockOf(key);
      const name = `${term} ${block}`;
      const place = places.get(name) ?? { term, block, bytes: [] };
      places.set(name, place);
      place.bytes.push(...postingOf(key, frequency));
    }
  }
  return [...places]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { term, block, bytes }]) => ({ term, block, postings: Uint8Array.from(bytes) }));
}
