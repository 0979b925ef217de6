import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Link, walk } from "../../../src/domain/search/graph.ts";

type Edge = readonly [number, number];

/** What a store answers: every edge of the nodes, seen from them. */
function linksOf(edges: readonly Edge[]): (nodes: readonly number[]) => readonly Link[] {
  const links = edges.flatMap(([a, b]) => [
    { near: a, far: b },
    { near: b, far: a },
  ]);
  return (nodes) => links.filter(({ near }) => nodes.includes(near));
}

/** Hops from one node to each other one. */
function hopsFrom(start: number, edges: readonly Edge[]): ReadonlyMap<number, number> {
  const hops = new Map([[start, 0]]);
  for (const [node, hop] of hops) {
    for (const { far } of linksOf(edges)([node])) if (!hops.has(far)) hops.set(far, hop + 1);
  }
  return hops;
}

const node = fc.integer({ min: 0, max: 11 });

test("each node is as far as the nearest seed that is another one", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(node, node), { maxLength: 24 }),
      fc.uniqueArray(node, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 1, max: 3 }),
      (edges, seeds, hops) => {
        const distances = seeds.map((seed) => [seed, hopsFrom(seed, edges)] as const);
        const expected = Array.from({ length: 12 }, (_, at): [number, number] => {
          const others = distances.filter(([seed]) => seed !== at);
          return [at, Math.min(...others.map(([, to]) => to.get(at) ?? 99))];
        }).filter(([, distance]) => distance <= hops);

        const reached = walk(seeds, hops, linksOf(edges));

        expect([...reached].sort(([a], [b]) => a - b)).toEqual(expected);
      },
    ),
    { numRuns: 500 },
  );
});

test("the first 32 neighbours of a node count, repeats aside", () => {
  const edges = Array.from({ length: 50 }, (_, i): Edge => [0, 1 + Math.floor(i / 2)]);
  const more = Array.from({ length: 50 }, (_, i): Edge => [0, 100 + i]);
  expect([...walk([0], 1, linksOf([...edges, ...more])).keys()]).toEqual([
    ...Array.from({ length: 25 }, (_, i) => 1 + i),
    ...Array.from({ length: 7 }, (_, i) => 100 + i),
  ]);
});

test("a walk asks once a hop and not at all once it has 500 nodes", () => {
  const tree = Array.from({ length: 2000 }, (_, i): Edge => [Math.floor(i / 30), i + 1]);
  const asked: number[] = [];
  const links = linksOf(tree);

  const reached = walk([0], 3, (nodes) => {
    asked.push(nodes.length);
    return links(nodes);
  });

  expect(reached.size).toBe(499);
  expect(asked).toEqual([1, 30]);
  expect(walk([], 3, links).size).toBe(0);
});
