import { describe, expect, test } from "bun:test";
import type { MemoryNode } from "../../../src/domain/node.ts";
import { replayScore } from "../../../src/domain/score-replay.ts";
import type { ResultCandidate } from "../../../src/engine/retrieve/api.ts";
import {
  addEvidence,
  type EvidenceRules,
  evidenceGroups,
  evidenceRules,
} from "../../../src/engine/retrieve/context/expand.ts";
import type { Uuid } from "../../../src/lib/uuid.ts";
import type { KeyedNode } from "../../../src/ports/store/search-index.ts";
import { aNode, anEvent, freshId } from "../../contract/samples.ts";
import { nodeKey, nodeKeys } from "../../node-keys.ts";
import { DEFAULT_SETTINGS } from "../engines.ts";
import { aResult } from "./pool.ts";

const AUGMENT: EvidenceRules = {
  kind: "evidence_augmentation",
  topK: 2,
  maxSources: 1,
  decay: 0.5,
  anchorPolicy: "all",
};
const PROJECT: EvidenceRules = { ...AUGMENT, kind: "evidence_projection" };

/** A claim with its evidence. */
function claim(
  key: number,
  score: number,
  evidenceRefs: readonly Uuid[],
  given: Partial<MemoryNode> = {},
): ResultCandidate {
  return aResult(key, score, { evidenceRefs, ...given }, { semanticRelevance: score / 2 });
}

/** The raw note of an event. */
function note(key: number, id: Uuid, given: Partial<MemoryNode> = {}): KeyedNode {
  return { key: nodeKey(key), node: aNode(anEvent(), { id, evidenceRefs: [id], ...given }) };
}

function apply(
  ranking: readonly ResultCandidate[],
  sources: readonly KeyedNode[],
  rules: EvidenceRules = AUGMENT,
) {
  const byId = new Map(sources.map((source) => [source.node.id, source]));
  const step = addEvidence(ranking, evidenceGroups(ranking, rules), byId, rules);
  const scores = step.ranking.map(({ key, compositeScore }) => [key, compositeScore]);
  return { ...step, scores };
}

const [a, b, c] = [freshId(), freshId(), freshId()];

describe("groups of evidence", () => {
  const members = (ranking: readonly ResultCandidate[], rules: Partial<EvidenceRules> = {}) =>
    evidenceGroups(ranking, { ...AUGMENT, topK: 9, ...rules }).map((group) =>
      group.members.map(({ key }) => key),
    );

  test("hold what has exactly the same evidence, in any order and with repeats", () => {
    const ranking = [
      claim(1, 0.9, [a, b]),
      claim(2, 0.8, [a]),
      claim(3, 0.7, [b, a, b]),
      claim(4, 0.6, []),
    ];

    expect(members(ranking)).toEqual([nodeKeys(1, 3), nodeKeys(2)]);
    expect(evidenceGroups(ranking, AUGMENT)[0]?.evidence).toEqual([a, b]);
  });

  test("are the first ones, without those of entities where these are no anchors", () => {
    const ranking = [
      claim(1, 0.9, [a], { nodeType: "entity" }),
      claim(2, 0.8, [b]),
      claim(3, 0.7, [a]),
      claim(4, 0.6, [c]),
    ];

    expect(members(ranking, { topK: 2 })).toEqual([nodeKeys(1, 3), nodeKeys(2)]);
    expect(members(ranking, { topK: 2, anchorPolicy: "non_entity" })).toEqual([
      nodeKeys(2),
      nodeKeys(3),
    ]);
  });
});

