import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type CandidateFilter, passesFilter } from "../../../src/domain/candidate-filter.ts";
import { NODE_TYPES, SCOPES, SOURCE_TYPES } from "../../../src/domain/enums.ts";
import type { MemoryNode } from "../../../src/domain/node.ts";
import type { RetrievalResponse, RetrieveInput } from "../../../src/engine/retrieve/api.ts";
import { at, type Memory } from "../../contract/samples.ts";
import { seedInto } from "../../contract/sqlite-seed.ts";
import { link } from "../../contract/store-graph.ts";
import { ANYTHING } from "../../contract/store-vectors.ts";
import { type OpenedEngine, useEngines } from "../engines.ts";
import {
  ask,
  contentsOf,
  fillWorld,
  idsIn,
  packing,
  remember,
  withSettings,
} from "./pipeline-world.ts";

const { open } = useEngines({ upkeep: undefined });

type Filters = Pick<
  RetrieveInput,
  | "scope"
  | "timeFrom"
  | "timeTo"
  | "knowledgeAt"
  | "eventTimeFrom"
  | "eventTimeTo"
  | "excludeNodeTypes"
  | "sourceTypes"
>;

/** The filter that a request stands for. */
function filterOf({ scope, excludeNodeTypes, sourceTypes, ...times }: Filters): CandidateFilter {
  return {
    ...ANYTHING,
    // SAFETY: these tests give times as the store keeps them, and no nulls.
    ...(times as Partial<CandidateFilter>),
    scopes: typeof scope === "string" ? [scope] : (scope ?? undefined),
    excludeNodeTypes: excludeNodeTypes ?? undefined,
    sourceTypes: sourceTypes ?? undefined,
  };
}

/** Every memory that an answer shows in some way: as a result, in the context, or as a hint. */
function shown({ results, bundle, crossScopeHints }: RetrievalResponse): MemoryNode[] {
  return [
    ...results,
    ...crossScopeHints,
    ...[...bundle.sections.values()].flat().map(({ candidate }) => candidate),
  ].map(({ node }) => node);
}

const UNSCOPED = { scopes: undefined } as const;

