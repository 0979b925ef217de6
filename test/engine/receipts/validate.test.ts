import { describe, expect, test } from "bun:test";
import type { ReceiptCandidate, RetrievalReceipt } from "../../../src/domain/records/receipt.ts";
import type { ScoreProvenance } from "../../../src/domain/records/score.ts";
import { replayScore } from "../../../src/domain/score-replay.ts";
import type { BuiltReceipt } from "../../../src/engine/receipts/build.ts";
import { rankingOrder, receiptProblems } from "../../../src/engine/receipts/validate.ts";
import type { Uuid } from "../../../src/lib/uuid.ts";
import { WEIGHTS } from "../retrieve/pool.ts";
import { ADAPTIVE_FUSION, aReceipt, RELATIVE_FUSION } from "./retrievals.ts";

const USUAL = aReceipt({ seed: 5, found: 5, neighbours: 3, packed: 4 });
const WEIGHTED = aReceipt({ seed: 5, found: 5, neighbours: 0, packed: 2, weights: WEIGHTS });

/** A receipt in which something is not as it was. */
function changed(change: Partial<RetrievalReceipt>, built = USUAL): BuiltReceipt {
  return { ...built, receipt: { ...built.receipt, ...change } };
}

function withCandidate(index: number, change: Partial<ReceiptCandidate>, built = USUAL) {
  const candidates = built.receipt.candidates.map((candidate, at) =>
    at === index ? { ...candidate, ...change } : candidate,
  );
  return changed({ candidates }, built);
}

function withProvenance(
  index: number,
  change: (provenance: ScoreProvenance) => ScoreProvenance,
  built = USUAL,
) {
  const entries = [...built.receipt.scoreProvenance].map(
    ([id, provenance], at): [Uuid, ScoreProvenance] => [
      id,
      at === index ? change(provenance) : provenance,
    ],
  );
  return changed({ scoreProvenance: new Map(entries) }, built);
}

describe("a receipt", () => {
  test.each([
    { name: "rank fusion", built: USUAL },
    {
      name: "relative fusion",
      built: aReceipt({ seed: 9, found: 30, neighbours: 20, weights: RELATIVE_FUSION }),
    },
    {
      name: "adaptive fusion",
      built: aReceipt({
        seed: 9,
        found: 30,
        neighbours: 20,
        weights: ADAPTIVE_FUSION,
      }),
    },
    { name: "weighted fusion", built: WEIGHTED },
    { name: "nothing found", built: aReceipt({ seed: 9, found: 0, neighbours: 0 }) },
  ])("of $name has no problem, and its scores and order follow from it", ({ built }) => {
    expect(receiptProblems(built)).toEqual([]);
    const { candidates, scoreProvenance, rankingPolicy } = built.receipt;
    const replayed = candidates.map((candidate) => ({
      ...candidate,
      score: replayScore(scoreProvenance.get(candidate.nodeId)!),
    }));
    expect(replayed).toEqual([...candidates]);
    const shuffled = replayed.toReversed().sort(rankingOrder(rankingPolicy));
    expect(shuffled).toEqual([...candidates]);
  });
});

/** A receipt of which one candidate was put behind another one. */
function aged(older: number, newer: number): BuiltReceipt {
  const sourceNodeId = newer < 0 ? undefined : USUAL.receipt.candidates[newer]?.nodeId;
  const step = {
    kind: "newer_first",
    coefficient: 1,
    neuralScore: undefined,
    sourceNodeId,
  } as const;
  const built = withProvenance(older, (provenance) => ({
    ...provenance,
    adjustments: [...provenance.adjustments, step],
  }));
  return changed({ schemaVersion: 24 }, built);
}

test("a receipt in which an older memory stands behind the newer one has no problem", () => {
  expect(receiptProblems(aged(2, 1))).toEqual([]);
});

