import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  CONTEXT_FORMATS,
  GUIDANCE_MODES,
  MULTIPATH_ORDERINGS,
  type PackingSettings,
} from "../../../src/domain/records/retrieval-record.ts";
import { replayScore } from "../../../src/domain/score-replay.ts";
import type { Fusion, ScoringWeights } from "../../../src/domain/scoring.ts";
import { type EngineSettings, RERANKER_POLICIES } from "../../../src/engine/settings.ts";
import { sha256Hex } from "../../../src/lib/hashing.ts";
import type { LanguageModel, Reranker } from "../../../src/ports/models.ts";
import { at } from "../../contract/samples.ts";
import { DEFAULT_SETTINGS, fullReceipt, tokenizer, useEngines } from "../engines.ts";
import { fillWorld, linesOf, packing, withSettings } from "./pipeline-world.ts";

const { open } = useEngines({ upkeep: undefined });

const share = fc.constantFrom(0.1, 0.6, 0.85, 1);
const boost = fc.constantFrom(undefined, 0.05, 1, 4);
const tieBreak = fc.constantFrom(undefined, "event_time");

const fusion: fc.Arbitrary<Fusion> = fc.oneof(
  fc.record({ kind: fc.constant("weighted"), recencyTime: tieBreak }),
  fc.record({
    kind: fc.constant("rrf"),
    k: fc.constantFrom(1, 60, 10_000),
    recencyBoost: boost,
    tieBreak,
  }),
  fc.record({
    kind: fc.constant("relative"),
    semanticShare: fc.constantFrom(0, 0.65, 1),
    recencyBoost: boost,
    tieBreak,
  }),
  fc.record({
    kind: fc.constant("adaptive"),
    semanticShare: fc.constantFrom(0, 0.65, 1),
    fullCoverage: fc.constantFrom(0.01, 0.5, 1),
    recencyBoost: boost,
    tieBreak,
  }),
);

const NO_WEIGHT = { semantic: 0, lexical: 0, graph: 0, recency: 0, salience: 0, confidence: 0 };

/** The shares of a weighted score, also where one signal has everything. */
const shares: fc.Arbitrary<Partial<ScoringWeights>> = fc.constantFrom(
  {},
  ...Object.keys(NO_WEIGHT).map((name) => ({ ...NO_WEIGHT, [name]: 1 })),
);

/** Factors down to 0 and far beyond what anybody sets. */
const factors: fc.Arbitrary<Partial<ScoringWeights>> = fc.record({
  recencyLambda: fc.constantFrom(0, 0.02, 50),
  temporalBoost: fc.constantFrom(-1, 0, 0.15, 3),
  relevanceFloor: fc.constantFrom(0, 0.35, 2),
  currentUpdateMultiplier: fc.constantFrom(1, 1.3, 2),
  nodeTypeBoost: fc.constantFrom({}, { fact: 2, note: 0 }, DEFAULT_SETTINGS.scoring.nodeTypeBoost),
});

const epistemicWeights = fc.constantFrom(
  {},
  { asserted: 0 },
  { asserted: 0, observed: 0, hypothetical: 5 },
);

const groups = fc.constantFrom(0, 0, 1, 3);

const chosen: fc.Arbitrary<Partial<PackingSettings>> = fc.record({
  vectorK: fc.constantFrom(0, 1, 5, 50),
  lexicalK: fc.constantFrom(0, 1, 5, 50),
  graphMaxCandidates: fc.constantFrom(0, 1, 50),
  overheadTokens: fc.constantFrom(0, 100),
  contextFormat: fc.constantFrom(...CONTEXT_FORMATS),
  contextGuidanceMode: fc.constantFrom(...GUIDANCE_MODES),
  multipathOrdering: fc.constantFrom(...MULTIPATH_ORDERINGS),
  foldRepeatedText: fc.boolean(),
  crossScopeTopN: fc.constantFrom(0, 2),
  sessionContextWindow: fc.constantFrom(0, 1, 3),
  sessionContextTopK: fc.constantFrom(0, 1, 20),
  sessionContextScoreDecay: share,
  sessionContextRankFusionScoreDecay: fc.constantFrom(undefined, 0.3, 1),
  sessionContextPacking: fc.constantFrom(undefined, "trigger_tier", "adjacent"),
  episodeContextTopK: groups,
  episodeContextScoreDecay: share,
});

const evidence: fc.Arbitrary<Partial<PackingSettings>> = fc.oneof(
  fc.constant({}),
  fc.record({ evidenceProjectionTopK: groups, evidenceProjectionScoreDecay: share }),
  fc.record({
    evidenceAugmentationTopK: groups,
    evidenceAugmentationScoreDecay: share,
    evidenceAugmentationAnchorPolicy: fc.constantFrom("all", "non_entity"),
  }),
);

