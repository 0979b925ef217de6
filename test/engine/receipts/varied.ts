import { NODE_TYPES, SCOPES, SOURCE_TYPES } from "../../../src/domain/enums.ts";
import type { RankingPolicy } from "../../../src/domain/records/receipt.ts";
import {
  CONTEXT_FORMATS,
  SECTION_NAMES,
  type SectionName,
} from "../../../src/domain/records/retrieval-record.ts";
import type { Fusion } from "../../../src/domain/scoring.ts";
import type { ReceiptMaterial } from "../../../src/engine/receipts/api.ts";
import type { ReceiptSurroundings } from "../../../src/engine/receipts/build.ts";
import { type BuiltReceipt, buildReceipt } from "../../../src/engine/receipts/build.ts";
import type {
  Exclusion,
  MemoryBundle,
  PackedRecord,
  ResultCandidate,
} from "../../../src/engine/retrieve/api.ts";
import {
  adjusted,
  adjustment,
  byScore,
  byScoreThenPath,
} from "../../../src/engine/retrieve/score/score.ts";
import { asUuid, type Uuid } from "../../../src/lib/uuid.ts";
import { at } from "../../contract/samples.ts";
import { nodeKey } from "../../node-keys.ts";
import { WEIGHTS } from "../retrieve/pool.ts";
import { aRetrieval, bundleOf, type Chance, chanceOf, SURROUNDINGS } from "./retrievals.ts";

/** A valid receipt of which every part may differ from the usual, decided by the seed. */
export function variedReceipt(seed: number): BuiltReceipt {
  const chance = chanceOf(seed);
  return buildReceipt(variedRetrieval(chance, seed), variedSurroundings(chance));
}

const likely = (chance: Chance, share: number): boolean => chance.unit() < share;
const oneOf = <T>(chance: Chance, items: readonly T[]): T =>
  items[chance.whole(0, items.length - 1)]!;
const maybe = <T>(chance: Chance, value: T): T | undefined =>
  likely(chance, 0.4) ? value : undefined;

function variedFusion(chance: Chance): Fusion {
  const recencyBoost = maybe(chance, 0.25);
  const tieBreak = maybe(chance, "event_time" as const);
  switch (chance.whole(0, 2)) {
    case 0:
      return { kind: "weighted", recencyTime: maybe(chance, "event_time" as const) };
    case 1:
      return { kind: "rrf", k: oneOf(chance, [60, 1, 10_000]), recencyBoost, tieBreak };
    default:
      return { kind: "relative", semanticShare: chance.unit(), recencyBoost, tieBreak };
  }
}

