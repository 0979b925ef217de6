import { describe, expect, test } from "bun:test";
import type { ResultCandidate } from "../../../src/engine/retrieve/api.ts";
import {
  expandSessions,
  type Neighbour,
  neighbours,
  type SessionRules,
} from "../../../src/engine/retrieve/context/expand.ts";
import { aNode, anEvent } from "../../contract/samples.ts";
import { nodeKey, nodeKeys } from "../../node-keys.ts";
import { aProvenance, aResult, WEIGHTS } from "./pool.ts";

const RULES: SessionRules = {
  sessionContextTopK: 2,
  sessionContextScoreDecay: 0.85,
  sessionContextRankFusionScoreDecay: 0.6,
  sessionContextPacking: undefined,
};
const inSession = { sessionId: "s" };

function neighbour(key: number, offset = 1): Neighbour {
  return { key: nodeKey(key), node: aNode(anEvent(inSession)), offset };
}

/** A candidate of the pool as a neighbour. */
function placed({ key, node }: ResultCandidate, offset = 1): Neighbour {
  return { key, node, offset };
}

function expand(
  ranking: readonly ResultCandidate[],
  windows: readonly (readonly [number, readonly Neighbour[]])[],
  rules: Partial<SessionRules> = {},
) {
  return expandSessions(ranking, new Map(windows.map(([key, window]) => [nodeKey(key), window])), {
    ...RULES,
    ...rules,
  });
}

describe("a neighbour that no search found", () => {
  test("is added with a share of its trigger's score and with its relevance", () => {
    const trigger = aResult(1, 0.9, inSession, { semanticRelevance: 0.8 });
    const before = neighbour(2, -1);
    const { ranking, changed } = expand([trigger, aResult(4, 0.5)], [[1, [before, neighbour(3)]]]);

    expect(changed).toBe(true);
    expect(ranking.map(({ key, compositeScore }) => [key, compositeScore])).toEqual([
      [1, 0.9],
      [2, 0.9 * 0.6],
      [3, 0.9 * 0.6],
      [4, 0.5],
    ]);
    expect(ranking[1]).toEqual({
      key: nodeKey(2),
      node: before.node,
      paths: ["SESSION_CONTEXT"],
      pathCount: 1,
      semanticScore: undefined,
      lexicalScore: undefined,
      graphProximity: 0,
      compositeScore: 0.54,
      pathScore: 1 / 3,
      semanticRelevance: 0.8,
      trace: undefined,
      provenance: {
        ...trigger.provenance,
        adjustments: [
          ...trigger.provenance.adjustments,
          {
            kind: "session_decay",
            coefficient: 0.6,
            neuralScore: undefined,
            sourceNodeId: trigger.node.id,
          },
        ],
      },
      rerankerScore: undefined,
      sessionLink: undefined,
      conflictFlag: false,
      contradictsId: undefined,
    });
  });

  test("of two triggers takes the larger share, and the larger relevance", () => {
    const shared = neighbour(9);
    const ranking = [
      aResult(1, 1, inSession, { semanticRelevance: 0.2 }),
      aResult(2, 0.5, inSession, { semanticRelevance: 0.7 }),
    ];
    const both = expand(ranking, [
      [1, [shared]],
      [2, [shared]],
    ]).ranking;

    expect(both.map(({ key, compositeScore }) => [key, compositeScore])).toEqual([
      [1, 1],
      [9, 0.6],
      [2, 0.5],
    ]);
    expect(both[1]?.semanticRelevance).toBe(0.7);
    expect(both[1]?.provenance.adjustments.at(-1)?.sourceNodeId).toBe(ranking[0]?.node.id);
  });
});

describe("a neighbour that was found too", () => {
  const high = aResult(2, 0.6, inSession, {
    semanticRelevance: 0.9,
    trace: aProvenance(aNode(anEvent()).id, 0.6).trace,
    rerankerScore: 0.4,
  });
  const low = { ...high, key: nodeKey(3), compositeScore: 0.1, semanticRelevance: 0.1 };
  const trigger = aResult(1, 0.9, inSession, { semanticRelevance: 0.8 });
  const { ranking } = expand([trigger, high, low], [[1, [placed(high), placed(low)]]], {
    sessionContextTopK: 1,
  });

  test("keeps a score, a trace and a relevance that are higher, and is marked", () => {
    expect(ranking[1]).toEqual({ ...high, paths: ["VECTOR", "LEXICAL", "SESSION_CONTEXT"] });
  });

  test("is raised to the trigger's share, and loses what belonged to its own score", () => {
    expect(ranking[2]).toMatchObject({
      key: 3,
      compositeScore: 0.54,
      semanticRelevance: 0.8,
      paths: ["VECTOR", "LEXICAL", "SESSION_CONTEXT"],
    });
    expect([ranking[2]?.trace, ranking[2]?.rerankerScore]).toEqual([undefined, undefined]);
    expect(ranking[2]?.provenance.baseNodeId).toBe(trigger.node.id);
  });

  test("counts the path only where the settings use it for packing", () => {
    const counts = (rules: Partial<SessionRules>) =>
      expand([trigger, low], [[1, [placed(low)]]], rules).ranking.map(({ pathCount }) => pathCount);

    expect(counts({})).toEqual([2, 2]);
    expect(counts({ sessionContextPacking: "trigger_tier" })).toEqual([2, 3]);
  });

  test("counts the path once, however many triggers it has", () => {
    const second = aResult(5, 0.8, inSession);
    const { ranking: expanded } = expand(
      [trigger, second, low],
      [
        [1, [placed(low)]],
        [5, [placed(low)]],
      ],
      { sessionContextPacking: "adjacent" },
    );

    expect(expanded.find(({ key }) => key === nodeKey(3))).toMatchObject({
      pathCount: 3,
      paths: ["VECTOR", "LEXICAL", "SESSION_CONTEXT"],
    });
  });
});

