import { describe, expect, test } from "bun:test";
import type { ResultCandidate } from "../../../src/engine/retrieve/api.ts";
import { type SelectionRules, select } from "../../../src/engine/retrieve/select.ts";
import { at, freshId } from "../../contract/samples.ts";
import { nodeKeys } from "../../node-keys.ts";
import { aResult } from "./pool.ts";

const NONE: SelectionRules = {
  fusion: "rrf",
  minScore: undefined,
  limit: undefined,
  maxPerSource: undefined,
  maxPerEvidence: undefined,
  vectorFailed: false,
};

/** Scores 1, 0.9, 0.8, 0.7. */
const ranking = [0.9, 0.5, 0.75, 0.2].map((semanticRelevance, index) =>
  aResult(index, 1 - index / 10, {}, { semanticRelevance }),
);

function chosen(candidates: readonly ResultCandidate[], rules: Partial<SelectionRules> = {}) {
  const { results, excluded, ...rest } = select(candidates, { ...NONE, ...rules });
  const keyOf = new Map(candidates.map(({ key, node }) => [node.id, key]));
  return {
    kept: results.map(({ key }) => key),
    dropped: excluded.map(({ nodeId, reason }) => [keyOf.get(nodeId), reason]),
    excluded,
    ...rest,
  };
}

test("without rules everything is kept", () => {
  expect(chosen(ranking)).toMatchObject({
    kept: [0, 1, 2, 3],
    dropped: [],
    minScoreSkipped: false,
  });
  expect(chosen(ranking, { minScore: 0 }).kept).toEqual(nodeKeys(0, 1, 2, 3));
});

describe("the floor", () => {
  test.each(["rrf", "relative"] as const)(
    "compares the relevance under %s, inclusively",
    (fusion) => {
      expect(chosen(ranking, { fusion, minScore: 0.5 })).toMatchObject({
        kept: [0, 1, 2],
        dropped: [[3, "below_threshold"]],
      });
    },
  );

  test("compares a weighted score, inclusively", () => {
    expect(chosen(ranking, { fusion: "weighted", minScore: 0.8 })).toMatchObject({
      kept: [0, 1, 2],
      dropped: [[3, "below_threshold"]],
    });
  });

  const unknown = ranking.map((candidate) => ({ ...candidate, semanticRelevance: 0 }));

  test.each([
    { name: "nothing has a relevance", pool: unknown, vectorFailed: true, skipped: true },
    { name: "there is nothing", pool: [], vectorFailed: true, skipped: true },
    { name: "something has a relevance", pool: ranking, vectorFailed: true, skipped: false },
    {
      name: "the search worked and found nothing",
      pool: unknown,
      vectorFailed: false,
      skipped: false,
    },
  ])("without vectors is skipped: $skipped, when $name", ({ pool, vectorFailed, skipped }) => {
    const { kept, minScoreSkipped } = chosen(pool, { minScore: 0.6, vectorFailed });

    expect(minScoreSkipped).toBe(skipped);
    if (skipped) expect(kept).toEqual(pool.map(({ key }) => key));
    expect(chosen(pool, { vectorFailed }).minScoreSkipped).toBe(false);
    expect(chosen(pool, { vectorFailed, minScore: 0 }).minScoreSkipped).toBe(false);
  });

  test("of weighted scores is never skipped", () => {
    const rules = { fusion: "weighted", minScore: 0.85, vectorFailed: true } as const;

    expect(chosen(unknown, rules)).toMatchObject({ kept: [0, 1], minScoreSkipped: false });
  });

  test("when it is skipped, leaves the other rules in force", () => {
    const rules = { minScore: 0.6, vectorFailed: true, limit: 3 };

    expect(chosen(unknown, rules)).toMatchObject({
      kept: [0, 1, 2],
      dropped: [[3, "result_limit"]],
      minScoreSkipped: true,
    });
  });
});