describe("augmentation", () => {
  test("puts the source beside its claims, with a share of the first one's score", () => {
    const ranking = [claim(1, 0.8, [a]), claim(2, 0.7, [b]), claim(3, 0.6, [a])];
    const more = ranking.map((each) =>
      each.key === nodeKey(3) ? { ...each, semanticRelevance: 0.9 } : each,
    );
    const { scores, changed, ranking: after } = apply(more, [note(9, a)]);

    expect(changed).toBe(true);
    expect(scores).toEqual([
      [1, 0.8],
      [2, 0.7],
      [3, 0.6],
      [9, 0.4],
    ]);
    expect(after[3]).toMatchObject({
      paths: ["EVIDENCE_CONTEXT"],
      pathCount: 1,
      semanticRelevance: 0.9,
    });
    expect(after[3]?.trace).toBeUndefined();
    expect(after[3]?.provenance.adjustments.at(-1)).toMatchObject({
      kind: "evidence_augmentation",
      coefficient: 0.5,
      sourceNodeId: ranking[0]?.node.id,
    });
  });

  test("raises a source that was found below that share, and marks one above it", () => {
    const source = note(9, a);
    const found = (score: number) => ({ ...claim(9, score, [a]), node: source.node });
    const above = apply([claim(1, 0.8, [a]), found(0.5)], [source]);
    const below = apply([claim(1, 0.8, [a]), found(0.1)], [source]);

    expect(above.scores).toEqual([
      [1, 0.8],
      [9, 0.5],
    ]);
    expect(above.changed).toBe(false);
    expect(below.scores).toEqual([
      [1, 0.8],
      [9, 0.4],
    ]);
    for (const { ranking } of [above, below]) {
      expect(ranking[1]).toMatchObject({
        paths: ["VECTOR", "LEXICAL", "EVIDENCE_CONTEXT"],
        pathCount: 3,
        semanticRelevance: 0.4,
      });
    }
  });
});

describe("projection", () => {
  test("replaces the claims by their source", () => {
    const ranking = [claim(1, 0.8, [a]), claim(2, 0.7, [b]), claim(3, 0.6, [a])];
    const { scores, changed, ranking: after } = apply(ranking, [note(9, a)], PROJECT);

    expect(changed).toBe(true);
    expect(scores).toEqual([
      [2, 0.7],
      [9, 0.4],
    ]);
    expect(after[1]?.provenance.adjustments.at(-1)?.kind).toBe("evidence_projection");
  });

  test("keeps a source that was one of the claims, with its higher score", () => {
    const source = note(9, a);
    const found = { ...claim(9, 0.7, [a]), node: source.node };
    const { scores } = apply([claim(1, 0.8, [a]), found], [source], PROJECT);

    expect(scores).toEqual([[9, 0.7]]);
  });

  test("keeps a source of one group that is a claim of another", () => {
    const source = { key: nodeKey(2), node: claim(2, 0, [b]).node };
    const ranking = [claim(1, 0.8, [source.node.id]), { ...claim(2, 0.3, [b]), node: source.node }];
    const { scores } = apply(ranking, [source, note(9, b)], PROJECT);

    expect(scores).toEqual([
      [2, 0.4],
      [9, 0.15],
    ]);
  });
});

describe("the sources of a group", () => {
  test("are the first by id, in the scope of its first member", () => {
    const ranking = [claim(1, 0.8, [c, b, a])];
    const sources = [note(13, c), note(12, b), note(11, a, { scope: "project" })];
    const keys = (maxSources: number) =>
      apply(ranking, sources, { ...AUGMENT, maxSources }).scores.map(([key]) => key);

    expect(keys(1)).toEqual([1, 12]);
    expect(keys(9)).toEqual([1, 12, 13]);
  });

  test("may be missing, and then the group stays as it is", () => {
    const ranking = [claim(2, 0.8, [a]), claim(1, 0.8, [b])];

    for (const rules of [AUGMENT, PROJECT]) {
      const { changed, ranking: after } = apply(ranking, [], rules);
      expect([after, changed]).toEqual([ranking, false]);
    }
  });

  test("have scores that can be computed again", () => {
    const ranking = [claim(1, 0.77, [a]), claim(2, 0.31, [b])];
    const { ranking: after } = apply(ranking, [note(8, b), note(9, a)], {
      ...AUGMENT,
      decay: 0.99,
    });

    expect(after.map(({ provenance }) => replayScore(provenance))).toEqual(
      after.map(({ compositeScore }) => compositeScore),
    );
    expect(after).toHaveLength(4);
  });
});

describe("the settings", () => {
  const packing = DEFAULT_SETTINGS.packing;

  test("of a fresh installation ask for neither", () => {
    expect(evidenceRules(packing)).toBeUndefined();
  });

  test("ask for projection or for augmentation, each with its own numbers", () => {
    expect(evidenceRules({ ...packing, evidenceProjectionTopK: 3 })).toEqual({
      kind: "evidence_projection",
      topK: 3,
      maxSources: 1,
      decay: 1,
      anchorPolicy: "all",
    });
    expect(
      evidenceRules({
        ...packing,
        evidenceAugmentationTopK: 4,
        evidenceAugmentationAnchorPolicy: "non_entity",
      }),
    ).toEqual({
      kind: "evidence_augmentation",
      topK: 4,
      maxSources: 1,
      decay: 0.99,
      anchorPolicy: "non_entity",
    });
  });
});
