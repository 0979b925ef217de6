import { describe, expect, test } from "bun:test";
import {
  type ConditionState,
  EPISTEMIC_TYPES,
  type EpistemicType,
  NODE_TYPES,
  ROLES,
  SOURCE_TYPES,
} from "../../src/domain/enums.ts";
import {
  conditionState,
  EPISTEMIC_WEIGHTS,
  epistemicExclusion,
  epistemicWeight,
  inferEpistemicType,
  inferSourceType,
  initialConfidence,
  initialDecayProfile,
  matrixConfidence,
} from "../../src/domain/epistemics.ts";
import type { MemoryNode } from "../../src/domain/node.ts";
import { uuidV7 } from "../../src/lib/hashing.ts";
import { fromEpochMicros } from "../../src/lib/instant.ts";
import type { JsonObject } from "../../src/lib/json.ts";

/** Columns: user_stated, user_demonstrated, system_inferred, external_document, tool_output; null has no cell. */
const MATRIX: Readonly<Record<EpistemicType, readonly (number | null)[]>> = {
  observed: [0.9, 0.85, 0.7, 0.75, 0.8],
  asserted: [0.8, 0.75, 0.6, 0.65, 0.7],
  inferred: [null, 0.6, 0.55, 0.5, 0.55],
  hypothetical: [0.35, null, 0.25, 0.3, null],
  conditional: [0.45, null, 0.3, 0.35, 0.4],
  unverified: [null, null, 0.2, 0.25, 0.3],
  deprecated: [null, null, null, null, null],
};
const CELLS = EPISTEMIC_TYPES.flatMap((epistemic) =>
  SOURCE_TYPES.map((source, column) => ({
    epistemic,
    source,
    cell: MATRIX[epistemic][column] ?? null,
  })),
);

function node(epistemicType: EpistemicType, metadata?: JsonObject): MemoryNode {
  const at = fromEpochMicros(1_700_000_000_000_000);
  return {
    id: uuidV7(),
    userId: "alice",
    sessionId: undefined,
    nodeType: "note",
    content: "text",
    lifecycleState: "tentative",
    confidence: 0.8,
    salience: 0.5,
    confidenceBase: 0.8,
    salienceBase: 0.5,
    reinforcementBoost: 0,
    lastReinforcedAt: at,
    decayProfile: "medium",
    epistemicType,
    sourceType: "user_stated",
    scope: "personal",
    metadata,
    createdAt: at,
    updatedAt: at,
    eventTime: undefined,
    validFrom: at,
    validTo: undefined,
    ttlDays: undefined,
    supersededBy: undefined,
    evidenceRefs: [],
    pinned: false,
  };
}

describe("the confidence matrix", () => {
  test.each(CELLS)("$epistemic from $source is $cell", ({ epistemic, source, cell }) => {
    expect(matrixConfidence(epistemic, source, {})).toEqual(
      cell === null ? { value: 0.5, listed: false } : { value: cell, listed: true },
    );
  });

  test.each(CELLS)(
    "an override replaces $epistemic from $source alone",
    ({ epistemic, source }) => {
      const overrides = { [`${epistemic}:${source}`]: 0 };
      const changed = CELLS.filter(
        (pair) => matrixConfidence(pair.epistemic, pair.source, overrides).value === 0,
      );
      expect(changed.map((pair) => [pair.epistemic, pair.source])).toEqual([[epistemic, source]]);
      expect(matrixConfidence(epistemic, source, overrides).listed).toBe(true);
    },
  );
});

describe("a direct store without explicit values", () => {
  test("assistants and systems infer, whatever the node type", () => {
    const inferred = (["assistant", "system"] as const).flatMap((role) =>
      NODE_TYPES.map((nodeType) => inferEpistemicType(role, nodeType)),
    );
    expect(new Set(inferred)).toEqual(new Set(["inferred"]));
  });

  test("each role has one source type", () => {
    expect(Object.fromEntries(ROLES.map((role) => [role, inferSourceType(role)]))).toEqual({
      user: "user_stated",
      human: "user_stated",
      participant: "user_stated",
      assistant: "system_inferred",
      tool: "tool_output",
      system: "system_inferred",
    });
  });
});

describe("the floor of instructions", () => {
  test("raises a confidence that equals the matrix value, given or derived, and no other", () => {
    const base = {
      nodeType: "instruction",
      epistemicType: "inferred",
      sourceType: "system_inferred",
    } as const;
    expect(initialConfidence({ ...base, given: undefined }, {})).toBe(0.7);
    expect(initialConfidence({ ...base, given: 0.55 }, {})).toBe(0.7);
    expect(initialConfidence({ ...base, given: 0.54 }, {})).toBe(0.54);
    expect(
      initialConfidence({ ...base, given: undefined }, { "inferred:system_inferred": 0.4 }),
    ).toBe(0.7);
    expect(initialConfidence({ ...base, given: 0.55 }, { "inferred:system_inferred": 0.4 })).toBe(
      0.55,
    );
  });
});

