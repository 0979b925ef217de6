import { describe, expect, test } from "bun:test";
import type { MemoryNode } from "../../../src/domain/node.ts";
import { analyze } from "../../../src/engine/retrieve/analyze.ts";
import { expandSessions } from "../../../src/engine/retrieve/expand.ts";
import { exclusionReason, filterEpistemic } from "../../../src/engine/retrieve/filter.ts";
import { type SelectionRules, select } from "../../../src/engine/retrieve/select.ts";
import { aNode, anEvent } from "../../contract/samples.ts";
import { aResult } from "./pool.ts";

describe("the epistemic filter", () => {
  const CASES: readonly [Partial<MemoryNode>, string | undefined][] = [
    [{ epistemicType: "observed" }, undefined],
    [{ epistemicType: "asserted" }, undefined],
    [{ epistemicType: "inferred" }, undefined],
    [{ epistemicType: "hypothetical" }, "epistemic_filtered:hypothetical"],
    [{ epistemicType: "deprecated" }, "epistemic_filtered:deprecated"],
    [{ epistemicType: "unverified", confidence: 0.3 }, undefined],
    [{ epistemicType: "unverified", confidence: 0.2 }, "unverified_below_threshold:0.20<=0.30"],
    [{ epistemicType: "unverified", confidence: 0.299 }, "unverified_below_threshold:0.30<=0.30"],
    [{ epistemicType: "conditional" }, "condition_filtered:unknown"],
    [
      { epistemicType: "conditional", metadata: { condition_state: "maybe" } },
      "condition_filtered:unknown",
    ],
    [
      { epistemicType: "conditional", metadata: { condition_state: "false" } },
      "condition_filtered:false",
    ],
    [
      { epistemicType: "conditional", metadata: { condition_state: "expired" } },
      "condition_filtered:expired",
    ],
    [{ epistemicType: "conditional", metadata: { condition_state: "true" } }, undefined],
  ];

  test.each(CASES)("of %j leaves out for %p", (given, reason) => {
    const node = aNode(anEvent(), given);

    expect(exclusionReason(node, { mode: "default", unverifiedThreshold: 0.3 })).toBe(
      reason as string,
    );
    expect(exclusionReason(node, { mode: "explicit", unverifiedThreshold: 0.3 })).toBeUndefined();
  });

  test("keeps the order of the rest and records what it left out", () => {
    const candidates = CASES.slice(0, 5).map(([given]) => ({ node: aNode(anEvent(), given) }));

    const { kept, excluded } = filterEpistemic(candidates, {
      mode: "default",
      unverifiedThreshold: 0.3,
    });

    expect(kept).toEqual(candidates.slice(0, 3));
    expect(excluded).toEqual([
      {
        nodeId: candidates[3]?.node.id as never,
        reason: "epistemic_filtered:hypothetical",
        compositeScore: undefined,
      },
      {
        nodeId: candidates[4]?.node.id as never,
        reason: "epistemic_filtered:deprecated",
        compositeScore: undefined,
      },
    ]);
  });
});

describe("selection", () => {
  const ranking = [0.9, 0.5, 0.7, 0.2].map((semanticRelevance, index) =>
    aResult(index, 1 - index / 10, {}, { semanticRelevance }),
  );
  const none = { minScore: undefined, limit: undefined, vectorFailed: false };
  const keysOf = (rules: Partial<SelectionRules>) =>
    select(ranking, { ...none, ...rules }).results.map(({ key }) => key);

  test("keeps everything without rules, and with a floor of 0", () => {
    expect(keysOf({})).toEqual([0, 1, 2, 3]);
    expect(keysOf({ minScore: 0 })).toEqual([0, 1, 2, 3]);
  });

  test("drops what is below the floor, which is inclusive, and then what is over the limit", () => {
    const { results, excluded, minScoreSkipped } = select(ranking, {
      minScore: 0.5,
      limit: 2,
      vectorFailed: false,
    });

    expect(results.map(({ key }) => key)).toEqual([0, 1]);
    expect(minScoreSkipped).toBe(false);
    expect(excluded.map(({ reason, compositeScore }) => [reason, compositeScore])).toEqual([
      ["result_limit", 0.8],
      ["below_threshold", 0.7],
    ] as never);
  });

  test("with a limit of 0 keeps nothing", () => {
    expect(keysOf({ limit: 0 })).toEqual([]);
  });

  const unknown = ranking.map((candidate) => ({ ...candidate, semanticRelevance: 0 }));

  test.each([
    {
      name: "the vector search failed and nothing has a relevance",
      pool: unknown,
      vectorFailed: true,
      skipped: true,
    },
    {
      name: "the vector search failed and there is nothing",
      pool: [],
      vectorFailed: true,
      skipped: true,
    },
    {
      name: "the vector search failed but something has a relevance",
      pool: ranking,
      vectorFailed: true,
      skipped: false,
    },
    { name: "the vector search found nothing", pool: unknown, vectorFailed: false, skipped: false },
  ])("skips the floor: $skipped, when $name", ({ pool, vectorFailed, skipped }) => {
    const selection = select(pool, { minScore: 0.6, limit: undefined, vectorFailed });

    expect(selection.minScoreSkipped).toBe(skipped);
    if (skipped) expect(selection.results).toEqual(pool);
    expect(select(pool, { minScore: 0, limit: undefined, vectorFailed }).minScoreSkipped).toBe(
      false,
    );
  });
});