describe("caps", () => {
  const [a, b] = [freshId(), freshId()];
  const claims = [
    aResult(0, 1, { evidenceRefs: [a, b], content: "tea" }),
    aResult(1, 0.9, { evidenceRefs: [b, a, a], content: "tea" }),
    aResult(2, 0.8, { evidenceRefs: [a, b], content: "coffee" }),
    aResult(3, 0.7, { evidenceRefs: [a], content: "tea" }),
    aResult(4, 0.6, { evidenceRefs: [], content: "tea" }),
    aResult(5, 0.5, { evidenceRefs: [], content: "tea" }),
  ];

  test("per source count the same text with the same evidence", () => {
    expect(chosen(claims, { maxPerSource: 1 })).toMatchObject({
      kept: [0, 2, 3, 4, 5],
      dropped: [[1, "source_limit"]],
    });
    expect(chosen(claims, { maxPerSource: 2 }).kept).toEqual(nodeKeys(0, 1, 2, 3, 4, 5));
  });

  test("per evidence count the same evidence, in any order", () => {
    expect(chosen(claims, { maxPerEvidence: 1 })).toMatchObject({
      kept: [0, 3, 4, 5],
      dropped: [
        [1, "evidence_limit"],
        [2, "evidence_limit"],
      ],
    });
    expect(chosen(claims, { maxPerEvidence: 2 }).kept).toEqual(nodeKeys(0, 1, 3, 4, 5));
  });

  test("leave out what is outdated with what makes it so", () => {
    const [first, newer] = claims;
    const older = aResult(6, 0.4, {}, { olderThan: { nodeId: newer!.node.id, at: at(2) } });
    expect(chosen([first!, newer!, older], { maxPerEvidence: 1 })).toMatchObject({
      kept: [0],
      dropped: [
        [1, "evidence_limit"],
        [6, "one_sided"],
      ],
    });
  });

  test("leave room for later ones up to the limit", () => {
    expect(chosen(claims, { maxPerEvidence: 1, limit: 3 }).kept).toEqual(nodeKeys(0, 3, 4));
  });

  test("keep apart two memories that were stored with the same text", () => {
    const stored = [1, 2].map((key) => aResult(key, 1, { content: "tea" }));

    expect(chosen(stored, { maxPerSource: 1, maxPerEvidence: 1 }).kept).toEqual(nodeKeys(1, 2));
  });

  test("do not count what the floor dropped", () => {
    const [first, second] = claims.map((claim, index) => ({
      ...claim,
      semanticRelevance: index === 0 ? 0.1 : 0.9,
    }));
    if (first === undefined || second === undefined) throw new Error();

    expect(chosen([first, second], { minScore: 0.5, maxPerSource: 1 }).kept).toEqual(nodeKeys(1));
  });
});

describe("the reason", () => {
  const claims = [0, 1, 2].map((key) =>
    aResult(key, 1 - key / 10, { evidenceRefs: [], content: "tea" }, { semanticRelevance: 0.9 }),
  );
  const evidence = freshId();
  const alike = claims.map((claim, index) => ({
    ...claim,
    node: { ...claim.node, evidenceRefs: [evidence] },
    semanticRelevance: index === 2 ? 0.1 : 0.9,
  }));

  test("is the first that applies", () => {
    const reasonOf = (key: number, rules: Partial<SelectionRules>) =>
      chosen(alike, rules).dropped.find(([dropped]) => dropped === key)?.[1];
    const all = { minScore: 0.5, maxPerSource: 1, maxPerEvidence: 1, limit: 1 };

    expect(reasonOf(2, all)).toBe("below_threshold");
    expect(reasonOf(1, all)).toBe("source_limit");
    expect(reasonOf(1, { ...all, maxPerSource: undefined })).toBe("evidence_limit");
    expect(reasonOf(1, { limit: 1 })).toBe("result_limit");
  });

  test("comes with the score, and with the relevance where there is one", () => {
    const [, , third] = claims;
    const { excluded } = chosen(claims, { limit: 2 });
    const weighted = chosen(claims, { limit: 2, fusion: "weighted" });
    const record = {
      nodeId: third?.node.id as never,
      reason: "result_limit",
      compositeScore: 0.8,
    };

    expect(excluded).toEqual([{ ...record, semanticRelevance: 0.9 }]);
    expect(Object.keys(weighted.excluded[0] ?? {})).toEqual(Object.keys(record));
  });

  test("of a limit of 0 is given to everything", () => {
    expect(chosen(claims, { limit: 0 })).toMatchObject({
      kept: [],
      dropped: [0, 1, 2].map((key) => [key, "result_limit"]),
    });
  });
});
