/** An edge between a node that the walk has reached and a neighbour, in either direction. */
export type Link = { readonly near: number; readonly far: number };

/** Neighbours of a node that the walk follows. */
export const NEIGHBOURS_MAX = 32;
/** Nodes of a walk, including its starting points; the last one ends it. */
const NODES_MAX = 500;

/** A position of the walk: how many hops from which starting point. */
type Place = { readonly hop: number; readonly seed: number };
type Step = Link & { readonly hop: number };

/**
 * Walks breadth-first from all seeds at once. A seed counts only if another seed reaches it: where the surroundings of two seeds
 * meet, their distance is the sum of the two paths.
 * @param linksOf the links of some nodes; if there are too many, the first ones count
 * @returns each node reached, with its hops from the nearest seed, from 1
 */
export function walk(
  seeds: readonly number[],
  hops: number,
  linksOf: (nodes: readonly number[]) => readonly Link[],
): ReadonlyMap<number, number> {
  const steps = walkSteps(seeds, hops);
  let step = steps.next();
  while (step.done !== true) step = steps.next(linksOf(step.value));
  return step.value;
}

/** The same walk for a caller who needs time for the links: it yields the nodes whose links it is to be given next. */
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

  /** Whether there is no room for another node. */
  get isFull(): boolean {
    return this.#places.size >= NODES_MAX;
  }

  /** @returns the node at the other end, if it was not reached before */
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
