import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import type { CandidateFilter } from "../../src/domain/candidate-filter.ts";
import type { MemoryNode } from "../../src/domain/node.ts";
import type { NodeKey } from "../../src/ports/store/search-index.ts";
import type { Store } from "../../src/ports/store/store.ts";
import { leftOut } from "../left-out.ts";
import { nodeKey } from "../node-keys.ts";
import { NO_POSTGRES } from "../postgres/databases.ts";
import { postgresPlace } from "./postgres-place.ts";
import { aMaterialization, aNode, anAdmission, anEvent, at, type Memory, unit } from "./samples.ts";
import { filePack, openSqlitePack } from "./sqlite-pack.ts";
import { seedInto } from "./sqlite-seed.ts";
import { write } from "./store-change.ts";
import { anEdgeBetween } from "./store-graph.ts";
import { ANYTHING } from "./store-vectors.ts";

const MEMORIES = 300;
const QUESTIONS = 200;
const AT_ONCE = 20;

/** Words that have stems in common, of several languages and scripts; some are in most texts, some in few. */
const WORDS =
  `tea tea tea tea coffee coffee running runs runner harbour harbours happily happiness relational nation
  national organisation conditional feed agreed plastered hopping hoped falling filing cities caresses ponies ties
  sky generously radically adoption replacement effective 绿茶 喝茶 茶 Zürich Straße 4711 Häuser Haus Katzen die
  der und ist книги книгу я купил chevaux cheval nous des Σίσυφος ΣΊΣΥΦΟΣ state-of-the-art 🍵`.split(
    /\s+/,
  );

const text = fc
  .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 30 })
  .map((words) => words.join(" "));

const vector = fc
  .array(fc.integer({ min: -99, max: 99 }), { minLength: 8, maxLength: 8 })
  .map((numbers) => unit(1, ...numbers.slice(1)));

const memory: fc.Arbitrary<Memory> = fc.record(
  {
    content: text,
    second: fc.integer({ min: 0, max: 400 }),
    vector,
    sessionId: fc.option(fc.constantFrom("one", "two", "three"), { nil: undefined }),
    scope: fc.constantFrom("personal", "personal", "agent"),
    nodeType: fc.constantFrom("note", "note", "note", "note", "entity", "task"),
    lifecycleState: fc.constantFrom("tentative", "tentative", "tentative", "contested", "archived"),
    confidence: fc.constantFrom(0.5, 0.8),
    eventTime: fc.option(fc.integer({ min: 0, max: 9e7 }).map(at), { nil: undefined }),
  },
  { requiredKeys: ["content", "second"] },
);

const filter = fc.constantFrom<CandidateFilter>(
  ANYTHING,
  { ...ANYTHING, aliveAt: at(1000) },
  { ...ANYTHING, scopes: ["agent"] },
  { ...ANYTHING, excludeNodeTypes: ["task"], timeFrom: at(100), knowledgeAt: at(350) },
  { ...ANYTHING, eventTimeFrom: at(1e6), eventTimeTo: at(6e7) },
);

type Question = {
  readonly words: string;
  readonly vector: Float32Array;
  readonly filter: CandidateFilter;
  readonly k: number;
  readonly others: readonly NodeKey[];
};

const question: fc.Arbitrary<Question> = fc.record({
  words: text,
  vector,
  filter,
  k: fc.constantFrom(0, 1, 5, 20, 50),
  others: fc.uniqueArray(fc.integer({ min: 1, max: MEMORIES }).map(nodeKey), { maxLength: 20 }),
});

/** Writes the same memories in the same groups to both stores, and retires some. */
async function fill(stores: readonly Store[]): Promise<readonly MemoryNode[]> {
  const given = fc.sample(memory, { numRuns: MEMORIES, seed: 11 });
  const made = given.map(({ second = 0, vector: own, ...rest }) => {
    const { content = "", sessionId, scope = "personal", eventTime } = rest;
    const event = anEvent({ content, sessionId, scope, eventTime, timestamp: at(second) });
    return { event, node: aNode(event, rest), own };
  });
  for (let from = 0; from < made.length; from += 50) {
    const group = made.slice(from, from + 50);
    for (const store of stores) {
      await store.admit(anAdmission(group.map(({ event }) => event)));
      await store.materialize(
        group.map(({ event, node, own }) => aMaterialization(event, node, { vector: own })),
      );
    }
  }
  const retired = made
    .map(({ node }) => node)
    .filter(({ lifecycleState }, place) => lifecycleState === "tentative" && place % 7 === 3)
    .map((node): MemoryNode => ({ ...node, lifecycleState: "deprecated" }));
  for (const store of stores) await write(store, { nodes: retired });
  return made.map(({ node }) => node);
}

/** Everything that a retrieval asks of the indexes. */
async function answersOf(store: Store, { words, vector, filter, k, others }: Question) {
  const near = await store.searchVectors(vector, filter, k);
  const keys = [...near.map(({ key }) => key), ...others];
  const cosines = await store.cosines(vector, "ada", keys);
  return {
    texts: [...(await store.searchText(words, filter, k, others))],
    near: near.map(({ key }) => key),
    compared: new Set(cosines.map(({ key }) => key)),
    scores: new Map([...cosines, ...near].map(({ key, score }) => [key, score])),
    own: await store.ownVectors("ada", keys.slice(0, 5)),
    linked: [...(await store.searchGraph(words.split(" "), filter, { hops: 3, limit: 50 }))],
    pinned: [...(await store.pinned(filter))],
  };
}

if (NO_POSTGRES === undefined) {
  test("a database gives the answers of a pack with the same memories, cosines within 1e-6", async () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-compare-"));
    const pack = filePack(folder);
    const place = postgresPlace();
    const [sqlite, postgres] = [await openSqlitePack(pack), await place.open()];
    try {
      const nodes = await fill([sqlite, postgres]);
      const ends = fc.sample(fc.tuple(fc.nat(MEMORIES - 1), fc.nat(MEMORIES - 1), fc.nat(50)), {
        numRuns: 400,
        seed: 5,
      });
      const edges = ends.map(([from, to, second]) =>
        anEdgeBetween(nodes[from], nodes[to], { second }),
      );
      for (const { seed } of [place, { seed: seedInto(pack) }]) await seed.edges(edges);

      let found = 0;
      const questions = fc.sample(question, { numRuns: QUESTIONS, seed: 17 });
      for (let from = 0; from < QUESTIONS; from += AT_ONCE) {
        const some = questions.slice(from, from + AT_ONCE);
        const asking = (store: Store) => Promise.all(some.map((one) => answersOf(store, one)));
        const [expected, answers] = await Promise.all([asking(sqlite), asking(postgres)]);
        for (const [index, { scores, ...rest }] of expected.entries()) {
          const { scores: found = new Map(), ...others } = answers[index] ?? {};
          expect(others).toEqual(rest);
          for (const [key, score] of scores) {
            expect(Math.abs(score - (found.get(key) ?? Number.NaN))).toBeLessThan(1e-6);
          }
        }
        found += expected.reduce((sum, { texts, near }) => sum + texts.length + near.length, 0);
      }
      expect(found).toBeGreaterThan(QUESTIONS);
    } finally {
      await sqlite.close();
      await postgres.close();
      await place.remove();
      rmSync(folder, { recursive: true, force: true });
    }
  }, 600_000);
} else {
  test.skip(`a database gives the answers of a pack${leftOut(NO_POSTGRES)}`, () => {});
}
