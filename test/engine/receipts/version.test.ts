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
  readonly packing?: Partial<PackingSettings> | undefined;
  readonly skipped?: true | undefined;
  readonly policy?: "legacy" | "score_envelope" | undefined;
};

const CASES = (
  [
    ["a fresh installation", 22, RANKS],
    ["text that is not folded", 19, RANKS, { foldRepeatedText: false }],
    ["the compact format, which folds nothing", 19, RANKS, { contextFormat: "compact" }],
    ["the auditable format", 19, RANKS, { contextFormat: "auditable" }],
    ["a tie-break alone", 19, { ...RANKS, recencyBoost: undefined }, UNFOLDED],
    ["a recency boost alone", 19, { ...RANKS, tieBreak: undefined }, UNFOLDED],
    ["bare rank fusion", 16, BARE_RANKS, UNFOLDED],
    ["rank fusion with its own session decay", 17, BARE_RANKS, { foldRepeatedText: false }],
    ["a floor that was skipped", 18, BARE_RANKS, { foldRepeatedText: false }, true],
    ["weighted, reader", 14, WEIGHTED, { foldRepeatedText: false }],
    ["weighted, auditable", 12, WEIGHTED, { contextFormat: "auditable" }],
    ["weighted, compact", 12, WEIGHTED, { contextFormat: "compact" }],
    [
      "weighted, compact, legacy reranker",
      12,
      WEIGHTED,
      { contextFormat: "compact" },
      undefined,
      "legacy",
    ],
    [
      "weighted, compact, envelope reranker",
      13,
      WEIGHTED,
      { contextFormat: "compact" },
      undefined,
      "score_envelope",
    ],
    [
      "weighted by stated times",
      20,
      { kind: "weighted", recencyTime: "event_time" },
      { foldRepeatedText: false },
    ],
    [
      "neighbours packed with what brought them",
      21,
      RANKS,
      { foldRepeatedText: false, sessionContextPacking: "adjacent" },
    ],
    [
      "neighbours packed so, without a window",
      19,
      RANKS,
      {
        foldRepeatedText: false,
        sessionContextPacking: "adjacent",
        sessionContextWindow: 0,
      },
    ],
    ["folded text over session packing", 22, RANKS, { sessionContextPacking: "adjacent" }],
    ["relative fusion", 23, RELATIVE],
    [
      "relative fusion without anything else",
      23,
      { ...RELATIVE, recencyBoost: undefined, tieBreak: undefined },
      UNFOLDED,
    ],
    ["adaptive fusion", 25, ADAPTIVE],
  ] as readonly (readonly [
    name: Case["name"],
    version: Case["version"],
    fusion: Case["fusion"],
    packing?: Case["packing"],
    skipped?: Case["skipped"],
    policy?: Case["policy"],
  ])[]
).map(([name, version, fusion, packing, skipped, policy]) => ({
  name,
  version,
  fusion,
  packing,
  skipped,
  policy,
}));

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