function variedRetrieval(chance: Chance, seed: number): ReceiptMaterial {
  const fusion = variedFusion(chance);
  const usual = aRetrieval({
    seed,
    found: chance.whole(0, 12),
    neighbours: 0,
    weights: {
      ...WEIGHTS,
      temporalBoost: oneOf(chance, [0.15, 0, chance.unit()]),
      nodeTypeBoost: oneOf(chance, [WEIGHTS.nodeTypeBoost, {}, { note: 0 }]),
      fusion,
    },
    query: oneOf(chance, [
      "",
      "What is the current API region?",
      'Naïve "quotes" \u2028 😀\n\\',
      "﻿when?",
    ]),
    intent: oneOf(chance, ["temporal", "factual"] as const),
    packing: {
      contextFormat: oneOf(chance, CONTEXT_FORMATS),
      contextCitations: likely(chance, 0.2),
      foldRepeatedText: likely(chance, 0.5),
      tokenBudget: oneOf(chance, [0, 4096, 10_000_000]),
      sessionContextPacking: maybe(chance, "trigger_tier" as const),
      sessionContextWindow: oneOf(chance, [0, 3]),
      sessionContextRankFusionScoreDecay: maybe(chance, 0.6),
    },
  });
  const { results: ordered, policy } = reordered(chance, inherited(chance, usual), usual);
  const results = aged(chance, ordered);
  const bundle = variedBundle(chance, results, usual);
  const { excluded, folded } = variedExclusions(chance, usual, bundle);
  const minScore = maybe(chance, 0);
  return {
    ...usual,
    userId: oneOf(chance, ["_cli", "Zoë 東京", "x".repeat(300)]),
    results,
    bundle: { ...bundle, folded },
    excluded,
    rankingPolicy: policy,
    filter: {
      ...usual.filter,
      scopes: maybe(chance, [oneOf(chance, SCOPES)]),
      excludeNodeTypes: maybe(chance, [oneOf(chance, NODE_TYPES), "fact"]),
      sourceTypes: oneOf(chance, [undefined, [], [oneOf(chance, SOURCE_TYPES)]]),
      timeFrom: maybe(chance, at(chance.whole(0, 1e6))),
      eventTimeTo: maybe(chance, at(-5e10)),
    },
    queryTimeFrom: maybe(chance, at(chance.unit() * 1e6)),
    retrievalMode: oneOf(chance, ["default", "explicit"] as const),
    includeCrossScope: likely(chance, 0.5),
    crossScopeHintCount: chance.whole(0, 9),
    temporalRelation: maybe(chance, { status: "accepted", value: ["2 days", 1.5, null] }),
    metadata: {
      ...usual.metadata,
      minScore,
      resultLimit: maybe(chance, chance.whole(0, 50)),
      maxPerSource: maybe(chance, 1),
      backendFailures: oneOf(chance, [{}, { VECTOR: "backend_error", LEXICAL: "backend_error" }]),
      embeddingMismatch: likely(chance, 0.2),
      reranker: oneOf(chance, [undefined, "applied", "timeout", "failed"] as const),
      aggregationCoverage: maybe(chance, {
        status: "context_limited" as const,
        exhaustive: false as const,
        candidateCount: 9,
        selectedCount: 8,
        contextCount: 7,
        limitations: ["semantic_matching", "token_budget"] as const,
        candidateLimitPaths: ["VECTOR"],
      }),
      historicalCoverage: maybe(chance, {
        knowledgeAt: at(5),
        semantics: "ingestion_cutoff" as const,
        exactSnapshot: false as const,
        limitations: [
          "current_lifecycle_state",
          "current_derived_indexes",
          "mutations_not_replayed",
        ] as const,
      }),
    },
  };
}

/** Results of which some have their score from others, or an id that tells no time. */
function inherited(
  chance: Chance,
  { results, scoring, packing }: ReceiptMaterial,
): ResultCandidate[] {
  const own =
    scoring.fusion.kind === "weighted" ? undefined : packing.sessionContextRankFusionScoreDecay;
  return results.flatMap((trigger, index): ResultCandidate[] => {
    if (likely(chance, 0.5)) return [trigger];
    const kind = oneOf(chance, [
      "session_decay",
      "episode_decay",
      "evidence_augmentation",
    ] as const);
    const coefficient = kind === "session_decay" ? (own ?? 0.85) : chance.unit() / 2 + 0.1;
    const source = oneOf(chance, [trigger.node.id, strangeId(chance), undefined]);
    const step = adjustment(kind, coefficient, { sourceNodeId: source });
    const node = { ...trigger.node, id: strangeId(chance) };
    return [
      trigger,
      {
        ...trigger,
        ...adjusted(trigger, step),
        key: nodeKey(1000 + index),
        node,
        paths: ["VECTOR", "SESSION_CONTEXT"],
        trace: likely(chance, 0.5) ? undefined : { ...trigger.provenance.trace, confidence: 0.25 },
        semanticRelevance: likely(chance, 0.5) ? trigger.semanticRelevance : 1,
      },
    ];
  });
}

function strangeId(chance: Chance): Uuid {
  const hex = () =>
    chance
      .whole(0, 2 ** 32 - 1)
      .toString(16)
      .padStart(8, "0");
  const digits = hex() + hex() + hex() + hex();
  const version = likely(chance, 0.7) ? "7" : "5";
  return asUuid(
    `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${version}${digits.slice(13, 16)}-a${digits.slice(17, 20)}-${digits.slice(20)}`,
  );
}