describe("session expansion", () => {
  const rules = { topK: 2, decay: 0.6 };
  const inSession = { sessionId: "s" };
  const neighbour = (key: number) => ({ key, node: aNode(anEvent(inSession)) });

  test("adds the neighbours of the best, with a share of their score and their relevance", () => {
    const trigger = aResult(1, 0.9, inSession, { semanticRelevance: 0.8 });
    const windows = new Map([[1, { before: [neighbour(2)], after: [neighbour(3)] }]]);

    const expanded = expandSessions([trigger, aResult(4, 0.5)], windows, rules);

    expect(expanded.map(({ key, compositeScore, paths }) => [key, compositeScore, paths])).toEqual([
      [1, 0.9, ["VECTOR", "LEXICAL"]],
      [2, 0.54, ["SESSION_CONTEXT"]],
      [3, 0.54, ["SESSION_CONTEXT"]],
      [4, 0.5, ["VECTOR", "LEXICAL"]],
    ] as never);
    expect(expanded[1]).toMatchObject({ semanticRelevance: 0.8, pathScore: 1 / 3 });
    expect(expanded[1]?.trace).toBeUndefined();
  });

  test("raises a candidate only above its own score, and marks it either way", () => {
    const ranking = [
      aResult(1, 0.9, inSession, { semanticRelevance: 0.8 }),
      aResult(2, 0.6, inSession, { semanticRelevance: 0.9 }),
      aResult(3, 0.1, inSession, { semanticRelevance: 0.1 }),
    ];
    const [, second, third] = ranking;
    if (second === undefined || third === undefined) throw new Error();
    const windows = new Map([[1, { before: [second], after: [third] }]]);

    const expanded = expandSessions(ranking, windows, rules);

    expect(
      expanded.map(({ key, compositeScore, semanticRelevance }) => [
        key,
        compositeScore,
        semanticRelevance,
      ]),
    ).toEqual([
      [1, 0.9, 0.8],
      [2, 0.6, 0.9],
      [3, 0.54, 0.8],
    ]);
    expect(expanded.slice(1).map(({ paths }) => paths)).toEqual([
      ["VECTOR", "LEXICAL", "SESSION_CONTEXT"],
      ["VECTOR", "LEXICAL", "SESSION_CONTEXT"],
    ]);
  });

  test("takes the first candidates only, and of them those with a session", () => {
    const ranking = [aResult(1, 0.9), aResult(2, 0.8, inSession), aResult(3, 0.7, inSession)];
    const windows = new Map(
      [1, 2, 3].map((key) => [key, { before: [], after: [neighbour(key + 10)] }]),
    );

    const expanded = expandSessions(ranking, windows, rules);

    expect(expanded.map(({ key }) => key)).toEqual([1, 2, 3, 12]);
  });

  test("gives a neighbour of two the larger share", () => {
    const shared = neighbour(9);
    const ranking = [aResult(1, 1, inSession), aResult(2, 0.5, inSession)];
    const windows = new Map([
      [1, { before: [], after: [shared] }],
      [2, { before: [shared], after: [] }],
    ]);

    const expanded = expandSessions(ranking, windows, rules);

    expect(expanded.map(({ key, compositeScore }) => [key, compositeScore])).toEqual([
      [1, 1],
      [9, 0.6],
      [2, 0.5],
    ]);
  });

  test("orders equal scores by id and changes nothing without neighbours", () => {
    const ranking = [aResult(1, 1, inSession), aResult(2, 0.5)];
    const twins = [neighbour(7), neighbour(8)];
    const windows = new Map([[1, { before: [...twins].reverse(), after: [] }]]);

    expect(expandSessions(ranking, new Map(), rules)).toEqual(ranking);
    expect(expandSessions(ranking, windows, rules).map(({ key }) => key)).toEqual([1, 7, 8, 2]);
  });
});

describe("the wording of a question", () => {
  const INTENTS: readonly [string, string][] = [
    ["who called", "entity_lookup"],
    ["  What  is tea", "entity_lookup"],
    ["what are the options", "entity_lookup"],
    ["is Ann Lee here", "entity_lookup"],
    ["when was the last call", "temporal"],
    ["Yesterday", "temporal"],
    ["things related to tea", "relational"],
    ["how do we brew", "factual"],
    ["is it   true that it rains", "factual"],
    ["green tea", "semantic"],
    ["whenever lastly", "semantic"],
    ["", "semantic"],
  ];

  test.each(INTENTS)("of %j asks for %s", (query, intent) => {
    expect(analyze(query).intent).toBe(intent as never);
  });

  const ENTITIES: readonly [string, readonly string[]][] = [
    ["When Did Ann Lee call", ["Did Ann Lee"]],
    ["my iPhone and McDonald", ["Phone", "Mc", "Donald"]],
    ["Ann called. Bob did not, Carl did", ["Carl"]],
    ["the API and IBM", []],
    ["about \"green tea\" and 'black tea'", ["green tea", "black tea"]],
    ["Ann's cat and the dogs' bowl", []],
    ["with Ann and Ann", ["Ann"]],
  ];

  test.each(ENTITIES)("of %j names %j", (query, entities) => {
    expect(analyze(query).entities).toEqual(entities as string[]);
  });

  const AGGREGATION: readonly [string, boolean][] = [
    ["How many times did I run?", true],
    ["How many days ago did I run?", false],
    ["how much time has passed since May", false],
    ["list all trips", true],
    ["what is the total", true],
    ["every time it rains", true],
    ["countess", false],
    ["how many hours did I sleep", true],
  ];

  test.each(AGGREGATION)("of %j asks for all of them: %p", (query, isAggregation) => {
    expect(analyze(query).isAggregation).toBe(isAggregation);
  });
});
