import { describe, expect, test } from "bun:test";
import { type CandidateFilter, passesFilter } from "../../src/domain/candidate-filter.ts";
import type { EdgeType } from "../../src/domain/enums.ts";
import type { Edge, MemoryNode } from "../../src/domain/node.ts";
import type { Instant } from "../../src/lib/instant.ts";
import type { JsonObject } from "../../src/lib/json.ts";
import type { GraphReach } from "../../src/ports/store/search-index.ts";
import { nodeKey } from "../node-keys.ts";
import { at, freshId, type Memory, put } from "./samples.ts";
import type { Place, RetrievalStore, Seed, World } from "./store-contract.ts";
import { ANYTHING } from "./store-vectors.ts";

type EdgeChoices = {
  readonly type?: EdgeType;
  readonly second?: number;
  readonly validTo?: Instant;
  readonly metadata?: JsonObject;
  /** The user that the edge itself belongs to. */
  readonly userId?: string;
};

/** Where edges can be written. */
export type Seeded = { readonly seed: Pick<Seed, "edges"> };

/** An edge of ada, `mentions` unless another type is given. */
export function anEdgeBetween(
  source: MemoryNode | undefined,
  target: MemoryNode | undefined,
  given: EdgeChoices = {},
): Edge {
  const moment = at(given.second ?? 0);
  return {
    id: freshId(),
    userId: given.userId ?? "ada",
    sourceId: source?.id ?? freshId(),
    targetId: target?.id ?? freshId(),
    edgeType: given.type ?? "mentions",
    confidence: 0.9,
    validFrom: moment,
    validTo: given.validTo,
    provenanceEventId: undefined,
    metadata: given.metadata,
    createdAt: moment,
  };
}

/** Writes an edge, also one that a change may not write. */
export function link(
  { seed }: Seeded,
  source: MemoryNode | undefined,
  target: MemoryNode | undefined,
  given: EdgeChoices = {},
): void | Promise<void> {
  return seed.edges([anEdgeBetween(source, target, given)]);
}

const WIDE: GraphReach = { hops: 3, limit: 1000 };

async function walk(
  store: RetrievalStore,
  names: readonly string[],
  filter: Partial<CandidateFilter> = {},
  reach: Partial<GraphReach> = {},
): Promise<(readonly [string, number])[]> {
  const wanted = { ...ANYTHING, ...filter };
  const hits = await store.searchGraph(names, wanted, { ...WIDE, ...reach });
  const found = await store.nodesByKey(
    wanted.userId,
    hits.map(({ key }) => key),
  );
  const contents = new Map(found.map(({ key, node }) => [key, node.content]));
  return hits.map(({ key, score }) => [contents.get(key) ?? "", score] as const);
}

/** The names of what was found, in alphabetical order. */
async function reached(...query: Parameters<typeof walk>): Promise<string[]> {
  return (await walk(...query)).map(([content]) => content).sort();
}

const entity = (content: string, given: Memory = {}): Memory => ({
  content,
  nodeType: "entity",
  ...given,
});

/** The second at which the first of the many edges of `addSpokes` is made: a year after all others. */
const A_YEAR = 365 * 86_400;

/** Many notes of ada, `note 1` and so on, and their edges from one node, made within an hour. */
async function addSpokes(
  { seed }: Place<RetrievalStore>,
  hub: MemoryNode | undefined,
  count: number,
): Promise<void> {
  if (hub === undefined) throw new Error("the hub was stored");
  const notes = Array.from(
    { length: count },
    (_, i): MemoryNode => ({
      ...hub,
      id: freshId(),
      nodeType: "note",
      content: `note ${i + 1}`,
      evidenceRefs: [],
    }),
  );
  await seed.nodes(notes);
  await seed.edges(
    notes.map((note, i) => anEdgeBetween(hub, note, { second: A_YEAR + ((i + 1) % 3600) })),
  );
}