test("decay follows the kind of knowledge, except for instructions", () => {
  expect(
    Object.fromEntries(EPISTEMIC_TYPES.map((type) => [type, initialDecayProfile("note", type)])),
  ).toEqual({
    observed: "slow",
    asserted: "medium",
    inferred: "fast",
    hypothetical: "rapid",
    conditional: "medium",
    deprecated: "permanent",
    unverified: "rapid",
  });
  expect(new Set(EPISTEMIC_TYPES.map((type) => initialDecayProfile("instruction", type)))).toEqual(
    new Set(["slow"]),
  );
});

describe("conditions", () => {
  const states: readonly {
    readonly metadata: JsonObject | undefined;
    readonly state: ConditionState;
    readonly weight: number;
  }[] = [
    { metadata: { condition_state: "true" }, state: "true", weight: 0.9 },
    { metadata: { condition_state: "unknown" }, state: "unknown", weight: 0.3 },
    { metadata: { condition_state: "false" }, state: "false", weight: 0.1 },
    { metadata: { condition_state: "expired" }, state: "expired", weight: 0.1 },
    { metadata: undefined, state: "unknown", weight: 0.3 },
    { metadata: { condition_state: true }, state: "unknown", weight: 0.3 },
    { metadata: { condition_state: "TRUE" }, state: "unknown", weight: 0.3 },
  ];

  test.each(states)(
    "metadata %# reads as $state and weighs $weight",
    ({ metadata, state, weight }) => {
      const memory = node("conditional", metadata);
      expect(conditionState(memory)).toBe(state);
      expect(epistemicWeight(memory, EPISTEMIC_WEIGHTS)).toBe(weight);
    },
  );

  test("say nothing about other kinds of knowledge", () => {
    expect(epistemicWeight(node("asserted", { condition_state: "false" }), EPISTEMIC_WEIGHTS)).toBe(
      0.9,
    );
  });
});

test("the kinds of knowledge have these weights", () => {
  expect(EPISTEMIC_WEIGHTS).toEqual({
    observed: 1,
    asserted: 0.9,
    inferred: 0.7,
    hypothetical: 0.3,
    conditional: 0.5,
    deprecated: 0.1,
    unverified: 0.5,
  });
});

test("a type that a replaced map of weights leaves out weighs 0.7", () => {
  expect(epistemicWeight(node("observed"), {})).toBe(0.7);
  expect(epistemicWeight(node("observed"), { observed: 0 })).toBe(0);
});

test("every weight and every matrix value is within 0 and 1", () => {
  const values = [
    ...Object.values(EPISTEMIC_WEIGHTS),
    ...CELLS.map(({ epistemic, source }) => matrixConfidence(epistemic, source, {}).value),
  ];
  expect(values.filter((value) => !(value >= 0 && value <= 1))).toEqual([]);
});

describe("what is not known to be so", () => {
  const limits = { unverifiedThreshold: 0.3, excludesThreshold: false };
  const why = (epistemicType: EpistemicType, confidence: number, excludesThreshold = false) =>
    epistemicExclusion({ ...node(epistemicType), confidence }, { ...limits, excludesThreshold });

  test.each([
    ["unverified", 0.2, false, "unverified_below_threshold:0.20<=0.30"],
    ["unverified", 0.3, false, undefined],
    ["unverified", 0.3, true, "unverified_below_threshold:0.30<=0.30"],
    ["unverified", 0.31, true, undefined],
    ["hypothetical", 1, false, "epistemic_filtered:hypothetical"],
    ["deprecated", 1, false, "epistemic_filtered:deprecated"],
    ["conditional", 1, false, "condition_filtered:unknown"],
    ["observed", 0, true, undefined],
    ["asserted", 0, true, undefined],
    ["inferred", 0, true, undefined],
  ] as const)("of %s with %d, threshold excluded %p: %s", (type, confidence, excludes, reason) => {
    expect(why(type, confidence, excludes)).toBe(reason);
  });

  test("is conditional in every state but true", () => {
    const whyIn = (state: ConditionState) =>
      epistemicExclusion(node("conditional", { condition_state: state }), limits);
    expect(whyIn("true")).toBeUndefined();
    expect(whyIn("false")).toBe("condition_filtered:false");
    expect(whyIn("expired")).toBe("condition_filtered:expired");
  });
});
