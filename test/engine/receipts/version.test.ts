import { describe, expect, test } from "bun:test";
import type { PackingSettings } from "../../../src/domain/records/retrieval-record.ts";
import type { Fusion } from "../../../src/domain/scoring.ts";
import { buildReceipt } from "../../../src/engine/receipts/build.ts";
import { WEIGHTS } from "../retrieve/pool.ts";
import { aRetrieval, SURROUNDINGS } from "./retrievals.ts";

const WEIGHTED: Fusion = { kind: "weighted", recencyTime: undefined };
const BARE_RANKS: Fusion = { kind: "rrf", k: 60, recencyBoost: undefined, tieBreak: undefined };
const RANKS: Fusion = { kind: "rrf", k: 60, recencyBoost: 0.25, tieBreak: "event_time" };
const RELATIVE: Fusion = {
  kind: "relative",
  semanticShare: 0.6,
  recencyBoost: 0.25,
  tieBreak: "event_time",
};
const ADAPTIVE: Fusion = {
  kind: "adaptive",
  semanticShare: 0.65,
  fullCoverage: 0.5,
  recencyBoost: undefined,
  tieBreak: undefined,
};
const UNFOLDED: Partial<PackingSettings> = {
  foldRepeatedText: false,
  sessionContextRankFusionScoreDecay: undefined,
};

type Case = {
  readonly name: string;
  readonly version: number;
  readonly fusion: Fusion;
  readonly packing?: Partial<PackingSettings>;
  readonly skipped?: true;
  readonly policy?: "legacy" | "score_envelope";
};

const CASES: readonly Case[] = [
  { name: "a fresh installation", version: 22, fusion: RANKS },
  {
    name: "text that is not folded",
    version: 19,
    fusion: RANKS,
    packing: { foldRepeatedText: false },
  },
  {
    name: "the compact format, which folds nothing",
    version: 19,
    fusion: RANKS,
    packing: { contextFormat: "compact" },
  },
  {
    name: "the auditable format",
    version: 19,
    fusion: RANKS,
    packing: { contextFormat: "auditable" },
  },
  {
    name: "a tie-break alone",
    version: 19,
    fusion: { ...RANKS, recencyBoost: undefined },
    packing: UNFOLDED,
  },
  {
    name: "a recency boost alone",
    version: 19,
    fusion: { ...RANKS, tieBreak: undefined },
    packing: UNFOLDED,
  },
  { name: "bare rank fusion", version: 16, fusion: BARE_RANKS, packing: UNFOLDED },
  {
    name: "rank fusion with its own session decay",
    version: 17,
    fusion: BARE_RANKS,
    packing: { foldRepeatedText: false },
  },
  {
    name: "a floor that was skipped",
    version: 18,
    fusion: BARE_RANKS,
    packing: { foldRepeatedText: false },
    skipped: true,
  },
  { name: "weighted, reader", version: 14, fusion: WEIGHTED, packing: { foldRepeatedText: false } },
  {
    name: "weighted, auditable",
    version: 12,
    fusion: WEIGHTED,
    packing: { contextFormat: "auditable" },
  },
  {
    name: "weighted, compact",
    version: 12,
    fusion: WEIGHTED,
    packing: { contextFormat: "compact" },
  },
  {
    name: "weighted, compact, legacy reranker",
    version: 12,
    fusion: WEIGHTED,
    packing: { contextFormat: "compact" },
    policy: "legacy",
  },
  {
    name: "weighted, compact, envelope reranker",
    version: 13,
    fusion: WEIGHTED,
    packing: { contextFormat: "compact" },
    policy: "score_envelope",
  },
  {
    name: "weighted by stated times",
    version: 20,
    fusion: { kind: "weighted", recencyTime: "event_time" },
    packing: { foldRepeatedText: false },
  },
  {
    name: "neighbours packed with what brought them",
    version: 21,
    fusion: RANKS,
    packing: { foldRepeatedText: false, sessionContextPacking: "adjacent" },
  },
  {
    name: "neighbours packed so, without a window",
    version: 19,
    fusion: RANKS,
    packing: {
      foldRepeatedText: false,
      sessionContextPacking: "adjacent",
      sessionContextWindow: 0,
    },
  },
  {
    name: "folded text over session packing",
    version: 22,
    fusion: RANKS,
    packing: { sessionContextPacking: "adjacent" },
  },
  { name: "relative fusion", version: 23, fusion: RELATIVE },
  {
    name: "relative fusion without anything else",
    version: 23,
    fusion: { ...RELATIVE, recencyBoost: undefined, tieBreak: undefined },
    packing: UNFOLDED,
  },
  { name: "adaptive fusion", version: 25, fusion: ADAPTIVE },
];

function receiptOf({ fusion, packing = {}, skipped, policy }: Case) {
  const material = aRetrieval({
    seed: 1,
    found: 0,
    neighbours: 0,
    weights: { ...WEIGHTS, fusion },
    packing,
  });
  const metadata = skipped
    ? { ...material.metadata, minScore: 0.5, minScoreSkipped: true }
    : material.metadata;
  const reranker = policy && { model: "m", topK: 10, policy, priorWeight: 0.3, timeoutMs: 100 };
  const settings = { ...SURROUNDINGS.settings, reranker };
  return buildReceipt({ ...material, metadata }, { ...SURROUNDINGS, settings }).receipt;
}

describe("the version of a receipt", () => {
  test.each([...CASES])("is $version for $name", (given) => {
    expect(receiptOf(given).schemaVersion).toBe(given.version);
  });
});

describe("the settings in a receipt", () => {
  test.each([
    { version: 12, states: undefined },
    { version: 13, states: undefined },
    { version: 14, states: false },
    { version: 22, states: false },
    { version: 23, states: false },
  ])("of version $version state citations as $states", ({ version, states }) => {
    const given = CASES.find((one) => one.version === version)!;
    expect(receiptOf(given).packing.contextCitations).toBe(states);
  });

  test("leave out what has no effect", () => {
    const weighted = receiptOf({ name: "", version: 14, fusion: WEIGHTED });
    expect(weighted.packing.sessionContextRankFusionScoreDecay).toBeUndefined();
    const compact = receiptOf({
      name: "",
      version: 19,
      fusion: RANKS,
      packing: { contextFormat: "compact" },
    });
    expect(compact.packing.foldRepeatedText).toBeUndefined();
    expect(compact.packing.sessionContextRankFusionScoreDecay).toBe(0.6);
  });
});
