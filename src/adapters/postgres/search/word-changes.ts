import {
  BLANKS,
  DOCUMENT_REACH,
  type Surrounded,
  surroundings,
  TURN_TYPE,
} from "../../../domain/search/turns.ts";
import { compareUnits } from "../../../lib/text.ts";
import { ACTIVE } from "../../sql/conditions.ts";
import { POSTGRES } from "../../sql/dialect.ts";
import { blockOf, postingOf, storedLength } from "./posting-blocks.ts";
import { changedTerms, documentMaker, type Text, type WordDocument } from "./terms.ts";

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

/** `hasText` of a node `n`, as SQL. */
export const HAS_TEXT = `btrim(n.content, '${String.fromCodePoint(...BLANKS)}') <> ''`;
/** Whether a node `n` is a turn of a conversation, or was one before it became inactive, as SQL. */
export const IS_OF_CONVERSATION = `(n.node_type = '${TURN_TYPE}' AND n.session_id IS NOT NULL)`;
/** `isTurn` of a node `n`, as SQL. */
export const IS_TURN = `(${IS_OF_CONVERSATION} AND n.lifecycle_state IN ${ACTIVE} AND ${HAS_TEXT})`;
/** Whether a node `n` has words to search while it is active, as SQL: it has text, and is no entity that came out of an extraction. */
export const MAY_HAVE_WORDS = `(${HAS_TEXT} AND NOT (n.node_type = 'entity' AND EXISTS (
  SELECT 1 FROM work x WHERE x.owner = n.owner AND x.kind = 'extraction' AND x.event_id = (n.evidence_refs::json ->> 0)::uuid)))`;
/** Whether a node `n` has a document of words, as SQL. */
export const HAS_WORDS = `(n.lifecycle_state IN ${ACTIVE} AND ${MAY_HAVE_WORDS})`;

/**
 * Keys of the nodes $2 of the owner $1, and of the nearest turns on either side of those that are or were turns, as SQL.
 * @param reach turns on either side
 * @param among which turns count: a condition on `nodes n`
 */
export function windowsOf(reach: number, among: string = IS_TURN): string {
  const beside = (
    compare: string,
    order: string,
  ): string => `SELECT b.key FROM given g CROSS JOIN LATERAL (
      SELECT n.key FROM nodes n WHERE n.owner = $1::bigint AND ${POSTGRES.isSession("n.session_id", "g.session_id")} AND n.scope = g.scope
        AND (n.created_at, n.id) ${compare} (g.created_at, g.id) AND ${among}
      ORDER BY n.created_at ${order}, n.id ${order} LIMIT ${reach}) b`;
  return `given AS (SELECT n.session_id, n.scope, n.created_at, n.id FROM nodes n
      WHERE n.owner = $1::bigint AND n.key = ANY($2::integer[]) AND ${IS_OF_CONVERSATION}),
    windows AS (SELECT unnest($2::integer[]) AS key UNION ${beside("<", "DESC")} UNION ${beside(">", "ASC")})`;
}

/** The position of a turn among all. */
export type Placed = {
  readonly key: number;
  readonly session_id: string | null;
  readonly scope: string;
  readonly created_at: string;
  readonly id: string;
};

/** Whether two turns belong to one conversation. */
export function isOfSame(one: Placed, other: Placed): boolean {
  return one.session_id === other.session_id && one.scope === other.scope;
}

/** Conversation by conversation, each from its beginning. */
export function inOrder<T extends Placed>(turns: readonly T[]): readonly T[] {
  return turns.toSorted(
    (a, b) =>
      compareUnits(a.session_id ?? "", b.session_id ?? "") ||
      compareUnits(a.scope, b.scope) ||
      compareUnits(a.created_at, b.created_at) ||
      compareUnits(a.id, b.id),
  );
}

/**
 * The turns nearest to some, on either side and of the same conversation.
 * @param turns `inOrder`
 * @param counts which of them may be found
 */
export function besides<T extends Placed>(
  turns: readonly T[],
  of: ReadonlySet<number>,
  reach: number,
  counts: (turn: T) => boolean,
): ReadonlySet<number> {
  const found = new Set<number>();
  for (const [index, turn] of turns.entries()) {
    if (!of.has(turn.key)) continue;
    const sides = [turns.slice(0, index).reverse(), turns.slice(index + 1)];
    for (const key of sides.flatMap((side) => nearest(turn, side, reach, counts))) found.add(key);
  }
  return found;
}

/** @param side turns on one side of a turn, nearest first */
function nearest<T extends Placed>(
  turn: T,
  side: readonly T[],
  reach: number,
  counts: (turn: T) => boolean,
): readonly number[] {
  const end = side.findIndex((other) => !isOfSame(turn, other));
  return side
    .slice(0, end === -1 ? undefined : end)
    .filter(counts)
    .slice(0, reach)
    .map(({ key }) => key);
}
