import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import type { CandidateFilter } from "../../src/domain/candidate-filter.ts";
import { nodeKeys } from "../node-keys.ts";
import { naivePlace } from "./naive-place.ts";
import { type Memory, put, unit } from "./samples.ts";
import { filePack, openSqlitePack } from "./sqlite-pack.ts";
import { seedInto } from "./sqlite-seed.ts";
import { anEdgeBetween } from "./store-graph.ts";
import { ANYTHING } from "./store-vectors.ts";

const WORDS =
  `tea coffee running runs runner harbour harbours happily happiness relational nation national
  organisation conditional feed agreed plastered hopping hoped falling filing cities caresses ponies ties
  sky generously radically adoption replacement effective 绿茶 喝茶 Zürich 4711`.split(/\s+/);

const text = fc
  .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 12 })
  .map((words) => words.join(" "));

const memories: fc.Arbitrary<Memory> = fc.record(
  {
    content: text,
    second: fc.integer({ min: 0, max: 90 }),
    userId: fc.constantFrom("ada", "ada", "bob"),
    sessionId: fc.option(fc.constantFrom("one", "two"), { nil: undefined }),
    scope: fc.constantFrom("personal", "personal", "agent"),
    nodeType: fc.constantFrom("note", "note", "note", "entity", "task"),
    lifecycleState: fc.constantFrom("tentative", "tentative", "contested", "archived"),
    confidence: fc.constantFrom(0.5, 0.8),
    vector: fc
      .array(fc.integer({ min: -9, max: 9 }), { minLength: 8, maxLength: 8 })
      .map((n) => unit(1, ...n.slice(1))),
  },
  { requiredKeys: ["content", "second", "userId", "vector"] },
);

const filters = fc.constantFrom<CandidateFilter>(
  ANYTHING,
  { ...ANYTHING, userId: "bob" },
  { ...ANYTHING, scopes: ["agent"] },
  { ...ANYTHING, excludeNodeTypes: ["task"] },
);

test("a store that knows nothing but the rules of the domain finds the same as the SQLite one, bit for bit", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-naive-"));
  const pack = filePack(folder);
  const place = naivePlace();
  const [sqlite, naive] = [await openSqlitePack(pack), await place.open()];
  try {
    const given = fc.sample(memories, { numRuns: 300, seed: 3 });
    const nodes = await put(sqlite, ...given);
    await put(naive, ...nodes.map((node, index) => ({ ...given[index], ...node })));
    const ends = fc.sample(fc.tuple(fc.nat(299), fc.nat(299), fc.nat(50)), {
      numRuns: 400,
      seed: 3,
    });
    const edges = ends.map(([from, to, second]) =>
      anEdgeBetween(nodes[from], nodes[to], { second }),
    );
    for (const { seed } of [place, { seed: seedInto(pack) }]) await seed.edges(edges);

    await fc.assert(
      fc.asyncProperty(text, filters, fc.nat(40), async (question, filter, k) => {
        const others = nodeKeys(1, 7, 50, 120, 299);
        expect(await naive.searchText(question, filter, k, others)).toEqual([
          ...(await sqlite.searchText(question, filter, k, others)),
        ]);
        const names = question.split(" ");
        const reach = { hops: 3, limit: 100 };
        expect(await naive.searchGraph(names, filter, reach)).toEqual([
          ...(await sqlite.searchGraph(names, filter, reach)),
        ]);
        expect(await naive.pinned(filter)).toEqual([...(await sqlite.pinned(filter))]);
      }),
      { numRuns: 60, seed: 3 },
    );

    // The cosines themselves are sums of 32 bits in SQLite.
    const near = await sqlite.searchVectors(unit(1, 2), ANYTHING, 400);
    const far = new Map(
      (await naive.searchVectors(unit(1, 2), ANYTHING, 400)).map((hit) => [hit.key, hit.score]),
    );
    expect(far.size).toBe(near.length);
    for (const { key, score } of near) expect(far.get(key)).toBeCloseTo(score, 5);
  } finally {
    await sqlite.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
