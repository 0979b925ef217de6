import { describe, expect, test } from "bun:test";
import type { CandidateFilter } from "../../../src/domain/candidate-filter.ts";
import { SvcError } from "../../../src/domain/errors.ts";
import type { ResultCandidate, RetrieveInput } from "../../../src/engine/retrieve/api.ts";
import {
  crossScopeHints,
  type HintRules,
  type HintSearch,
} from "../../../src/engine/retrieve/context/expand.ts";
import { parseRequest } from "../../../src/engine/retrieve/request.ts";
import { at } from "../../contract/samples.ts";
import { nodeKeys } from "../../node-keys.ts";
import { DEFAULT_SETTINGS } from "../engines.ts";
import { aResult } from "./pool.ts";

const RULES: HintRules = {
  topN: 2,
  filter: { mode: "default", isExpired: () => false, unverifiedThreshold: 0.3 },
  floorSkipped: false,
};

const inProject = (key: number, score: number, more: Partial<ResultCandidate["node"]> = {}) =>
  aResult(key, score, { scope: "project", ...more }, { semanticRelevance: score });

type Setting = {
  readonly input?: Partial<RetrieveInput>;
  readonly rules?: Partial<HintRules>;
  readonly find?: HintSearch;
};

/** The hints for a question about `personal`, with what the search was asked and what was said about it. */
async function hints(found: readonly ResultCandidate[], { input, rules, find }: Setting = {}) {
  const asked: { filter: CandidateFilter; k: number }[] = [];
  const warnings: string[] = [];
  const request = parseRequest(
    { query: "tea", userId: "ada", scope: "personal", ...input },
    DEFAULT_SETTINGS,
    at(0),
  );
  const search: HintSearch = (filter, k, keep) => {
    asked.push({ filter, k });
    return find === undefined ? Promise.resolve(found) : find(filter, k, keep);
  };
  const given = await crossScopeHints(
    (message) => warnings.push(message),
    request,
    { ...RULES, ...rules },
    search,
  );
  return { keys: given.map(({ key }) => key), asked, warnings };
}

describe("hints", () => {
  test("are the best of the scopes that were not asked for", async () => {
    const { keys, asked } = await hints([inProject(1, 0.9), inProject(2, 0.8), inProject(3, 0.7)], {
      input: { scope: ["personal", "sandbox"], timeFrom: "2026-01-01T00:00:00Z" },
    });

    expect(keys).toEqual(nodeKeys(1, 2));
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      k: 4,
      filter: {
        userId: "ada",
        scopes: ["project", "organisation", "agent", "system"],
        timeFrom: "2026-01-01T00:00:00.000000Z",
      },
    });
  });

  const SILENT: readonly [name: string, setting: Setting][] = [
    ["without a scope", { input: { scope: null } }],
    ["when they are not wanted", { input: { includeCrossScope: false } }],
    ["when none may be shown", { rules: { topN: 0 } }],
    [
      "when every scope was asked for",
      { input: { scope: ["personal", "project", "organisation", "agent", "system", "sandbox"] } },
    ],
  ];

  test.each(SILENT)("are not looked for %s", async (_, setting) => {
    expect(await hints([inProject(1, 0.9)], setting)).toEqual({
      keys: [],
      asked: [],
      warnings: [],
    });
  });

  test("pass the filters of the request", async () => {
    const found = [
      aResult(1, 0.9, { scope: "personal" }),
      inProject(2, 0.9, { userId: "bob" }),
      inProject(3, 0.9, { nodeType: "task" }),
      inProject(4, 0.9, { epistemicType: "hypothetical" }),
      inProject(5, 0.9, { epistemicType: "unverified", confidence: 0.2 }),
      inProject(6, 0.9),
    ];
    const input = { excludeNodeTypes: ["task"] } as const;
    const explicit = { filter: { ...RULES.filter, mode: "explicit" } } as const;

    expect((await hints(found, { input })).keys).toEqual(nodeKeys(6));
    expect((await hints(found, { input, rules: { ...explicit, topN: 9 } })).keys).toEqual(
      nodeKeys(4, 5, 6),
    );
  });

  test("tell the search what may be scored", async () => {
    const found = [inProject(1, 0.9, { epistemicType: "deprecated" }), inProject(2, 0.8)];
    const scored: number[] = [];
    await hints([], {
      find: async (_filter, _k, keep) => {
        scored.push(...found.filter(({ node }) => keep(node)).map(({ key }) => key));
        return [];
      },
    });

    expect(scored).toEqual([2]);
  });
});

describe("the floor of the request", () => {
  const found = [inProject(1, 0.9), inProject(2, 0.5), inProject(3, 0.4)];
  const without = found.map((hint) => ({ ...hint, semanticRelevance: 0 }));

  test("holds for hints too, inclusively, after the best were taken", async () => {
    const { keys } = await hints(found, { input: { minScore: 0.5 }, rules: { topN: 3 } });

    expect(keys).toEqual(nodeKeys(1, 2));
    expect((await hints([...found].reverse(), { input: { minScore: 0.5 } })).keys).toEqual(
      nodeKeys(2),
    );
  });

  test("is dropped with that of the results, unless a hint has a relevance", async () => {
    const setting = { input: { minScore: 0.5 }, rules: { floorSkipped: true, topN: 3 } };

    expect((await hints(without, setting)).keys).toEqual(nodeKeys(1, 2, 3));
    expect((await hints(found, setting)).keys).toEqual(nodeKeys(1, 2));
    expect((await hints(without, { input: { minScore: 0.5 } })).keys).toEqual([]);
  });
});

describe("a search for hints that fails", () => {
  test("gives none and is told without its words", async () => {
    const find: HintSearch = async () => {
      throw new SvcError("storage_failed", "Ada's secret", {});
    };

    expect(await hints([], { find })).toMatchObject({
      keys: [],
      warnings: ["retrieve: hints from other scopes were skipped (storage_failed)"],
    });
  });

  test("because the caller went away ends the call", async () => {
    const controller = new AbortController();
    const find: HintSearch = async () => {
      controller.abort(new Error("gone"));
      throw new Error("aborted");
    };
    const call = hints([], { find, input: { signal: controller.signal } });

    await expect(call).rejects.toThrow("gone");
  });
});
