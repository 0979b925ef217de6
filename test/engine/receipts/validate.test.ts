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

  const cases: readonly {
    readonly name: string;
    readonly built: BuiltReceipt;
    readonly says: string;
  }[] = [
    {
      name: "with a candidate twice",
      built: changed({ candidates: [...USUAL.receipt.candidates, first] }),
      says: "a candidate stands twice",
    },
    {
      name: "with the record of a score missing",
      built: changed({ scoreProvenance: new Map([...USUAL.receipt.scoreProvenance].slice(1)) }),
      says: "the score provenance is not that of the candidates",
    },
    {
      name: "with the records in another order",
      built: changed({ scoreProvenance: new Map([...USUAL.receipt.scoreProvenance].toReversed()) }),
      says: "the score provenance is not that of the candidates",
    },
    {
      name: "with another score",
      built: withCandidate(0, { score: first.score + 1e-9 }),
      says: `the score is ${first.score + 1e-9}, replayed ${first.score}`,
    },
    {
      name: "with another rank of a search",
      built: withProvenance(0, (provenance) => ({
        ...provenance,
        fusion: { ...provenance.fusion!, semanticRank: 3 } as ScoreProvenance["fusion"],
      })),
      says: "the base score is",
    },
    {
      name: "with another decay of a neighbour",
      built: withProvenance(neighbour, (provenance) => ({
        ...provenance,
        adjustments: [{ ...provenance.adjustments[0]!, coefficient: 0.5 }],
      })),
      says: "a session decay that is not 0.6",
    },
    {
      name: "in another order",
      built: changed({
        candidates: USUAL.receipt.candidates.toReversed(),
        scoreProvenance: new Map([...USUAL.receipt.scoreProvenance].toReversed()),
      }),
      says: "stands too low for score_id",
    },
    {
      name: "with an older memory before the newer one",
      built: aged(1, 2),
      says: `stands before ${USUAL.receipt.candidates[2]?.nodeId}, which makes it outdated`,
    },
    {
      name: "with an older memory of which nobody knows what is newer",
      built: aged(1, -1),
      says: "newer_first without the other memory",
    },
    {
      name: "under another policy of ranking",
      built: withCandidate(
        last,
        { rerankerScore: 0.5 },
        changed({ rankingPolicy: "reranked_prefix" }),
      ),
      says: "stands too low for reranked_prefix",
    },
    {
      name: "with a score of the reranker beyond 1",
      built: withCandidate(0, { rerankerScore: 1.5 }),
      says: "the reranker's score is 1.5, not 0 to 1",
    },
    {
      name: "without a relevance",
      built: withCandidate(0, { semanticRelevance: undefined }),
      says: "the relevance is undefined",
    },
    {
      name: "with a relevance below the cosine",
      built: withCandidate(0, { semanticRelevance: 0.01 }),
      says: "the relevance is 0.01, below",
    },
    {
      name: "with a relevance below the floor",
      built: changed({ minScore: 0.99 }),
      says: "below 0.99",
    },
    {
      name: "with a floor that was skipped although relevances are known",
      built: changed({ minScore: 0.5, minScoreSkipped: true }),
      says: "the floor was skipped although a relevance is known",
    },
    {
      name: "with no floor that was skipped",
      built: changed({ minScoreSkipped: true }),
      says: "no floor, but it was skipped",
    },
    {
      name: "with a score of other fusion settings",
      built: changed({
        scoring: {
          ...USUAL.receipt.scoring,
          fusion: { kind: "rrf", k: 61, recencyBoost: 0.25, tieBreak: "event_time" },
        },
      }),
      says: "the score is of another fusion than the settings",
    },
    {
      name: "with a relevance of a weighted score",
      built: withCandidate(0, { semanticRelevance: 0.9 }, WEIGHTED),
      says: "a weighted score with a relevance",
    },
    {
      name: "with two recency times in one weighted retrieval",
      built: withProvenance(
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
      says: "the score is of another fusion than the settings",
    },
    {
      name: "of another version than its settings",
      built: changed({ schemaVersion: 19 }),
      says: "the version is 19, the settings are those of 22",
    },
    {
      name: "of version 21 without what it stands for",
      built: changed({
        schemaVersion: 21,
        packing: { ...USUAL.receipt.packing, foldRepeatedText: undefined },
      }),
      says: "the version is 21, the settings are those of 19",
    },
    {
      name: "of version 22 without a word on citations",
      built: changed({ packing: { ...USUAL.receipt.packing, contextCitations: undefined } }),
      says: "context_citations does not belong to the version",
    },
    {
      name: "with a rank fusion decay of weighted scores",
      built: changed(
        { packing: { ...WEIGHTED.receipt.packing, sessionContextRankFusionScoreDecay: 0.6 } },
        WEIGHTED,
      ),
      says: "session_context_rank_fusion_score_decay belongs to fused scores",
    },
    {
      name: "with folding outside of the reader format",
      built: changed({ packing: { ...USUAL.receipt.packing, contextFormat: "compact" } }),
      says: "fold_repeated_text belongs to the reader format",
    },
    {
      name: "with session packing without sessions",
      built: changed({
        packing: {
          ...USUAL.receipt.packing,
          sessionContextPacking: "adjacent",
          sessionContextTopK: 0,
        },
      }),
      says: "session_context_packing belongs to session expansion",
    },
    {
      name: "with a number that is none",
      built: withCandidate(0, { trace: { ...first.trace!, salience: Number.NaN } }),
      says: "trace.salience is NaN",
    },
    {
      name: "with a level outside of the context",
      built: withCandidate(last, { representation: "full" }),
      says: "a level stands exactly where a candidate is in the context",
    },
    {
      name: "with tokens outside of the context",
      built: withCandidate(last, { tokenCost: 5 }),
      says: "tokens outside of the context",
    },
    {
      name: "with content at a level without text",
      built: withCandidate(0, { representation: "reference" }),
      says: "content at a level without text",
    },
    {
      name: "beside a record of another context",
      built: { ...USUAL, record: { ...USUAL.record, context: USUAL.record.context.slice(1) } },
      says: "the context is not that of the candidates",
    },
    {
      name: "beside a record that gives no reason for a candidate",
      built: { ...USUAL, record: { ...USUAL.record, notPacked: USUAL.record.notPacked.slice(1) } },
      says: "not every candidate outside of the context has a reason",
    },
    {
      name: "beside a record with too few paths",
      built: { ...USUAL, record: { ...USUAL.record, paths: [] } },
      says: "the paths are not those of the candidates",
    },
  ];

  test.each([...cases])("$name", ({ built, says }) => {
    expect(receiptProblems(built).join("\n")).toContain(says);
  });
});
