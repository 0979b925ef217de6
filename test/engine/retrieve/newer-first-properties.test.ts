import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { replayScore } from "../../../src/domain/score-replay.ts";
import { SPEAKER_KEY } from "../../../src/domain/speaker.ts";
import type { ResultCandidate } from "../../../src/engine/retrieve/api.ts";
import { newerFirst } from "../../../src/engine/retrieve/newer-first.ts";
import { byScore } from "../../../src/engine/retrieve/score/score.ts";
import type { NodeKey, Replacement } from "../../../src/ports/store/search-index.ts";
import { at } from "../../contract/samples.ts";
import { wordEmbedder } from "../engines.ts";
import { aRetrieval } from "../receipts/retrievals.ts";

const TEXTS = [
  "Ann lives in Leeds.",
  "Ann lives in Bristol now.",
  "Ann no longer lives in Bristol, she moved to York.",
  "The stand-up of the team is at nine.",
  "The stand-up of the team was moved to ten.",
  "The rent of the flat is 1250 euros.",
  "The rent of the flat is 1340 euros.",
  "Ben likes horses.",
];

const MEMORY = fc.record({
  content: fc.constantFrom(...TEXTS),
  second: fc.nat(20),
  scope: fc.constantFrom("personal", "project"),
  speaker: fc.constantFrom(undefined, undefined, "Ann", "Ben"),
  isContested: fc.integer({ min: 0, max: 9 }).map((value) => value === 0),
});

const QUESTION = { userId: "ada", query: "What is new?" };

/** Vectors that are one and the same: words alone decide. */
const VECTOR = new Float32Array([1, 0]);
const store = {
  ownVectors: async (_: string, keys: readonly NodeKey[]) =>
    new Map(keys.map((key) => [key, VECTOR])),
  replacedNotes: async () => new Map<NodeKey, readonly Replacement[]>(),
};

/** A ranking of such memories, with the scores of a retrieval. */
const RANKING = fc
  .record({
    seed: fc.integer({ min: 0, max: 2 ** 31 }),
    memories: fc.array(MEMORY, { minLength: 2, maxLength: 24 }),
  })
  .map(({ seed, memories }): readonly ResultCandidate[] => {
    const { results } = aRetrieval({ seed, found: memories.length, neighbours: 0 });
    return results.flatMap((result, index) => {
      const memory = memories[index];
      if (memory === undefined) return [];
      const { content, second, scope, speaker, isContested } = memory;
      const node: ResultCandidate["node"] = {
        ...result.node,
        content,
        scope,
        lifecycleState: isContested ? "contested" : "tentative",
        metadata: speaker === undefined ? undefined : { [SPEAKER_KEY]: speaker },
        eventTime: undefined,
        validFrom: at(second),
      };
      return [{ ...result, node }];
    });
  });

/** Rankings of which the store knows, besides, that some notes were replaced by others of them. */
const KNOWN = RANKING.chain((ranking) =>
  fc
    .array(fc.tuple(fc.nat(ranking.length - 1), fc.nat(ranking.length - 1)), { maxLength: 12 })
    .map((pairs) => {
      const replaced = Map.groupBy(
        // Claims replace notes and nothing replaces claims, so that they are at the odd places.
        pairs.map(([older, newer]) => [older & ~1, newer | 1] as const),
        ([older]) => ranking[older]?.key,
      );
      const known = new Map<NodeKey | undefined, readonly Replacement[]>(
        [...replaced].map(([key, all]) => [
          key,
          all.flatMap(([, newer]) => ranking[newer]?.node ?? []),
        ]),
      );
      return {
        ranking: ranking.map((one) => ({
          ...one,
          node: { ...one.node, nodeType: "note" as const },
        })),
        known,
      };
    }),
);

const idsOf = (ranking: readonly ResultCandidate[]) => ranking.map(({ node }) => node.id);
const MOVES: readonly string[] = ["newer_first", "behind_newer"];
const isMoved = ({ provenance }: ResultCandidate) =>
  provenance.adjustments.some(({ kind }) => MOVES.includes(kind));