describe("a filter holds for whatever brought a memory", () => {
  const EACH: readonly (readonly [string, Filters])[] = [
    ["one scope", { scope: "personal" }],
    ["a list of scopes", { scope: ["project", "agent"] }],
    ["a beginning", { timeFrom: at(30) }],
    ["an end", { timeTo: at(30) }],
    ["a window", { timeFrom: at(20), timeTo: at(40) }],
    ["a beginning of event times", { eventTimeFrom: at(30) }],
    ["an end of event times", { eventTimeTo: at(30) }],
    ["a window of event times", { eventTimeFrom: at(20), eventTimeTo: at(40) }],
    ["a moment of knowledge", { knowledgeAt: at(30) }],
    ["excluded types", { excludeNodeTypes: ["fact", "task"] }],
    ["source types", { sourceTypes: ["user_stated"] }],
    [
      "several at once",
      {
        scope: ["personal", "project"],
        knowledgeAt: at(60),
        sourceTypes: ["user_stated", "tool_output"],
      },
    ],
  ];

  /** Ways in which a memory becomes a candidate, each with a memory on either side of every filter. */
  const WAYS: readonly Memory[] = [
    { content: "Lisbon", nodeType: "entity" },
    { content: "tea by words" },
    { content: "nothing in common, by an edge" },
    { content: "standing claim", pinned: true },
    { content: "open task", nodeType: "task" },
    { content: "a turn beside another", sessionId: "s" },
    { content: "tea turn", sessionId: "s" },
    { content: "a claim about tea", nodeType: "fact" },
  ];
  const SIDES: readonly Memory[] = [
    {},
    { scope: "project" },
    { scope: "agent", sourceType: "tool_output" },
    { nodeType: "fact", sourceType: "system_inferred" },
    { second: 50, eventTime: at(10) },
    { second: 10, eventTime: at(50), validFrom: at(10), validTo: at(25) },
    { second: 35, validFrom: at(35) },
  ];

  async function crossed(opened: OpenedEngine): Promise<readonly MemoryNode[]> {
    const all = WAYS.flatMap((way) => SIDES.map((side) => ({ second: 20, ...way, ...side })));
    const nodes = await remember(opened, ...all);
    const place = { seed: seedInto(opened.pack) };
    const [from, to] = [
      nodes.slice(0, SIDES.length),
      nodes.slice(2 * SIDES.length, 3 * SIDES.length),
    ];
    from.forEach((source, index) => void link(place, source, to[index]));
    return nodes;
  }

  test("in results, context, neighbours, hints, walks and pins", async () => {
    const opened = await open();
    const nodes = await crossed(opened);
    const engine = withSettings(
      opened,
      packing({ crossScopeTopN: 20, evidenceAugmentationTopK: 9 }),
    );
    for (const [name, given] of EACH) {
      const filter = filterOf(given);

      const answer = await ask(engine, "Who drinks tea in Lisbon?", {
        ...given,
        tokenBudget: 20_000,
      });

      const scoped = given.scope === undefined ? filter : { ...filter, ...UNSCOPED };
      expect([name, shown(answer).filter((node) => !passesFilter(node, scoped))]).toEqual([
        name,
        [],
      ]);
      const inScope = [...answer.results.map(({ node }) => node)];
      expect([name, inScope.filter((node) => !passesFilter(node, filter))]).toEqual([name, []]);
      expect(answer.crossScopeHints.some(({ node }) => passesFilter(node, filter))).toBe(false);
      // Vectors reach everything here, so that all that may be found is.
      const wanted = nodes.filter((node) => passesFilter(node, filter)).map(({ id }) => id);
      expect([name, inScope.map(({ id }) => id).sort()]).toEqual([name, wanted.sort()]);
      expect(answer.bundle.includedCount + answer.bundle.folded.size).toBe(wanted.length);
      for (const path of ["GRAPH", "PINNED", "SESSION_CONTEXT"] as const) {
        const found = answer.results.some(({ paths }) => paths.includes(path));
        expect([name, path, found || wanted.length < 10]).toEqual([name, path, true]);
      }
    }
  });

  test("in hints, which come from the other scopes alone and never join", async () => {
    const opened = await open();
    await crossed(opened);
    const engine = withSettings(opened, packing({ crossScopeTopN: 50 }));

    const answer = await ask(engine, "tea", {
      scope: ["personal"],
      excludeNodeTypes: ["task"],
      knowledgeAt: at(30),
    });
    const without = await ask(engine, "tea", { scope: "personal", includeCrossScope: false });
    const everywhere = await ask(engine, "tea");

    const hints = answer.crossScopeHints.map(({ node }) => node);
    expect(new Set(hints.map(({ scope }) => scope))).toEqual(new Set(["project", "agent"]));
    expect(hints.every(({ nodeType }) => nodeType !== "task")).toBe(true);
    const ids = new Set(answer.results.map(({ node }) => node.id));
    expect(hints.filter(({ id }) => ids.has(id))).toEqual([]);
    expect(answer.filterMetadata.crossScopeEnabled).toBe(true);
    expect([without.crossScopeHints, everywhere.crossScopeHints]).toEqual([[], []]);
    const kept = await engine.getRetrievalReceipt(answer.metadata.requestId, "ada");
    expect(kept?.record.crossScopeHintCount).toBe(hints.length);
    expect(kept?.text.includes(hints[0]?.id ?? "none")).toBe(false);
  });
});

test("the time of an answer holds that of its hints", async () => {
  const opened = await open({
    alter: (store) => ({
      searchText: async (question, filter, ...rest) => {
        if (filter.scopes?.includes("project") === true) await Bun.sleep(40);
        return store.searchText(question, filter, ...rest);
      },
    }),
  });
  await fillWorld(opened);

  const { metadata, crossScopeHints } = await ask(opened.engine, "hotel", { scope: "personal" });

  expect(crossScopeHints).toHaveLength(1);
  expect(metadata.timingMs).toBeGreaterThanOrEqual(39);
});