describe("a receipt is refused", () => {
  const first = USUAL.receipt.candidates[0]!;
  const last = USUAL.receipt.candidates.length - 1;
  const neighbour = USUAL.receipt.candidates.findIndex(({ trace }) => trace === undefined);

  const cases = (
    [
      [
        "with a candidate twice",
        changed({ candidates: [...USUAL.receipt.candidates, first] }),
        "a candidate stands twice",
      ],
      [
        "with the record of a score missing",
        changed({ scoreProvenance: new Map([...USUAL.receipt.scoreProvenance].slice(1)) }),
        "the score provenance is not that of the candidates",
      ],
      [
        "with the records in another order",
        changed({ scoreProvenance: new Map([...USUAL.receipt.scoreProvenance].toReversed()) }),
        "the score provenance is not that of the candidates",
      ],
      [
        "with another score",
        withCandidate(0, { score: first.score + 1e-9 }),
        `the score is ${first.score + 1e-9}, replayed ${first.score}`,
      ],
      [
        "with another rank of a search",
        withProvenance(0, (provenance) => ({
          ...provenance,
          fusion: { ...provenance.fusion!, semanticRank: 3 } as ScoreProvenance["fusion"],
        })),
        "the base score is",
      ],
      [
        "with another decay of a neighbour",
        withProvenance(neighbour, (provenance) => ({
          ...provenance,
          adjustments: [{ ...provenance.adjustments[0]!, coefficient: 0.5 }],
        })),
        "a session decay that is not 0.6",
      ],
      [
        "in another order",
        changed({
          candidates: USUAL.receipt.candidates.toReversed(),
          scoreProvenance: new Map([...USUAL.receipt.scoreProvenance].toReversed()),
        }),
        "stands too low for score_id",
      ],
      [
        "with an older memory before the newer one",
        aged(1, 2),
        `stands before ${USUAL.receipt.candidates[2]?.nodeId}, which makes it outdated`,
      ],
      [
        "with an older memory of which nobody knows what is newer",
        aged(1, -1),
        "newer_first without the other memory",
      ],
      [
        "under another policy of ranking",
        withCandidate(last, { rerankerScore: 0.5 }, changed({ rankingPolicy: "reranked_prefix" })),
        "stands too low for reranked_prefix",
      ],
      [
        "with a score of the reranker beyond 1",
        withCandidate(0, { rerankerScore: 1.5 }),
        "the reranker's score is 1.5, not 0 to 1",
      ],
      [
        "without a relevance",
        withCandidate(0, { semanticRelevance: undefined }),
        "the relevance is undefined",
      ],
      [
        "with a relevance below the cosine",
        withCandidate(0, { semanticRelevance: 0.01 }),
        "the relevance is 0.01, below",
      ],
      ["with a relevance below the floor", changed({ minScore: 0.99 }), "below 0.99"],
      [
        "with a floor that was skipped although relevances are known",
        changed({ minScore: 0.5, minScoreSkipped: true }),
        "the floor was skipped although a relevance is known",
      ],
      [
        "with no floor that was skipped",
        changed({ minScoreSkipped: true }),
        "no floor, but it was skipped",
      ],
      [
        "with a score of other fusion settings",
        changed({
          scoring: {
            ...USUAL.receipt.scoring,
            fusion: { kind: "rrf", k: 61, recencyBoost: 0.25, tieBreak: "event_time" },
          },
        }),
        "the score is of another fusion than the settings",
      ],
      [
        "with a relevance of a weighted score",
        withCandidate(0, { semanticRelevance: 0.9 }, WEIGHTED),
        "a weighted score with a relevance",
      ],
      [
        "with two recency times in one weighted retrieval",
        withProvenance(
          0,
          (provenance) => ({
            ...provenance,
            weights: {
              ...provenance.weights,
              fusion: { kind: "weighted", recencyTime: "event_time" },
            },
          }),
          WEIGHTED,
        ),
        "the score is of another fusion than the settings",
      ],
      [
        "of another version than its settings",
        changed({ schemaVersion: 19 }),
        "the version is 19, the settings are those of 22",
      ],
      [
        "of version 21 without what it stands for",
        changed({
          schemaVersion: 21,
          packing: { ...USUAL.receipt.packing, foldRepeatedText: undefined },
        }),
        "the version is 21, the settings are those of 19",
      ],
      [
        "of version 22 without a word on citations",
        changed({ packing: { ...USUAL.receipt.packing, contextCitations: undefined } }),
        "context_citations does not belong to the version",
      ],
      [
        "with a rank fusion decay of weighted scores",
        changed(
          { packing: { ...WEIGHTED.receipt.packing, sessionContextRankFusionScoreDecay: 0.6 } },
          WEIGHTED,
        ),
        "session_context_rank_fusion_score_decay belongs to fused scores",
      ],
      [
        "with folding outside of the reader format",
        changed({ packing: { ...USUAL.receipt.packing, contextFormat: "compact" } }),
        "fold_repeated_text belongs to the reader format",
      ],
      [
        "with session packing without sessions",
        changed({
          packing: {
            ...USUAL.receipt.packing,
            sessionContextPacking: "adjacent",
            sessionContextTopK: 0,
          },
        }),
        "session_context_packing belongs to session expansion",
      ],
      [
        "with a number that is none",
        withCandidate(0, { trace: { ...first.trace!, salience: Number.NaN } }),
        "trace.salience is NaN",
      ],
      [
        "with a level outside of the context",
        withCandidate(last, { representation: "full" }),
        "a level stands exactly where a candidate is in the context",
      ],
      [
        "with tokens outside of the context",
        withCandidate(last, { tokenCost: 5 }),
        "tokens outside of the context",
      ],
      [
        "with content at a level without text",
        withCandidate(0, { representation: "reference" }),
        "content at a level without text",
      ],
      [
        "beside a record of another context",
        { ...USUAL, record: { ...USUAL.record, context: USUAL.record.context.slice(1) } },
        "the context is not that of the candidates",
      ],
      [
        "beside a record that gives no reason for a candidate",
        { ...USUAL, record: { ...USUAL.record, notPacked: USUAL.record.notPacked.slice(1) } },
        "not every candidate outside of the context has a reason",
      ],
      [
        "beside a record with too few paths",
        { ...USUAL, record: { ...USUAL.record, paths: [] } },
        "the paths are not those of the candidates",
      ],
    ] satisfies readonly (readonly [name: string, built: BuiltReceipt, says: string])[]
  ).map(([name, built, says]) => ({ name, built, says }));

  test.each([...cases])("$name", ({ built, says }) => {
    expect(receiptProblems(built).join("\n")).toContain(says);
  });
});