/** Checks what holds for every ranking and for what the stage makes of it. */
function holds(
  check: (before: readonly ResultCandidate[], after: readonly ResultCandidate[]) => void,
): Promise<void> {
  return fc.assert(
    fc.asyncProperty(RANKING, async (before) =>
      check(
        before,
        await newerFirst({ store, embedder: wordEmbedder() }, QUESTION, before, "score_id"),
      ),
    ),
    { numRuns: 300 },
  );
}

describe("whatever is found, the newer memory first", () => {
  test("leaves the order of all that it does not compare, and their scores", () =>
    holds((before, after) => {
      const untouched = after.filter((candidate) => !isMoved(candidate));
      const ids = new Set(idsOf(untouched));
      expect(untouched).toEqual(before.filter(({ node }) => ids.has(node.id)));
      expect(idsOf(after).toSorted()).toEqual(idsOf(before).toSorted());
      if (untouched.length === after.length) expect(after).toBe(before);
    }));

  test("stands before what it makes outdated, of the same scope and speaker, and later", async () => {
    let marked = 0;
    await holds((_, after) => {
      for (const [place, { node, olderThan }] of after.entries()) {
        if (olderThan === undefined) continue;
        marked += 1;
        const newerAt = after.findIndex((other) => other.node.id === olderThan.nodeId);
        const newer = after[newerAt]?.node;
        expect(newerAt).toBeGreaterThanOrEqual(0);
        expect(newerAt).toBeLessThan(place);
        // Nothing stands between them but what was moved there as well, or has the very score of the newer one.
        const between = after.slice(newerAt + 1, place).filter((one) => !isMoved(one));
        for (const one of between) expect(one.compositeScore).toBe(after[newerAt]!.compositeScore);
        expect(newer?.scope).toBe(node.scope);
        expect(newer?.metadata?.[SPEAKER_KEY]).toBe(node.metadata?.[SPEAKER_KEY]);
        expect([newer?.lifecycleState, node.lifecycleState]).toEqual(["tentative", "tentative"]);
        expect(`${newer?.validFrom}` >= node.validFrom).toBe(true);
      }
    });
    expect(marked).toBeGreaterThan(100);
  });

  test("gives the former ranking back when its steps are taken away, and its scores when they are replayed", () =>
    holds((before, after) => {
      for (const { provenance, compositeScore } of after) {
        expect(replayScore(provenance)).toBe(compositeScore);
      }
      expect(after).toEqual(after.toSorted(byScore));
      const former = after.map((candidate) => {
        const { provenance } = candidate;
        const adjustments = provenance.adjustments.filter(({ kind }) => !MOVES.includes(kind));
        return { ...candidate, compositeScore: replayScore({ ...provenance, adjustments }) };
      });
      expect(idsOf(former.sort(byScore))).toEqual(idsOf(before));
    }));

  test("stands before what the store knows it replaced, whatever the words and times of both", async () => {
    let marked = 0;
    await fc.assert(
      fc.asyncProperty(KNOWN, async ({ ranking, known }) => {
        const knowing = {
          ...store,
          replacedNotes: async () =>
            new Map(
              [...known].flatMap(([key, by]) => (key === undefined ? [] : [[key, by] as const])),
            ),
        };
        const deps = { store: knowing, embedder: wordEmbedder() };
        const after = await newerFirst(deps, QUESTION, ranking, "score_id");

        expect(after).toEqual(after.toSorted(byScore));
        expect(idsOf(after).toSorted()).toEqual(idsOf(ranking).toSorted());
        for (const [
          place,
          { key, node, olderThan, provenance, compositeScore },
        ] of after.entries()) {
          expect(replayScore(provenance)).toBe(compositeScore);
          if (olderThan === undefined) continue;
          const newer = after.findIndex((other) => other.node.id === olderThan.nodeId);
          expect(newer).toBeGreaterThanOrEqual(0);
          expect(newer).toBeLessThan(place);
          expect(after[newer]?.node.scope).toBe(node.scope);
          if (known.has(key)) marked += 1;
        }
      }),
      { numRuns: 300 },
    );
    expect(marked).toBeGreaterThan(100);
  });
});
