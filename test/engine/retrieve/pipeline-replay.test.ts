import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { RankingPolicy } from "../../../src/domain/records/receipt.ts";
import type { PackingSettings } from "../../../src/domain/records/retrieval-record.ts";
import type { ScoreProvenance } from "../../../src/domain/records/score.ts";
import { replayScore, scoreParts } from "../../../src/domain/score-replay.ts";
import type { Fusion } from "../../../src/domain/scoring.ts";
import { rankingOrder } from "../../../src/engine/receipts/validate.ts";
import type { RetrieveInput } from "../../../src/engine/retrieve/api.ts";
import type { EngineSettings } from "../../../src/engine/settings.ts";
import { sha256Hex } from "../../../src/lib/hashing.ts";
import type { LanguageModel, Reranker } from "../../../src/ports/models.ts";
import {
  DEFAULT_SETTINGS,
  engines,
  type FullKept,
  fullReceipt,
  type OpenedEngine,
} from "../engines.ts";
import { ask, fillWorld, packing, withSettings } from "./pipeline-world.ts";

const { open, close } = engines({ upkeep: undefined });
afterAll(close);

const FUSIONS: readonly Fusion[] = [
  { kind: "rrf", k: 60, recencyBoost: 0.05, tieBreak: "event_time" },
  { kind: "rrf", k: 3, recencyBoost: undefined, tieBreak: undefined },
  { kind: "weighted", recencyTime: undefined },
  { kind: "weighted", recencyTime: "event_time" },
  { kind: "relative", semanticShare: 0.65, recencyBoost: 0.05, tieBreak: "event_time" },
  { kind: "relative", semanticShare: 0.2, recencyBoost: undefined, tieBreak: undefined },
  {
    kind: "adaptive",
    semanticShare: 0.65,
    fullCoverage: 0.5,
    recencyBoost: 0.05,
    tieBreak: "event_time",
  },
];

/** Longer texts answer better; equal ones are told apart by a letter. */
const reranker: Reranker = {
  score: async (_, texts) => texts.map((text) => (text.length % 37) / 37),
  close: async () => {},
};

const languageModel: LanguageModel = {
  provider: "test",
  model: "rewords",
  answer: async () => ({ queries: ["dogs in the hotel", "river", "passport"] }),
};

/** What a setting or a question adds to the plain case, and how to see in the receipt that it took part. */
type Feature = {
  readonly name: string;
  readonly query: string;
  readonly ask?: Partial<RetrieveInput>;
  readonly packing?: Partial<PackingSettings>;
  readonly settings?: Partial<EngineSettings>;
  readonly shows: (kept: FullKept) => boolean;
};

const pathed = (path: string) => (kept: FullKept) =>
  kept.record.paths.flat().some((one) => one === path);
const adjustedBy = (kind: string) => (kept: FullKept) =>
  [...kept.receipt.scoreProvenance.values()].some(({ adjustments }) =>
    adjustments.some((step) => step.kind === kind),
  );
const policy = (wanted: RankingPolicy) => (kept: FullKept) => kept.receipt.rankingPolicy === wanted;

const NO_SESSIONS = { sessionContextWindow: 0 } as const;
const RERANKER = { model: "m", topK: 6, priorWeight: 0.3, timeoutMs: 5000 } as const;