/** Walks over edges, and the other reads of a question that edges and marks decide. */
export function describeGraph(world: World): void {
  describe("a walk over edges", () => {
    test("goes from the named entities in both directions, up to three hops", async () => {
      const { store, place } = await world.fresh();
      const [ada, tea, cup, shelf, wall] = await put(
        store,
        entity("Ada Lovelace"),
        { content: "tea" },
        { content: "cup" },
        { content: "shelf" },
        { content: "wall" },
      );
      await link(place, ada, tea);
      await link(place, cup, tea, { type: "supports" });
      await link(place, cup, shelf, { type: "part_of" });
      await link(place, shelf, wall);

      const inOrder = async (hops: number) =>
        (await walk(store, ["Ada"], {}, { hops })).sort(([, a], [, b]) => b - a);

      expect(await inOrder(3)).toEqual([
        ["tea", 1],
        ["cup", 0.7],
        ["shelf", 0.4],
      ]);
      expect(await inOrder(2)).toEqual([
        ["tea", 1],
        ["cup", 0.7],
      ]);
      expect(await inOrder(1)).toEqual([["tea", 1]]);
    });

    test("takes the shortest way, also round a circle", async () => {
      const { store, place } = await world.fresh();
      const [ada, b, c, d] = await put(
        store,
        entity("Ada"),
        { content: "b" },
        { content: "c" },
        { content: "d" },
      );
      await link(place, ada, b);
      await link(place, b, c);
      await link(place, c, d);
      await link(place, d, ada);
      await link(place, ada, ada);

      expect(Object.fromEntries(await walk(store, ["Ada"]))).toEqual({ b: 1, d: 1, c: 0.7 });
    });

    test("returns an entity that it began at only where another one leads to it", async () => {
      const { store, place } = await world.fresh();
      const [ada, babbage, letter, engine] = await put(
        store,
        entity("Ada"),
        entity("Babbage"),
        { content: "letter" },
        { content: "engine" },
      );
      await link(place, ada, letter);
      await link(place, babbage, letter);
      await link(place, babbage, engine);

      expect(await reached(store, ["Ada"], {}, { hops: 1 })).toEqual(["letter"]);
      expect(Object.fromEntries(await walk(store, ["Ada", "Babbage"]))).toEqual({
        letter: 1,
        engine: 1,
        Ada: 0.7,
        Babbage: 0.7,
      });
      expect(await reached(store, ["Ada", "Babbage"], {}, { hops: 1 })).toEqual([
        "engine",
        "letter",
      ]);
    });

    test("orders by confidence, then newest first, then by id, and is cut", async () => {
      const { store, place } = await world.fresh();
      const [ada, ...others] = await put(
        store,
        entity("Ada"),
        { content: "old", second: 1 },
        { content: "first of two", second: 2 },
        { content: "second of two", second: 2 },
        { content: "sure", second: 0, confidence: 0.9 },
        { content: "doubtful", second: 9, confidence: 0.1 },
      );
      for (const other of others) await link(place, ada, other);

      const contents = async (limit: number) =>
        (await walk(store, ["Ada"], {}, { limit })).map(([content]) => content);

      const expected = ["sure", "first of two", "second of two", "old", "doubtful"];
      expect(await contents(9)).toEqual(expected);
      expect(await contents(3)).toEqual(expected.slice(0, 3));
      expect(await contents(0)).toEqual([]);
    });

    test("passes through inactive nodes and returns active ones", async () => {
      const { store, place } = await world.fresh();
      const [ada, gone, tea] = await put(
        store,
        entity("Ada"),
        { content: "gone", lifecycleState: "superseded" },
        { content: "tea", lifecycleState: "contested" },
      );
      await link(place, ada, gone);
      await link(place, gone, tea);

      expect(await walk(store, ["Ada"])).toEqual([["tea", 0.7]]);
    });

    test("never leaves the owner, whatever an edge joins", async () => {
      const { store, place } = await world.fresh();
      const [ada, hers, bobs, far, other] = await put(
        store,
        entity("Ada"),
        { content: "hers" },
        { content: "bob's", userId: "bob" },
        { content: "behind bob" },
        { content: "by bob's edge" },
      );
      await link(place, ada, hers);
      await link(place, ada, bobs);
      await link(place, bobs, far);
      await link(place, ada, other, { userId: "bob" });

      expect(await reached(store, ["Ada"])).toEqual(["hers"]);
      expect(await reached(store, ["Ada"], { userId: "bob" })).toEqual([]);
      expect(await reached(store, ["Ada"], { userId: "eve" })).toEqual([]);
    });

    test("knows an entity by any part of its text, in any case, without wildcards", async () => {
      const { store, place } = await world.fresh();
      const names = ["Ada Lovelace", "ÉCOLE Иван", "Straße 1", "100%_!", "東京\u0000タワー"];
      const made = await put(
        store,
        ...names.map((name) => entity(name)),
        ...names.map((name) => ({ content: `about ${name}` })),
      );
      for (const [i] of names.entries()) await link(place, made[i], made[names.length + i]);
      const about = (...found: readonly string[]) => found.map((name) => `about ${name}`).sort();

      const found = new Map<string, string[]>();
      const questions: Readonly<Record<string, readonly string[]>> = {
        "a love": ["Ada Lovelace"],
        LOVELACE: ["Ada Lovelace"],
        école: ["ÉCOLE Иван"],
        ИВАН: ["ÉCOLE Иван"],
        STRASSE: ["Straße 1"],
        ß: ["Straße 1"],
        "%": ["100%_!"],
        _: ["100%_!"],
        "!": ["100%_!"],
        "a%e": [],
        L_velace: [],
        東京: ["東京\u0000タワー"],
        タワー: ["東京\u0000タワー"],
        "": [],
        " ": [],
        Nobody: [],
        ["x".repeat(60_000)]: [],
      };
      for (const name of Object.keys(questions)) found.set(name, await reached(store, [name]));

      expect(Object.fromEntries(found)).toEqual(
        Object.fromEntries(
          Object.entries(questions).map(([name, wanted]) => [name, about(...wanted)]),
        ),
      );
      expect(await reached(store, ["Nobody", "ada", "иван"])).toEqual(
        about("Ada Lovelace", "ÉCOLE Иван"),
      );
      expect(await reached(store, [])).toEqual([]);
    });

    test("begins at active entities in the scopes of the question", async () => {
      const { store, place } = await world.fresh();
      const cases: readonly (Memory & { readonly tells: string })[] = [
        { tells: "personal", nodeType: "entity", scope: "personal" },
        { tells: "project", nodeType: "entity", scope: "project" },
        { tells: "a note", nodeType: "note" },
        { tells: "an archived one", nodeType: "entity", lifecycleState: "archived" },
      ];
      const made = await put(
        store,
        ...cases.map(({ tells: _, ...given }) => ({ ...given, content: "Ada" })),
        ...cases.map(({ tells: content }) => ({ content })),
      );
      for (const [i] of cases.entries()) await link(place, made[i], made[cases.length + i]);

      expect(await reached(store, ["Ada"])).toEqual(["personal", "project"]);
      expect(await reached(store, ["Ada"], { scopes: ["personal"] })).toEqual(["personal"]);
      expect(await reached(store, ["Ada"], { scopes: ["project"] })).toEqual([]);
      expect(await reached(store, ["Ada"], { scopes: ["agent"] })).toEqual([]);
      expect(await reached(store, ["Ada"], { scopes: [] })).toEqual([]);
    });

    test("uses edges and finds nodes that hold at the moment of the question", async () => {
      const { store, place } = await world.fresh();
      const [ada, ...others] = await put(
        store,
        entity("Ada"),
        { content: "always" },
        { content: "by an edge until 10" },
        { content: "until 10", validTo: at(10) },
        { content: "from 20", validFrom: at(20) },
        { content: "an entity from 20", nodeType: "entity", validFrom: at(20) },
      );
      for (const other of others) {
        await link(
          place,
          ada,
          other,
          other.content.startsWith("by an edge") ? { validTo: at(10) } : {},
        );
      }

      expect(await reached(store, ["Ada"])).toHaveLength(5);
      expect(await reached(store, ["Ada"], { timeFrom: at(9) })).toEqual([
        "always",
        "by an edge until 10",
        "until 10",
      ]);
      expect(await reached(store, ["Ada"], { timeFrom: at(10) })).toEqual(["always"]);
      expect(await reached(store, ["Ada"], { timeTo: at(30) })).toEqual([
        "always",
        "an entity from 20",
        "from 20",
      ]);
      expect(await reached(store, ["Ada"], { timeFrom: at(9), timeTo: at(30) })).toEqual([
        "always",
        "by an edge until 10",
        "until 10",
      ]);
    });

    test("finds what the filter lets pass and nothing else", async () => {
      const { store, place } = await world.fresh();
      const [ada, ...others] = await put(
        store,
        entity("Ada"),
        { content: "fact", nodeType: "fact", second: 1 },
        { content: "inferred", sourceType: "system_inferred", second: 2 },
        { content: "project", scope: "project", second: 3 },
        { content: "happened early", eventTime: at(-100), second: 4 },
        { content: "happened late", eventTime: at(100), second: 5 },
      );
      for (const other of others) await link(place, ada, other);
      const filters: readonly Partial<CandidateFilter>[] = [
        {},
        { scopes: ["personal"] },
        { excludeNodeTypes: ["fact", "task"] },
        { excludeNodeTypes: [] },
        { sourceTypes: ["user_stated"] },
        { sourceTypes: [] },
        { knowledgeAt: at(3) },
        { eventTimeFrom: at(2) },
        { eventTimeTo: at(2) },
        { scopes: ["personal"], eventTimeFrom: at(1), excludeNodeTypes: ["fact"] },
      ];

      for (const filter of filters) {
        const wanted = others.filter((node) => passesFilter(node, { ...ANYTHING, ...filter }));
        expect(await reached(store, ["Ada"], filter)).toEqual(
          wanted.map(({ content }) => content).sort(),
        );
      }
    });

    test("takes the newest 32 neighbours of a hub of 10,000", async () => {
      const { store, place } = await world.fresh();
      const [ada, latest] = await put(store, entity("Ada"), { content: "the latest" });
      await addSpokes(place, ada, 10_000);
      // The seconds of the edges repeat after an hour, so that the newest ones are spread.
      await link(place, latest, ada, { second: 400 * 86_400 });

      const found = await walk(store, ["Ada"], {}, { hops: 1 });
      const seconds = found
        .filter(([content]) => content !== "the latest")
        .map(([content]) => Number(content.slice(5)) % 3600);

      expect(found).toHaveLength(32);
      expect(found.map(([content]) => content)).toContain("the latest");
      expect(seconds).toHaveLength(31);
      expect(Math.min(...seconds)).toBeGreaterThanOrEqual(3599 - 16);
      expect(await walk(store, ["Ada"], {}, { hops: 3 })).toHaveLength(32);
    });

    test("ends at 500 nodes", async () => {
      const { store, place } = await world.fresh();
      const hubs = await put(
        store,
        ...Array.from({ length: 20 }, (_, i) => entity(`Ada ${i}`, { second: i })),
      );
      for (const hub of hubs) await addSpokes(place, hub, 30);

      expect(await walk(store, ["Ada"])).toHaveLength(480);
      expect(await walk(store, ["Ada 19"])).toHaveLength(30);
    });

    test("begins at the newest 100 entities", async () => {
      const { store, place } = await world.fresh();
      const people = await put(
        store,
        ...Array.from({ length: 101 }, (_, i) => entity(`Ada ${i}`, { second: 200 - i })),
      );
      const [first, last, beyond] = await put(
        store,
        ...["of the first", "of the last", "beyond"].map((content) => ({ content })),
      );
      await link(place, people[0], first);
      await link(place, people[99], last);
      await link(place, people[100], beyond);

      expect(await reached(store, ["Ada"])).toEqual(["of the first", "of the last"]);
      expect(await reached(store, ["Ada 100"])).toEqual(["beyond"]);
    });
  });

  describe("pinned memories", () => {
    const contentsOf = async (store: RetrievalStore, filter: Partial<CandidateFilter> = {}) => {
      const keys = await store.pinned({ ...ANYTHING, ...filter });
      const nodes = new Map(
        (await store.nodesByKey("ada", keys)).map(({ key, node }) => [key, node.content]),
      );
      return keys.map((key) => nodes.get(key) ?? "");
    };

    test("are the pinned, those of full salience and the tasks, newest first, each once", async () => {
      const { store } = await world.fresh();
      await put(
        store,
        { content: "pinned", pinned: true, second: 1 },
        { content: "salient", salience: 1, salienceBase: 1, second: 3 },
        { content: "task", nodeType: "task", second: 2 },
        { content: "pinned task", nodeType: "task", pinned: true, salience: 1, second: 4 },
        { content: "stable", pinned: true, lifecycleState: "stable", second: 5 },
        { content: "ordinary", second: 6 },
        { content: "nearly salient", salience: 0.999, salienceBase: 0.999, second: 6 },
        { content: "reinforced", salience: 1, reinforcementBoost: 0.5, second: 6 },
        { content: "contested", pinned: true, lifecycleState: "contested", second: 6 },
        { content: "archived task", nodeType: "task", lifecycleState: "archived", second: 6 },
        { content: "bob's", pinned: true, userId: "bob", second: 6 },
      );

      expect(await contentsOf(store)).toEqual([
        "stable",
        "pinned task",
        "salient",
        "task",
        "pinned",
      ]);
      expect(await contentsOf(store, { userId: "eve" })).toEqual([]);
    });

    test("pass the filter of the question", async () => {
      const { store } = await world.fresh();
      const made = await put(
        store,
        { content: "personal", pinned: true },
        { content: "project", pinned: true, scope: "project", second: 1 },
        { content: "task", nodeType: "task", second: 2 },
        { content: "over", nodeType: "task", validTo: at(5), second: 3 },
      );
      const filters: readonly Partial<CandidateFilter>[] = [
        { scopes: ["project"] },
        { scopes: [] },
        { excludeNodeTypes: ["task"] },
        { timeFrom: at(5) },
        { knowledgeAt: at(1) },
      ];

      for (const filter of filters) {
        const wanted = made.filter((node) => passesFilter(node, { ...ANYTHING, ...filter }));
        expect(await contentsOf(store, filter)).toEqual(
          wanted.map(({ content }) => content).reverse(),
        );
      }
    });

    test("are at most the newest 500 of each kind", async () => {
      const { store } = await world.fresh();
      const many = (given: Memory) =>
        Array.from({ length: 502 }, (_, second) => ({ ...given, second, content: `${second}` }));
      await put(store, ...many({ pinned: true }), ...many({ nodeType: "task" }));

      const contents = await contentsOf(store);

      expect(contents).toHaveLength(1000);
      expect(contents.slice(0, 2)).toEqual(["501", "501"]);
      expect(contents.slice(-2)).toEqual(["2", "2"]);
    });
  });

  describe("contradictions", () => {
    test("are the other ends of the newest outgoing edges, else of the newest incoming ones", async () => {
      const { store, place } = await world.fresh();
      const contested: Memory = { lifecycleState: "contested" };
      const [both, incoming, none, calm, old, fresh, bobs] = await put(
        store,
        { content: "both", ...contested },
        { content: "incoming", ...contested },
        { content: "none", ...contested },
        { content: "calm" },
        { content: "old", lifecycleState: "archived" },
        { content: "fresh" },
        { content: "bob's", userId: "bob", ...contested },
      );
      const contradicts = (second: number) => ({ type: "contradicts", second }) as const;
      await link(place, both, fresh, contradicts(2));
      await link(place, both, old, contradicts(1));
      await link(place, calm, both, contradicts(9));
      await link(place, fresh, incoming, contradicts(1));
      await link(place, old, incoming, contradicts(2));
      await link(place, incoming, incoming, contradicts(3));
      await link(place, incoming, bobs, contradicts(4));
      await link(place, none, fresh, { type: "supports" });
      await link(place, calm, fresh, contradicts(1));
      const found = await store.nodesById(
        "ada",
        [both, incoming, none, calm].map((node) => node?.id ?? freshId()),
      );
      const keys = new Map(found.map(({ key, node }) => [node.content, key]));

      const ends = await store.contradictions("ada", [...keys.values(), nodeKey(999_999)]);

      expect(ends).toEqual(
        new Map([
          [keys.get("both") ?? nodeKey(0), fresh?.id ?? freshId()],
          [keys.get("incoming") ?? nodeKey(0), old?.id ?? freshId()],
        ]),
      );
      expect(await store.contradictions("bob", [...keys.values()])).toEqual(new Map());
      expect(await store.contradictions("eve", [...keys.values()])).toEqual(new Map());
      expect(await store.contradictions("ada", [])).toEqual(new Map());
    });
  });

  describe("nodes by id", () => {
    test("leave out missing, foreign and inactive ones, and repeats", async () => {
      const { store } = await world.fresh();
      const [mine, gone, foreign] = await put(
        store,
        { content: "mine" },
        { content: "gone", lifecycleState: "superseded" },
        { content: "bob's", userId: "bob" },
      );
      const ids = [mine, gone, foreign, mine].map((node) => node?.id ?? freshId());

      const found = await store.nodesById("ada", [...ids, freshId()]);

      expect(found.map(({ node }) => node)).toEqual(mine === undefined ? [] : [mine]);
      expect(await store.nodesByKey("ada", [found[0]?.key ?? nodeKey(0)])).toEqual(found);
      expect(await store.nodesById("ada", [])).toEqual([]);
      expect(await store.nodesById("eve", ids)).toEqual([]);
    });
  });
}
