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
      built: aReceipt({ seed: 9, found: 30, neighbours: 20, weights: ADAPTIVE_FUSION }),
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
  const sourceNodeId = USUAL.receipt.candidates[newer]?.nodeId;
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

  test.each<[string, BuiltReceipt, string]>([
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
      "beside a record of another context",
      { ...USUAL, record: { ...USUAL.record, context: USUAL.record.context.slice(1) } },
      "the context is not that of the candidates",
    ],
  ])("%s", (_name, built, says) => {
    expect(receiptProblems(built).join("\n")).toContain(says);
  });
});
