import { foldCase } from "../../lib/text.ts";
import type { CandidateFilter } from "../candidate-filter.ts";

/** How a question reaches memories over edges: from the entities that it names, a few hops along the newest edges. */

/** Names that are searched for, and UTF-16 units of one; anything longer is not a name. */
const NAMES_MAX = 32;
const NAME_MAX_CHARS = 1000;
/** The newest entities of an owner, whose texts are compared with the names. */
export const ENTITIES_COMPARED = 20_000;
/** The newest matching entities, where a walk starts. */
export const ENTITIES_FOUND = 100;

/** Edges of a node in one direction, newest first, examined for ones to follow. */
export const EDGES_LOOKED_AT = 256;
/** Edges in one direction examined for one hop of a neighborhood, so that it takes well under a second. */
export const NEIGHBORHOOD_EDGES = 50_000;

/** The score of a memory by its hops from the nearest entity, from one hop on. */
const PROXIMITY: readonly number[] = [1, 0.7, 0.4];
/** The longest walk. */
export const HOPS_MAX = PROXIMITY.length;

/** The score at this number of hops, from 1; 0 beyond the longest walk. */
export function proximity(hops: number): number {
  return PROXIMITY[hops - 1] ?? 0;
}

/** The names of a question in the form in which they are compared with texts: folded, without repeats. */
export function namesToFind(names: readonly string[]): readonly string[] {
  const wanted = names.filter((name) => name.trim() !== "" && name.length <= NAME_MAX_CHARS);
  return [...new Set(wanted.map(foldCase))].slice(0, NAMES_MAX);
}

/** Whether the text of an entity contains one of the names. @param names of `namesToFind` */
export function isNamed(content: string, names: readonly string[]): boolean {
  const text = foldCase(content);
  return names.some((name) => text.includes(name));
}

/** The moment at which edges and the memories they lead to must be valid; undefined: any. */
export function momentOf({ timeFrom, timeTo }: CandidateFilter): CandidateFilter["timeFrom"] {
  return timeFrom ?? timeTo;
}

/** An edge between a reached node and a neighbour, in either direction. */
export type Link = { readonly near: number; readonly far: number };

/** Neighbours of a node that are followed. */
export const NEIGHBOURS_MAX = 32;
/** Nodes of a walk, including its starting points; the last one ends it. */
const NODES_MAX = 500;

/** A position of the walk: the starting point and the number of hops from it. */
type Place = { readonly hop: number; readonly seed: number };
type Step = Link & { readonly hop: number };

/**
 * Walks breadth-first from all seeds at once. A seed counts only if another seed reaches it: where two walks meet, the distance is the sum
 * of both paths. Yields the nodes whose links it needs next; if there are too many, the first ones count.
 * @returns each node reached, with its hops from the nearest seed, from 1
 */
export function* walkSteps(
  seeds: readonly number[],
  hops: number,
): Generator<readonly number[], ReadonlyMap<number, number>, readonly Link[]> {
  const reach = new Reach(seeds, hops);
  let nodes = seeds;
  for (let hop = 1; hop <= hops && nodes.length > 0 && !reach.isFull; hop += 1) {
    const links = yield nodes;
    nodes = firstLinks(links).flatMap((link) => reach.follow({ ...link, hop }));
  }
  return reach.nodes;
}

class Reach {
  readonly nodes = new Map<number, number>();
  readonly #places: Map<number, Place>;
  readonly #hops: number;

  constructor(seeds: readonly number[], hops: number) {
    this.#places = new Map(seeds.map((seed) => [seed, { hop: 0, seed }]));
    this.#hops = hops;
  }

  /** Whether the limit of nodes is reached. */
  get isFull(): boolean {
    return this.#places.size >= NODES_MAX;
  }

  /** @returns the node at the other end, if not reached before */
  follow({ near, far, hop }: Step): readonly number[] {
    const from = this.#places.get(near);
    const known = this.#places.get(far);
    if (from === undefined) return [];
    if (known === undefined) {
      if (this.isFull) return [];
      this.#places.set(far, { hop, seed: from.seed });
      this.nodes.set(far, hop);
      return [far];
    }
    if (known.seed !== from.seed) {
      this.#meet(from.seed, hop + known.hop);
      this.#meet(known.seed, hop + known.hop);
    }
    return [];
  }

  #meet(seed: number, distance: number): void {
    if (distance > this.#hops) return;
    this.nodes.set(seed, Math.min(distance, this.nodes.get(seed) ?? distance));
  }
}

/** The links without repeats, limited for each node to those that are followed. */
function firstLinks(links: readonly Link[]): readonly Link[] {
  const neighbours = new Map<number, Set<number>>();
  return links.filter(({ near, far }) => {
    const known = neighbours.get(near) ?? new Set();
    neighbours.set(near, known);
    if (known.has(far) || known.size === NEIGHBOURS_MAX) return false;
    known.add(far);
    return true;
  });
}