describe("owners", () => {
  const OWNERS = ["ada", "bob", "Ada", "ada b", "%", "アダ"];
  const TEXTS = [
    "Marta drinks green tea in Lisbon.",
    "Marta",
    "Lisbon",
    "How many cups of tea?",
    "The tea changed to black tea.",
    "We never met.",
  ];

  const memory: fc.Arbitrary<Memory> = fc.record({
    userId: fc.constantFrom(...OWNERS),
    content: fc.constantFrom(...TEXTS),
    scope: fc.constantFrom(...SCOPES),
    nodeType: fc.constantFrom(...NODE_TYPES),
    sourceType: fc.constantFrom(...SOURCE_TYPES),
    lifecycleState: fc.constantFrom("tentative", "stable", "contested", "archived"),
    epistemicType: fc.constantFrom("asserted", "observed", "hypothetical"),
    sessionId: fc.option(fc.constantFrom("s", "t"), { nil: undefined }),
    pinned: fc.boolean(),
    second: fc.integer({ min: 0, max: 50 }),
  });

  const question = fc.record({
    query: fc.constantFrom(
      ...TEXTS,
      "Who is Marta?",
      "What is the current tea?",
      'How many "tea" in Lisbon',
    ),
    userId: fc.constantFrom(...OWNERS, "nobody"),
    scope: fc.option(fc.subarray([...SCOPES], { minLength: 1 }), { nil: undefined }),
    sourceTypes: fc.option(fc.subarray([...SOURCE_TYPES]), { nil: undefined }),
    excludeNodeTypes: fc.option(fc.subarray([...NODE_TYPES], { maxLength: 2 }), { nil: undefined }),
    knowledgeAt: fc.option(fc.integer({ min: 0, max: 50 }).map(at), { nil: undefined }),
    retrievalMode: fc.constantFrom("default", "explicit"),
    limit: fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }),
    minScore: fc.option(fc.double({ min: 0, max: 0.6, noNaN: true }), { nil: undefined }),
    maxPerEvidence: fc.option(fc.constantFrom(1, 2), { nil: undefined }),
    tokenBudget: fc.constantFrom(0, 150, 300, 4096),
  });

  test("never meet in results, hints, contexts, reasons or receipts", async () => {
    const opened = await open();
    const settings = [
      packing({ crossScopeTopN: 9 }),
      packing({ vectorK: 3, lexicalK: 3, evidenceProjectionTopK: 3, contextFormat: "compact" }),
      packing({ episodeContextTopK: 2, evidenceAugmentationTopK: 3, contextCitations: true }),
    ];
    const engines = settings.map((given) => withSettings(opened, given));
    const nodes = await remember(opened, ...fc.sample(memory, { numRuns: 150, seed: 7 }));
    const place = { seed: seedInto(opened.pack) };
    // Edges may join anything, whoever they belong to.
    for (let index = 0; index < 40; index += 1) {
      const type = index % 2 === 0 ? "relates_to" : "contradicts";
      await link(place, nodes[index], nodes[(index * 7) % 150], {
        type,
        userId: OWNERS[index % 6] ?? "ada",
      });
    }
    const ownerOf = new Map<string, string>(nodes.map(({ id, userId }) => [id, userId]));
    let seen = 0;

    await fc.assert(
      fc.asyncProperty(question, fc.constantFrom(...engines), async (given, engine) => {
        const answer = await engine.retrieve({ ...given, referenceTime: at(100) });
        const { metadata } = answer;
        const kept = await engine.getRetrievalReceipt(metadata.requestId, given.userId);

        const named = new Set([
          ...idsIn(answer),
          ...uuidsIn(kept?.text),
          ...uuidsIn(JSON.stringify(kept?.record)),
        ]);
        named.delete(metadata.requestId);
        for (const id of named) expect([id, ownerOf.get(id)]).toEqual([id, given.userId]);
        expect(kept?.receipt.candidates.length).toBe(answer.results.length);
        const filter = filterOf(given);
        for (const { node } of answer.results) {
          expect(passesFilter(node, { ...filter, userId: given.userId })).toBe(true);
        }
        expect(
          await engine.getRetrievalReceipt(metadata.requestId, `${given.userId}x`),
        ).toBeUndefined();
        seen += named.size;
      }),
      { numRuns: 50 },
    );
    expect(seen).toBeGreaterThan(100);
    expect(opened.warnings).toEqual([]);
  });

  test("with the same memories get the same answer, each their own", async () => {
    const opened = await open();
    await fillWorld(opened);

    const ada = await ask(opened.engine, "Which hotel in Lisbon?", { scope: "personal" });
    const bob = await ask(opened.engine, "Which hotel in Lisbon?", {
      scope: "personal",
      userId: "bob",
    });

    // Bob has no edges, so that only what those bring may differ.
    const plain = (answer: RetrievalResponse) =>
      contentsOf(answer.results).filter(
        (text) => !text.includes("Marta") && !text.includes("dogs"),
      );
    expect(plain(bob)).toEqual(plain(ada));
    expect(contentsOf(bob.crossScopeHints)).toEqual(contentsOf(ada.crossScopeHints));
    expect(idsIn(ada).filter((id) => new Set(idsIn(bob)).has(id))).toEqual([]);
  });
});

function uuidsIn(text = ""): string[] {
  return text.match(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g) ?? [];
}