function reordered(
  chance: Chance,
  results: readonly ResultCandidate[],
  { results: usual }: ReceiptMaterial,
): { readonly results: readonly ResultCandidate[]; readonly policy: RankingPolicy } {
  if (likely(chance, 0.4)) return { results: results.toSorted(byScore), policy: "score_id" };
  const scored = usual.toSorted(byScoreThenPath);
  const size = chance.whole(0, scored.length);
  const blended = scored.slice(0, size).map((candidate): ResultCandidate => {
    const neuralScore = chance.unit();
    const step = adjustment("neural_blend", 0.3, { neuralScore });
    return { ...candidate, ...adjusted(candidate, step), rerankerScore: neuralScore };
  });
  if (size === 0) return { results: scored, policy: "score_path_id" };
  return { results: [...blended.sort(byScore), ...scored.slice(size)], policy: "reranked_prefix" };
}

/** The last one perhaps made outdated by the first one. */
function aged(chance: Chance, results: readonly ResultCandidate[]): readonly ResultCandidate[] {
  const [newer, older] = [results[0], results.at(-1)];
  if (newer === undefined || older === undefined || newer === older || likely(chance, 0.7)) {
    return results;
  }
  // From 0 a step raises it, above a newer one that has 0 itself.
  if (older.compositeScore === 0) return results;
  const step = adjustment("newer_first", 1 - 1e-9, { sourceNodeId: newer.node.id });
  return [...results.slice(0, -1), { ...older, ...adjusted(older, step) }];
}

function variedBundle(
  chance: Chance,
  results: readonly ResultCandidate[],
  { packing }: ReceiptMaterial,
): MemoryBundle {
  const bundle = bundleOf(chance, results, packing, chance.whole(0, results.length));
  const sections = new Map<SectionName, PackedRecord[]>();
  for (const record of [...bundle.sections.values()].flat()) {
    const section = oneOf(chance, SECTION_NAMES);
    const representation = oneOf(chance, ["full", "structured", "key_value", "reference"] as const);
    sections.set(section, [...(sections.get(section) ?? []), { ...record, representation }]);
  }
  return { ...bundle, sections };
}

function variedExclusions(
  chance: Chance,
  { scoring }: ReceiptMaterial,
  bundle: MemoryBundle,
): { readonly excluded: readonly Exclusion[]; readonly folded: ReadonlyMap<Uuid, Uuid> } {
  const filtered = Array.from({ length: chance.whole(0, 3) }, () => ({
    nodeId: strangeId(chance),
    reason: oneOf(chance, ["epistemic_filtered:hypothetical", "node_type_filtered:note"]),
    compositeScore: undefined,
  }));
  const selected = Array.from({ length: chance.whole(0, 3) }, () => ({
    nodeId: strangeId(chance),
    reason: oneOf(chance, ["result_limit", "below_threshold"]),
    compositeScore: chance.unit(),
    semanticRelevance: scoring.fusion.kind === "weighted" ? undefined : chance.unit(),
  }));
  const holder = [...bundle.sections.values()].flat()[0]?.candidate.node.id;
  const folded = bundle.excludedIds.slice(0, chance.whole(0, 2));
  return {
    excluded: [...filtered, ...selected],
    folded: new Map(holder === undefined ? [] : folded.map((id) => [id, holder])),
  };
}

function variedSurroundings(chance: Chance): ReceiptSurroundings {
  return {
    ...SURROUNDINGS,
    settings: {
      ...SURROUNDINGS.settings,
      epistemicWeights: oneOf(chance, [SURROUNDINGS.settings.epistemicWeights, { observed: 2 }]),
      queryIntentOrder: oneOf(chance, ["entity_first", "temporal_first"] as const),
      temporalLanguages: oneOf(chance, [["en"], [], ["de", "en"]]),
      reformulation: maybe(chance, { count: 2, mergePolicy: "max_signals" as const, timeoutMs: 9 }),
    },
    languageModel: maybe(chance, { provider: "local", model: "m" }),
    features: oneOf(chance, [SURROUNDINGS.features, {}, { "naïve key": '"' }]),
  };
}