const FEATURES: readonly Feature[] = [
  {
    name: "a plain question",
    query: "hotel near the river",
    packing: NO_SESSIONS,
    shows: policy("score_path_id"),
  },
  {
    name: "session expansion",
    query: "hotel near the river",
    packing: { vectorK: 3, lexicalK: 3 },
    shows: adjustedBy("session_decay"),
  },
  {
    name: "session expansion that stands beside its trigger",
    query: "hotel near the river",
    packing: { vectorK: 3, lexicalK: 3, sessionContextPacking: "adjacent" },
    shows: adjustedBy("session_decay"),
  },
  {
    name: "a question about the present",
    query: "What is the current hotel in Lisbon?",
    shows: adjustedBy("current_update"),
  },
  {
    name: "a question that names a time",
    query: "when did the hotel change, yesterday?",
    shows: (kept) =>
      kept.record.intent === "temporal" &&
      [...kept.receipt.scoreProvenance.values()].some(({ trace }) => trace.temporalAffinity > 0),
  },
  { name: "pinned memories", query: "hotel", shows: pathed("PINNED") },
  { name: "a walk over edges", query: "Who knows Lisbon?", shows: pathed("GRAPH") },
  {
    name: "a count",
    query: "How many hotels are there?",
    shows: (kept) => kept.receipt.execution.parameters.aggregationCoverage !== undefined,
  },
  {
    name: "episodes",
    query: "hotel river breakfast",
    packing: { ...NO_SESSIONS, episodeContextTopK: 1, episodeContextLocalK: 6 },
    shows: adjustedBy("episode_decay"),
  },
  {
    name: "the sources of claims in their place",
    query: "breakfast",
    packing: { ...NO_SESSIONS, evidenceProjectionTopK: 2, evidenceProjectionScoreDecay: 0.9 },
    shows: adjustedBy("evidence_projection"),
  },
  {
    name: "the sources of claims beside them",
    query: "the hotel serves",
    packing: { ...NO_SESSIONS, evidenceAugmentationTopK: 2 },
    shows: adjustedBy("evidence_augmentation"),
  },
  ...(["legacy", "score_envelope", "anchored_score_envelope"] as const).map(
    (name): Feature => ({
      name: `the reranker policy ${name}`,
      query: "hotel near the river",
      packing: NO_SESSIONS,
      settings: { reranker: { ...RERANKER, policy: name } },
      shows: policy("reranked_prefix"),
    }),
  ),
  {
    name: "a reranker and session expansion",
    query: "hotel near the river",
    packing: { vectorK: 3, lexicalK: 3 },
    settings: { reranker: { ...RERANKER, topK: 2, policy: "legacy" } },
    shows: (kept) => adjustedBy("session_decay")(kept) && adjustedBy("neural_blend")(kept),
  },
  ...(["new_only", "max_signals"] as const).map(
    (mergePolicy): Feature => ({
      name: `other wordings joined by ${mergePolicy}`,
      query: "Friday",
      packing: { ...NO_SESSIONS, vectorK: 2, lexicalK: 2 },
      settings: { reformulation: { count: 3, mergePolicy, timeoutMs: 5000 } },
      shows: (kept) => (kept.record.candidatesGenerated["REFORMULATION"] ?? 0) > 0,
    }),
  ),
  {
    name: "everything at once",
    query: "What is the current hotel in Lisbon?",
    ask: { scope: ["personal", "project"], limit: 9, maxPerEvidence: 1 },
    packing: {
      vectorK: 5,
      lexicalK: 5,
      episodeContextTopK: 1,
      sessionContextPacking: "trigger_tier",
    },
    settings: {
      reranker: { ...RERANKER, policy: "score_envelope" },
      reformulation: { count: 2, mergePolicy: "new_only", timeoutMs: 5000 },
    },
    shows: adjustedBy("neural_rank_assignment"),
  },
];

/** Asks, reads the receipt and computes its scores and its order again. */
async function replay(opened: OpenedEngine, feature: Feature): Promise<FullKept> {
  const answer = await ask(opened.engine, feature.query, feature.ask);
  const { results, bundle, metadata } = answer;
  const kept = await fullReceipt(opened.engine, answer);
  const { receipt, text, checksum } = kept;

  expect(results.length).toBeGreaterThan(2);
  expect(metadata.receiptPersisted).toBe(true);
  expect(receipt.candidates.map(({ nodeId }) => nodeId)).toEqual(
    results.map(({ node }) => node.id),
  );
  expect(
    receipt.candidates.map(({ nodeId }) => replayed(receipt.scoreProvenance.get(nodeId))),
  ).toEqual(results.map(({ compositeScore }) => compositeScore));
  const order = rankingOrder(receipt.rankingPolicy);
  expect([...receipt.candidates].reverse().sort(order)).toEqual([...receipt.candidates]);
  expect(receipt.contextSha256).toBe(sha256Hex(bundle.renderedContext));
  expect(checksum).toBe(sha256Hex(text));
  return kept;
}

/** The score again, which its parts add up to with every step; the last step is it, bit for bit. */
function replayed(provenance: ScoreProvenance | undefined): number | undefined {
  if (provenance === undefined) return undefined;
  const { parts, steps, score } = scoreParts(provenance);
  const sum = parts.reduce((total, { amount }) => total + amount, 0);
  const all = steps.reduce((total, { change }) => total + change, sum);
  expect(Math.abs(all - score)).toBeLessThan(1e-12 * Math.max(1, sum));
  expect(steps.at(-1)?.score ?? sum).toBe(score);
  let before = sum;
  for (const { score: after, change, factor } of steps) {
    expect(after - before).toBe(change);
    if (factor !== undefined) expect(after).toBe(before * factor);
    before = after;
  }
  expect(score).toBe(replayScore(provenance));
  return score;
}

describe("a receipt computes scores and order again, whatever the fusion", () => {
  let opened: OpenedEngine;
  beforeAll(async () => {
    opened = await open();
    await fillWorld(opened);
  });

  test.each(FEATURES)("for $name", async (feature) => {
    for (const fusion of FUSIONS) {
      const engine = withSettings(
        opened,
        {
          ...packing(feature.packing ?? {}),
          scoring: { ...DEFAULT_SETTINGS.scoring, fusion },
          ...feature.settings,
        },
        {
          ...(feature.settings?.reranker && { reranker }),
          ...(feature.settings?.reformulation && { languageModel }),
        },
      );

      const kept = await replay({ ...opened, engine }, feature);

      expect(kept.receipt.scoring.fusion).toEqual(fusion);
      expect([fusion.kind, feature.shows(kept)]).toEqual([fusion.kind, true]);
    }
  });
});