describe("triggers", () => {
  test("are those of the first candidates that have a session", () => {
    const ranking = [aResult(1, 0.9), aResult(2, 0.8, inSession), aResult(3, 0.7, inSession)];
    const windows = [1, 2, 3].map((key) => [key, [neighbour(key + 10)]] as const);

    expect(expand(ranking, windows).ranking.map(({ key }) => key)).toEqual(nodeKeys(1, 2, 3, 12));
  });

  test("hand on the score that they had before", () => {
    const ranking = [aResult(1, 1, inSession), aResult(2, 0.1, inSession)];
    const [, second] = ranking;
    if (second === undefined) throw new Error();
    const { ranking: expanded } = expand(ranking, [
      [1, [placed(second)]],
      [2, [neighbour(3)]],
    ]);

    expect(expanded.map(({ key, compositeScore }) => [key, compositeScore])).toEqual([
      [1, 1],
      [2, 0.6],
      [3, 0.06],
    ]);
  });
});

describe("the share", () => {
  const weighted = (key: number): ResultCandidate => {
    const result = aResult(key, 1, inSession);
    const provenance = {
      ...result.provenance,
      formulaVersion: 1 as const,
      weights: WEIGHTS,
      fusion: undefined,
    };
    return { ...result, provenance };
  };
  const shareOf = (trigger: ResultCandidate, rules: Partial<SessionRules> = {}) =>
    expand([trigger], [[1, [neighbour(2)]]], rules).ranking[1]?.compositeScore;

  test("has a value of its own for fused ranks, where one is set", () => {
    expect(shareOf(aResult(1, 1, inSession))).toBe(0.6);
    expect(
      shareOf(aResult(1, 1, inSession), { sessionContextRankFusionScoreDecay: undefined }),
    ).toBe(0.85);
  });

  test("of relative scores is that of fused ranks", () => {
    const trigger = aResult(1, 1, inSession);
    const fusion = { ...trigger.provenance.fusion, kind: "relative", semantic: 1, lexical: 1 };
    const provenance = { ...trigger.provenance, formulaVersion: 3, fusion };

    expect(shareOf({ ...trigger, provenance } as ResultCandidate)).toBe(0.6);
  });

  test("of a weighted score is the general one", () => {
    expect(shareOf(weighted(1))).toBe(0.85);
  });
});

describe("links", () => {
  const packing = { sessionContextPacking: "adjacent" } as const;

  test("name the highest-ranked trigger and the place beside it", () => {
    const shared = neighbour(9, -2);
    const ranking = [aResult(1, 1, inSession), aResult(2, 0.9, inSession)];
    const { ranking: expanded } = expand(
      ranking,
      [
        [1, [shared]],
        [2, [{ ...shared, offset: 1 }, neighbour(8, 3)]],
      ],
      packing,
    );
    const links = Object.fromEntries(expanded.map(({ key, sessionLink }) => [key, sessionLink]));

    expect(links[9]).toEqual({ triggerId: ranking[0]?.node.id as never, offset: -2 });
    expect(links[8]).toEqual({ triggerId: ranking[1]?.node.id as never, offset: 3 });
  });

  test("are not given to the first candidates, nor without the setting", () => {
    const ranking = [aResult(1, 1, inSession), aResult(2, 0.9), aResult(3, 0.8)];
    const windows = [[1, ranking.slice(1).map((candidate) => placed(candidate))]] as const;
    const linked = (rules: Partial<SessionRules>) =>
      expand(ranking, windows, rules)
        .ranking.filter(({ sessionLink }) => sessionLink !== undefined)
        .map(({ key }) => key);

    expect(linked(packing)).toEqual(nodeKeys(3));
    expect(linked({})).toEqual([]);
  });
});

describe("the order", () => {
  test("of equal scores is by id", () => {
    const ranking = [aResult(1, 1, inSession), aResult(2, 0.5)];
    const twins = [neighbour(7), neighbour(8)].reverse();

    expect(expand(ranking, [[1, twins]]).ranking.map(({ key }) => key)).toEqual(
      nodeKeys(1, 7, 8, 2),
    );
  });

  test("stays as it was when nothing was added or raised", () => {
    // Equal scores in an order that is not by id.
    const ranking = [aResult(1, 1, inSession), aResult(2, 1), aResult(3, 1)].reverse();
    const [third, second] = ranking;
    if (third === undefined || second === undefined) throw new Error();
    const expanded = expand(ranking, [[1, [placed(second)]]], { sessionContextTopK: 3 });

    expect(expanded.changed).toBe(false);
    expect(expanded.ranking.map(({ key }) => key)).toEqual(nodeKeys(3, 2, 1));
    expect(expand(ranking, [])).toEqual({ ranking, changed: false });
  });
});

test("a window is read in the order of the session, with places on either side", () => {
  const [a, b, c] = [1, 2, 3].map((key) => ({ key: nodeKey(key), node: aNode(anEvent()) }));
  if (a === undefined || b === undefined || c === undefined) throw new Error();

  expect(
    neighbours({ before: [b, a], after: [c] }).map(({ key, offset }) => [key, offset]),
  ).toEqual([
    [1, -2],
    [2, -1],
    [3, 1],
  ]);
});