const models: fc.Arbitrary<Pick<EngineSettings, "reranker" | "reformulation">> = fc.record({
  reranker: fc.option(
    fc.record({
      model: fc.constant("m"),
      topK: fc.constantFrom(0, 1, 4, 100),
      policy: fc.constantFrom(...RERANKER_POLICIES),
      priorWeight: fc.constantFrom(0, 0.3, 1),
      timeoutMs: fc.constant(5000),
    }),
    { nil: undefined },
  ),
  reformulation: fc.option(
    fc.record({
      count: fc.constantFrom(1, 3),
      mergePolicy: fc.constantFrom("new_only", "max_signals"),
      timeoutMs: fc.constant(5000),
    }),
    { nil: undefined },
  ),
});

const request = fc.record({
  query: fc.constantFrom(
    "",
    "hotel",
    "Which hotel did Marta choose in Lisbon?",
    "What is the current hotel?",
    "How many hotels are there?",
    "when did we plan the trip, yesterday?",
    "Can you recommend a hotel?",
  ),
  scope: fc.constantFrom(undefined, "personal", "project"),
  retrievalMode: fc.constantFrom("default", "explicit"),
  knowledgeAt: fc.constantFrom(undefined, at(33)),
  limit: fc.constantFrom(undefined, 0, 1, 7),
  minScore: fc.constantFrom(undefined, 0, 0.2, 0.5, 3),
  maxPerSource: fc.constantFrom(undefined, 1),
  maxPerEvidence: fc.constantFrom(undefined, 1),
  referenceTime: fc.constantFrom(at(86_400), "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"),
  minFidelity: fc.constantFrom(undefined, "full", "structured", "reference"),
  tokenBudget: fc.constantFrom(0, 90, 200, 400, 4096),
});

const reranker: Reranker = {
  score: async (_, texts) => texts.map((text) => (text.length % 5) / 4),
  close: async () => {},
};
const languageModel: LanguageModel = {
  provider: "test",
  model: "m",
  answer: async () => ({ queries: ["river", "How many dogs?", "passport"] }),
};

test("every choice of settings and every request give an answer that can be replayed, within its budget", async () => {
  const opened = await open();
  await fillWorld(opened);
  const versions = new Set<number>();

  const choice = fc.record({
    fusion,
    shares,
    factors,
    chosen,
    evidence,
    models,
    request,
    epistemicWeights,
  });
  await fc.assert(
    fc.asyncProperty(choice, async ({ request: given, models: three, chosen: one, ...more }) => {
      const settings: Partial<EngineSettings> = {
        ...packing({ ...one, ...more.evidence }),
        ...three,
        epistemicWeights: more.epistemicWeights,
        scoring: {
          ...DEFAULT_SETTINGS.scoring,
          ...more.shares,
          ...more.factors,
          fusion: more.fusion,
        },
      };
      const engine = withSettings(opened, settings, {
        ...(three.reranker && { reranker }),
        ...(three.reformulation && { languageModel }),
      });

      const answer = await engine.retrieve({ ...given, userId: "ada" });
      const kept = await fullReceipt(engine, answer);
      const { results, bundle, metadata, excluded, filterMetadata } = answer;

      expect(opened.warnings).toEqual([]);
      expect(metadata.receiptPersisted).toBe(true);
      expect(kept.receipt.contextSha256).toBe(sha256Hex(bundle.renderedContext));
      for (const { node, compositeScore } of results) {
        expect(Number.isFinite(compositeScore)).toBe(true);
        const provenance = kept.receipt.scoreProvenance.get(node.id);
        expect(provenance && replayScore(provenance)).toBe(compositeScore);
      }
      const available = Math.max(0, given.tokenBudget - (one.overheadTokens ?? 100));
      expect(tokenizer.count(bundle.renderedContext)).toBe(bundle.tokensUsed);
      expect(bundle.tokensUsed).toBeWithin(0, available + 1);
      expect(linesOf(bundle.renderedContext).records).toHaveLength(bundle.includedCount);
      expect(bundle.includedCount + bundle.excludedIds.length).toBe(results.length);
      const reasons = excluded.map(({ nodeId }) => nodeId);
      expect(new Set([...reasons, ...results.map(({ node }) => node.id)]).size).toBe(
        reasons.length + results.length,
      );
      expect(metadata.candidatesFiltered).toBe(excluded.length);
      expect(filterMetadata.retrievalMode).toBe(given.retrievalMode as never);
      versions.add(kept.receipt.schemaVersion);
    }),
    { numRuns: 60 },
  );
  expect(versions.size).toBeGreaterThan(4);
});
