import { Database } from "bun:sqlite";
import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MemoryNode } from "../../../src/domain/node.ts";
import type { PackingSettings } from "../../../src/domain/records/retrieval-record.ts";
import { replayScore } from "../../../src/domain/score-replay.ts";
import type { ResultCandidate, RetrieveInput } from "../../../src/engine/retrieve/api.ts";
import { type ContextDeps, expandContext } from "../../../src/engine/retrieve/context/expand.ts";
import { parseRequest } from "../../../src/engine/retrieve/request.ts";
import { contested, flagConflicts } from "../../../src/engine/retrieve/select.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { at, freshId, type Memory, put } from "../../contract/samples.ts";
import { filePack, openSqlitePack } from "../../contract/sqlite-pack.ts";
import { nodeKey, nodeKeys } from "../../node-keys.ts";
import { altered, DEFAULT_SETTINGS } from "../engines.ts";
import { aResult } from "./pool.ts";

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

/** A pack with memories; the ranking of some of them with the scores that are given. */
async function world(...memories: readonly Memory[]) {
  const folder = mkdtempSync(join(tmpdir(), "svc-expand-"));
  const store = await openSqlitePack(filePack(folder));
  opened.push(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const nodes = await put(store, ...memories);
  const keyed = await store.nodesById(
    "ada",
    nodes.map(({ id }) => id),
  );
  const keyOf = new Map(keyed.map(({ key, node }) => [node.id, key]));
  const rank = (...scores: readonly (readonly [content: string, score: number])[]) =>
    scores.map(([content, score]): ResultCandidate => {
      const node = nodes.find((each) => each.content === content);
      if (node === undefined) throw new Error(content);
      return { ...aResult(keyOf.get(node.id) ?? -1, score), node };
    });
  return { store, nodes, rank, file: join(folder, "memory.pack") };
}

type Options = {
  readonly input?: Partial<RetrieveInput>;
  readonly packing?: Partial<PackingSettings>;
  readonly alter?: Partial<Store>;
};

async function expand(
  store: Store,
  ranking: readonly ResultCandidate[],
  { input, packing, alter }: Options = {},
) {
  const warnings: string[] = [];
  const settings = {
    ...DEFAULT_SETTINGS,
    packing: {
      ...DEFAULT_SETTINGS.packing,
      sessionContextRankFusionScoreDecay: 0.5,
      ...packing,
    },
  };
  const deps: ContextDeps = {
    store: alter === undefined ? store : altered(store, alter),
    settings,
    warn: (message) => warnings.push(message),
  };
  const request = parseRequest({ query: "tea", userId: "ada", ...input }, settings, at(0));
  const rules = { mode: request.mode, isExpired: () => false, unverifiedThreshold: 0.3 };
  const result = await expandContext(deps, request, ranking, rules);
  return {
    ...result,
    warnings,
    scores: result.ranking.map(({ node, compositeScore }) => [node.content, compositeScore]),
  };
}

function turn(content: string, second: number, given: Partial<MemoryNode> = {}): Memory {
  return { content, second, sessionId: "s", ...given };
}

const TALK = ["one", "two", "three", "four", "five"].map((content, index) => turn(content, index));

describe("session expansion", () => {
  test("counts places among all turns, shown or not", async () => {
    const { store, rank } = await world(
      turn("one", 1),
      turn("perhaps", 2, { epistemicType: "hypothetical" }),
      turn("three", 3),
    );
    const { ranking } = await expand(store, rank(["three", 1]), {
      packing: { sessionContextPacking: "adjacent" },
    });

    expect(ranking.map(({ node, sessionLink }) => [node.content, sessionLink?.offset])).toEqual([
      ["three", undefined],
      ["one", -2],
    ]);
  });

  test("names what types and knowledge keep out, not what a time does", async () => {
    const { store, nodes, rank } = await world(
      turn("task", 1, { nodeType: "task" }),
      turn("tool", 2, { sourceType: "tool_output" }),
      turn("hit", 3),
      turn("perhaps", 4, { epistemicType: "hypothetical" }),
      turn("late", 5, { createdAt: at(500) }),
    );
    const { scores, excluded } = await expand(store, rank(["hit", 1]), {
      input: {
        excludeNodeTypes: ["task"],
        sourceTypes: ["user_stated"],
        knowledgeAt: at(100),
      },
    });

    expect(scores).toEqual([["hit", 1]]);
    expect(excluded.map(({ nodeId, reason }) => [nodeId, reason])).toEqual([
      [nodes[0]?.id, "node_type_filtered:task"],
      [nodes[1]?.id, "source_type_filtered:tool_output"],
      [nodes[3]?.id, "epistemic_filtered:hypothetical"],
    ] as never);
  });

  const OFF: readonly [name: string, packing: Partial<PackingSettings>][] = [
    ["a window of 0", { sessionContextWindow: 0 }],
    ["no triggers", { sessionContextTopK: 0 }],
  ];

  test.each(OFF)("with %s reads nothing", async (_, packing) => {
    const { store, rank } = await world(...TALK);
    const sessionWindows = () => Promise.reject(new Error("not to be called"));
    const { scores, warnings } = await expand(store, rank(["three", 1]), {
      packing,
      alter: { sessionWindows },
    });

    expect([scores, warnings]).toEqual([[["three", 1]], []]);
  });
});

describe("the steps", () => {
  const CLAIMS = [
    turn("green tea", 1),
    turn("black tea", 2),
    { content: "Ada likes tea", nodeType: "fact" } as const,
  ];

  /** The pack of the claims, in which the fact was drawn from the first turn. */
  async function claims() {
    const id = freshId();
    const [first, second, fact] = CLAIMS;
    return world({ ...first, id }, second ?? {}, { ...fact, evidenceRefs: [id] });
  }

  test("follow each other: neighbours, then episodes, then sources", async () => {
    const { store, rank } = await claims();
    const { scores, ranking, changedOrder } = await expand(
      store,
      rank(["Ada likes tea", 1], ["black tea", 0.5]),
      { packing: { episodeContextTopK: 1, evidenceAugmentationTopK: 2 } },
    );

    expect(changedOrder).toBe(true);
    expect(scores).toEqual([
      ["Ada likes tea", 1],
      ["green tea", 0.99],
      ["black tea", 0.5],
    ]);
    expect(ranking.map(({ paths }) => paths.slice(-3))).toEqual([
      ["VECTOR", "LEXICAL"],
      ["SESSION_CONTEXT", "EPISODE_CONTEXT", "EVIDENCE_CONTEXT"],
      ["VECTOR", "LEXICAL", "EPISODE_CONTEXT"],
    ]);
    expect(ranking.map(({ provenance }) => replayScore(provenance))).toEqual(
      scores.map(([, score]) => score as number),
    );
  });

  test("use only sources that pass every filter", async () => {
    const { store, rank } = await claims();
    const found = async (input: Partial<RetrieveInput>) => {
      const packing = { sessionContextWindow: 0, evidenceProjectionTopK: 1 };
      const { scores } = await expand(store, rank(["Ada likes tea", 1]), { packing, input });
      return scores.map(([content]) => content);
    };

    expect(await found({})).toEqual(["green tea"]);
    expect(await found({ excludeNodeTypes: ["note"] })).toEqual(["Ada likes tea"]);
    expect(await found({ eventTimeTo: at(0.5) })).toEqual(["Ada likes tea"]);
  });

  test("that fail are left out with a warning that tells no words of the cause", async () => {
    const { store, rank } = await claims();
    const fail = () => Promise.reject(new TypeError("Ada's secret"));
    const { scores, changedOrder, warnings } = await expand(store, rank(["black tea", 1]), {
      packing: { evidenceAugmentationTopK: 1 },
      alter: { sessionWindows: fail, nodesById: fail },
    });

    expect(scores).toEqual([["black tea", 1]]);
    expect(changedOrder).toBe(false);
    expect(warnings).toEqual([
      "retrieve: session expansion was skipped (TypeError)",
      "retrieve: the evidence stage was skipped (TypeError)",
    ]);
  });

  test("end when the caller goes away", async () => {
    const { store, rank } = await world(...TALK);
    const controller = new AbortController();
    const sessionWindows = () => {
      controller.abort(new Error("gone"));
      return Promise.reject(new Error("aborted"));
    };
    const call = expand(store, rank(["three", 1]), {
      input: { signal: controller.signal },
      alter: { sessionWindows },
    });

    await expect(call).rejects.toThrow("gone");
  });
});

describe("contested claims", () => {
  /** A hit, and beside it in its session a contested claim that the last memory contradicts. */
  async function dispute() {
    const made = await world(
      turn("hit", 1),
      turn("tea", 2, { lifecycleState: "contested" }),
      turn("coffee", 3, { sessionId: undefined }),
    );
    const [, tea, coffee] = made.nodes;
    const database = new Database(made.file);
    database
      .query(
        `INSERT INTO edges (id, owner, source, target, edge_type, confidence, valid_from, created_at)
         SELECT ?1, s.owner, s.key, t.key, 'contradicts', 0.9, ?4, ?4
         FROM nodes s, nodes t WHERE s.id = ?2 AND t.id = ?3`,
      )
      .run(freshId(), tea?.id ?? "", coffee?.id ?? "", at(3));
    database.close();
    return made;
  }

  test("are flagged, also those that were added after ranking", async () => {
    const { store, nodes, rank } = await dispute();
    const { ranking } = await expand(store, rank(["hit", 1]));

    expect(
      ranking.map(({ node, conflictFlag, contradictsId }) => [
        node.content,
        conflictFlag,
        contradictsId,
      ]),
    ).toEqual([
      ["hit", false, undefined],
      ["tea", true, nodes[2]?.id],
    ]);
  });

  test("whose other sides cannot be read fail the call", async () => {
    const { store, rank } = await dispute();
    const contradictions = () => Promise.reject(new Error("unreadable"));

    await expect(expand(store, rank(["tea", 1]), { alter: { contradictions } })).rejects.toThrow(
      "unreadable",
    );
    expect(
      (await expand(store, rank(["coffee", 1]), { alter: { contradictions } })).scores,
    ).toEqual([["coffee", 1]]);
  });
});

const ranking = [
  aResult(1, 0.9, { lifecycleState: "contested" }),
  aResult(2, 0.8, { lifecycleState: "stable" }),
  aResult(3, 0.7, { lifecycleState: "contested" }, { paths: ["SESSION_CONTEXT"] }),
];

test("contested claims are found wherever they came from", () => {
  expect(contested(ranking).map(({ key }) => key)).toEqual(nodeKeys(1, 3));
});

test("a contested claim is flagged with the other side, and the order stays", () => {
  const other = freshId();
  const flagged = flagConflicts(ranking, new Map([[nodeKey(3), other]]));

  expect(flagged).toEqual([
    ranking[0] as never,
    ranking[1] as never,
    { ...ranking[2], conflictFlag: true, contradictsId: other } as never,
  ]);
});

test("a contested claim that nothing contradicts stays as it is", () => {
  expect(flagConflicts(ranking, new Map())).toEqual(ranking);
});
