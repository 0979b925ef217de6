import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { LIMITS } from "../../../src/domain/arguments.ts";
import {
  bestFirst,
  earliestFirst,
  newestFirst,
  surestFirst,
} from "../../../src/domain/search/bm25.ts";
import { isRetired, momentAfter, nodeChanges } from "../../../src/domain/search/change.ts";
import {
  HOPS_MAX,
  isNamed,
  type Link,
  namesToFind,
  proximity,
  walkSteps,
} from "../../../src/domain/search/graph.ts";
import { PageBuilder } from "../../../src/domain/search/pages.ts";
import { aNode, anEvent, at, freshId } from "../../contract/samples.ts";
import { thrown } from "../thrown.ts";

/** A walk whose links are there at once. */
function walk(
  seeds: readonly number[],
  hops: number,
  linksOf: (nodes: readonly number[]) => readonly Link[],
): ReadonlyMap<number, number> {
  const steps = walkSteps(seeds, hops);
  let step = steps.next();
  while (step.done !== true) step = steps.next(linksOf(step.value));
  return step.value;
}

test("proximity falls with the hops, as far as a walk goes", () => {
  expect([0, 1, 2, 3, 4].map(proximity)).toEqual([0, 1, 0.7, 0.4, 0]);
  expect(HOPS_MAX).toBe(3);
});

describe("the names of a question", () => {
  test("are folded, each once, without blank and overlong ones, 32 at most", () => {
    expect(namesToFind(["Straße", "STRASSE", " ", "x".repeat(1001), "x".repeat(1000)])).toEqual([
      "strasse",
      "x".repeat(1000),
    ]);
    expect(namesToFind(Array.from({ length: 40 }, (_, n) => `name ${n}`))).toHaveLength(32);
  });

  test("are found inside a text, whatever the case", () => {
    expect(isNamed("Lange STRAẞE 7", namesToFind(["straße"]))).toBe(true);
    expect(isNamed("Ada", namesToFind(["Ida", "A_a", "%"]))).toBe(false);
  });
});

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

test("hits are ordered by score, those of equal score by key", () => {
  const hits = [
    { key: 10, score: 1 },
    { key: 9, score: 1 },
    { key: 1, score: 0.5 },
    { key: 30, score: 2 },
  ];

  expect(hits.toSorted(bestFirst).map(({ key }) => key)).toEqual([30, 9, 10, 1]);
});

const places = [
  { createdAt: at(2), id: "a", confidence: 0.5 },
  { createdAt: at(1), id: "d", confidence: 0.5 },
  { createdAt: at(1), id: "c", confidence: 0.5 },
  { createdAt: at(0), id: "b", confidence: 0.9 },
];
const ids = (sorted: typeof places) => sorted.map(({ id }) => id).join("");

test("a conversation is ordered by creation, then by id, both ways", () => {
  expect(ids(places.toSorted(earliestFirst))).toBe("bcda");
  expect(ids(places.toSorted(newestFirst))).toBe("adcb");
});

test("what a walk reached is ordered by confidence, then newest first, then by ascending id", () => {
  expect(ids(places.toSorted(surestFirst))).toBe("bacd");
});

/** Offers rows, each as long as its number says, until one is refused. */
function pageOf(rows: readonly number[], limit: number) {
  const page = new PageBuilder<number, string>({ toItem: String, charsOf: (row) => row }, limit);
  for (const row of rows) if (!page.add(row)) break;
  return page.page();
}

describe("a page", () => {
  test("ends at its limit, and says whether there is more", () => {
    expect(pageOf([1, 2, 3], 2)).toEqual({ items: ["1", "2"], hasMore: true });
    expect(pageOf([1, 2], 2)).toEqual({ items: ["1", "2"], hasMore: false });
    expect(pageOf([], 2)).toEqual({ items: [], hasMore: false });
  });

  test("ends before it holds more text than it may", () => {
    const half = LIMITS.pageChars / 2;

    expect(pageOf([half, half, 1], 9)).toEqual({ items: [`${half}`, `${half}`], hasMore: true });
    expect(pageOf([half, half + 1], 9)).toEqual({ items: [`${half}`], hasMore: true });
  });

  test("has one item, however long it is", () => {
    const long = LIMITS.pageChars + 1;

    expect(pageOf([long, 0], 9)).toEqual({ items: [`${long}`], hasMore: true });
  });
});

const changeNode = aNode(anEvent({ sessionId: "s" }));
const found = new Map([[changeNode.id, changeNode]]);

describe("the moment of a change", () => {
  test("is the present where no node was changed later", () => {
    expect(momentAfter([], at(5))).toBe(at(5));
    expect(momentAfter([{ updatedAt: at(4) }], at(5))).toBe(at(5));
  });

  test("is a microsecond after the last change of each node", () => {
    const nodes = [{ updatedAt: at(7) }, { updatedAt: at(9) }, { updatedAt: at(8) }];

    expect(momentAfter(nodes, at(9))).toBe(at(9.000001));
    expect(momentAfter(nodes, at(5))).toBe(at(9.000001));
  });
});

describe("a change of nodes", () => {
  test("pairs each with what it was", () => {
    const after = { ...changeNode, confidence: 0.1, metadata: { a: 1 }, pinned: true };

    expect(nodeChanges([after], found)).toEqual([{ before: changeNode, after }]);
    expect(nodeChanges([], found)).toEqual([]);
  });

  test.each(
    (
      [
        ["a node twice", [changeNode, changeNode], "a node is written twice"],
        ["a node that was not read", [{ ...changeNode, id: freshId() }], "not read"],
        ["another text", [{ ...changeNode, content: "b" }], "another content"],
        ["another owner", [{ ...changeNode, userId: "b" }], "another userId"],
        ["no session", [{ ...changeNode, sessionId: undefined }], "another sessionId"],
        ["another scope", [{ ...changeNode, scope: "agent" as const }], "another scope"],
        ["another type", [{ ...changeNode, nodeType: "fact" as const }], "another nodeType"],
        ["another beginning", [{ ...changeNode, createdAt: at(1) }], "another createdAt"],
        ["another day", [{ ...changeNode, eventTime: at(1) }], "another eventTime"],
      ] as const
    ).map(([name, nodes, message]) => ({ name, nodes, message })),
  )("refuses $name", ({ nodes, message }) => {
    const error = thrown(() => nodeChanges(nodes, found));

    expect(error.code).toBe("internal");
    expect(error.message).toContain(message);
  });

  test("never brings an inactive node back", () => {
    const gone = { ...changeNode, lifecycleState: "archived" as const };
    const error = thrown(() => nodeChanges([changeNode], new Map([[changeNode.id, gone]])));

    expect(error.message).toContain("from archived back to an active state");
    expect(nodeChanges([gone], new Map([[changeNode.id, gone]]))).toHaveLength(1);
  });

  test("retires a node that stops being active", () => {
    const [contested, archived] = (["contested", "archived"] as const).map((lifecycleState) => ({
      ...changeNode,
      lifecycleState,
    }));
    if (contested === undefined || archived === undefined) throw new Error();

    expect(isRetired({ before: changeNode, after: archived })).toBe(true);
    expect(isRetired({ before: changeNode, after: contested })).toBe(false);
    expect(isRetired({ before: archived, after: archived })).toBe(false);
  });
});
