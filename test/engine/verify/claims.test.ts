import { describe, expect, test } from "bun:test";
import type { ClaimSettings, Evidence } from "../../../src/engine/verify/api.ts";
import { verificationView } from "../../../src/engine/verify/claim-record.ts";
import { verifyBundle, verifyClaim } from "../../../src/engine/verify/claims.ts";
import { sha256Hex } from "../../../src/lib/hashing.ts";
import { canonicalJson } from "../../../src/lib/json.ts";
import type { Entailment } from "../../../src/ports/text-pairs.ts";
import { aBundle, idsOf } from "./bundles.ts";
import { CLAIM_SETTINGS, evidenceOf, NEITHER, NO, scriptedModel, YES } from "./models.ts";

const CLAIM = "Ann likes green tea";

/** Verifies with a model of fixed answers. */
async function verified(
  claim: string,
  evidence: readonly Evidence[],
  judge: (premise: string) => Entailment,
  more: Partial<ClaimSettings> = {},
) {
  const entailment = scriptedModel(judge);
  const settings = { ...CLAIM_SETTINGS, ...more };
  const result = await verifyClaim({ entailment, settings }, claim, evidence);
  return { result, calls: entailment.calls };
}

const answers =
  (table: Readonly<Record<string, Entailment>>) =>
  (premise: string): Entailment =>
    table[premise] ?? NEITHER;

describe("without a look at the model", () => {
  test("a claim about a complete set is incomplete", async () => {
    const entailment = scriptedModel(() => YES);
    const result = await verifyClaim(
      { entailment, settings: CLAIM_SETTINGS },
      "Ann has exactly three cats",
      evidenceOf(["Ann has three cats"]),
      { requiresCompleteSet: true },
    );
    expect(result).toMatchObject({
      status: "incomplete",
      limitations: ["complete_set_requires_structured_aggregation"],
      modelCalled: false,
      groupScores: [],
    });
    expect(entailment.calls).toEqual([]);
  });

  test("a claim without evidence is insufficient", async () => {
    const { result, calls } = await verified(CLAIM, [], () => YES);
    expect(result).toMatchObject({ status: "insufficient", limitations: [], modelCalled: false });
    expect(calls).toEqual([]);
  });
});

describe("support", () => {
  test("comes from the threshold up", async () => {
    const at = (entailment: number) => () => ({
      entailment,
      contradiction: 0,
      neutral: 1 - entailment,
    });
    const evidence = evidenceOf(["Ann drinks green tea"]);
    expect((await verified(CLAIM, evidence, at(0.8))).result.status).toBe("supported");
    expect((await verified(CLAIM, evidence, at(0.79))).result.status).toBe("insufficient");
    const strict = { entailmentThreshold: 0.95 };
    expect((await verified(CLAIM, evidence, at(0.9), strict)).result.status).toBe("insufficient");
  });

  test("names its group and basis, and every score", async () => {
    const { result, calls } = await verified(
      CLAIM,
      evidenceOf(["It rains", "Ann adores green tea"]),
      answers({ "Ann adores green tea": YES }),
    );
    expect(result).toMatchObject({
      status: "supported",
      supportingGroup: { references: ["e2"], memoryIds: ["memory-2"] },
      supportingBasis: "model_entailment",
      refutingGroup: undefined,
      refutingBasis: undefined,
      limitations: [],
      modelCalled: true,
    });
    expect(result.groupScores).toEqual([
      { references: ["e1"], memoryIds: ["memory-1"], ...NEITHER },
      { references: ["e2"], memoryIds: ["memory-2"], ...YES },
    ]);
    expect(calls).toEqual([["It rains", "Ann adores green tea"]]);
  });

  test("goes to the surest piece, then to the first id", async () => {
    const surer = { entailment: 0.95, contradiction: 0, neutral: 0.05 };
    const { result } = await verified(
      CLAIM,
      evidenceOf(["a", "b", "c"]),
      answers({ a: YES, b: surer, c: surer }),
    );
    expect(result.supportingGroup?.references).toEqual(["e2"]);
  });

  test("is blocked where the evidence is meant otherwise", async () => {
    const { result } = await verified(CLAIM, evidenceOf(["Ann wants green tea"]), () => YES);
    expect(result).toMatchObject({
      status: "insufficient",
      supportingGroup: undefined,
      supportingBasis: undefined,
      limitations: ["uncorroborated_model_entailment"],
    });
  });

  test("needs no guard under model_only", async () => {
    const { result } = await verified(CLAIM, evidenceOf(["Ann wants green tea"]), () => YES, {
      entailmentPolicy: "model_only",
    });
    expect(result).toMatchObject({ status: "supported", supportingBasis: "model_entailment" });
    expect(result.localizedAssessments).toEqual([]);
  });
});

describe("a second look at blocked support", () => {
  const TEXT = "Does Ann like tea? She does like green tea. She wants a cup.";

  test("reads only the segments that pass, once, and may support", async () => {
    const { result, calls } = await verified(
      CLAIM,
      evidenceOf([TEXT]),
      answers({ [TEXT]: YES, "She does like green tea.": YES }),
    );
    expect(calls).toEqual([[TEXT], ["She does like green tea."]]);
    expect(result).toMatchObject({
      status: "supported",
      supportingBasis: "localized_model_entailment",
      supportingGroup: { references: ["e1"] },
      limitations: [],
    });
    expect(result.localizedAssessments).toEqual([
      {
        references: ["e1"],
        memoryIds: ["memory-1"],
        includedSegmentNumbers: [2],
        premiseSha256: sha256Hex("She does like green tea."),
        modelCalled: true,
        scores: YES,
      },
    ]);
  });

  test("may find nothing", async () => {
    const { result } = await verified(CLAIM, evidenceOf([TEXT]), answers({ [TEXT]: YES }));
    expect(result).toMatchObject({
      status: "insufficient",
      limitations: ["uncorroborated_model_entailment"],
    });
    expect(result.localizedAssessments[0]?.scores).toEqual(NEITHER);
  });

  test("does not ask the model when no segment passes", async () => {
    const text = "Ann wants green tea. Would she like it?";
    const { result, calls } = await verified(CLAIM, evidenceOf([text]), () => YES);
    expect(calls).toEqual([[text]]);
    expect(result.localizedAssessments).toEqual([
      {
        references: ["e1"],
        memoryIds: ["memory-1"],
        includedSegmentNumbers: [],
        premiseSha256: undefined,
        modelCalled: false,
        scores: undefined,
      },
    ]);
  });

  test("takes nothing from evidence that was superseded", async () => {
    const evidence = evidenceOf(["Ann likes green tea. Truly."], { lifecycleState: "superseded" });
    const { result, calls } = await verified(CLAIM, evidence, () => YES);
    expect(result).toMatchObject({
      status: "insufficient",
      limitations: ["uncorroborated_model_entailment"],
    });
    expect(calls).toHaveLength(1);
  });

  test("keeps several passing segments as lines", async () => {
    const text = "Ann came in. She wants rest. Green tea is what she drinks.";
    const { calls } = await verified(CLAIM, evidenceOf([text]), () => YES);
    expect(calls[1]).toEqual(["Ann came in.\nGreen tea is what she drinks."]);
  });
});

describe("refutation", () => {
  test("needs words that show it", async () => {
    const { result } = await verified("Ann has 2 cats", evidenceOf(["Ann has 3 cats"]), () => NO);
    expect(result).toMatchObject({
      status: "refuted",
      refutingGroup: { references: ["e1"] },
      refutingBasis: "model_contradiction",
      limitations: [],
    });
  });

  test("is not taken from the model alone", async () => {
    const { result } = await verified(CLAIM, evidenceOf(["Ann prefers coffee"]), () => NO);
    expect(result).toMatchObject({
      status: "insufficient",
      limitations: ["uncorroborated_model_contradiction"],
    });
  });

  test("needs no words under model_only", async () => {
    const { result } = await verified(CLAIM, evidenceOf(["Ann prefers coffee"]), () => NO, {
      refutationPolicy: "model_only",
    });
    expect(result).toMatchObject({ status: "refuted", refutingBasis: "model_contradiction" });
  });

  test("comes from the threshold up", async () => {
    const at = (contradiction: number) => () => ({
      entailment: 0,
      contradiction,
      neutral: 1 - contradiction,
    });
    const evidence = evidenceOf(["Ann has 3 cats"]);
    expect((await verified("Ann has 2 cats", evidence, at(0.8))).result.status).toBe("refuted");
    expect((await verified("Ann has 2 cats", evidence, at(0.79))).result.status).toBe(
      "insufficient",
    );
  });

  test("may come from an explicit denial that the model misses", async () => {
    const evidence = evidenceOf(["Ann doesn't like green tea"]);
    const { result } = await verified(CLAIM, evidence, () => NEITHER);
    expect(result).toMatchObject({
      status: "refuted",
      refutingBasis: "explicit_negation_overlap",
      refutingGroup: { references: ["e1"] },
    });
    const trusting = await verified(CLAIM, evidence, () => NEITHER, {
      refutationPolicy: "model_only",
    });
    expect(trusting.result.status).toBe("insufficient");
  });

  test("beside support makes a claim contested", async () => {
    const { result } = await verified(
      CLAIM,
      evidenceOf(["Ann adores green tea", "Ann does not like green tea"]),
      answers({ "Ann adores green tea": YES, "Ann does not like green tea": NO }),
    );
    expect(result).toMatchObject({
      status: "contested",
      supportingGroup: { references: ["e1"] },
      refutingGroup: { references: ["e2"] },
      supportingBasis: "model_entailment",
      refutingBasis: "model_contradiction",
    });
  });
});

describe("groups", () => {
  const PAIR = "[E1] Ann lives in Oslo\n[E2] Oslo lies in Norway";
  const NORWAY = "Ann lives in Norway";

  test("are read when nothing decides alone", async () => {
    const { result, calls } = await verified(
      NORWAY,
      evidenceOf(["Ann lives in Oslo", "Oslo lies in Norway"]),
      answers({ [PAIR]: YES }),
    );
    expect(calls).toEqual([["Ann lives in Oslo", "Oslo lies in Norway"], [PAIR]]);
    expect(result).toMatchObject({
      status: "supported",
      supportingGroup: { references: ["e1", "e2"], memoryIds: ["memory-1", "memory-2"] },
      supportingBasis: "model_entailment",
    });
    expect(result.groupScores).toHaveLength(3);
  });

  test("are not read once a piece decides, for or against", async () => {
    for (const [claim, judged] of [
      [NORWAY, YES],
      ["Ann has 2 cats", NO],
    ] as const) {
      const { calls } = await verified(claim, evidenceOf(["Ann has 3 cats", "b"]), (premise) =>
        premise === "b" ? NEITHER : judged,
      );
      expect(calls).toHaveLength(1);
    }
  });

  test("are read although single support was blocked, and keep the limitation", async () => {
    const { result } = await verified(
      NORWAY,
      evidenceOf(["Ann lives in Oslo", "Oslo lies in Norway", "Ann wants Norway"]),
      answers({ [PAIR]: YES, "Ann wants Norway": YES }),
    );
    expect(result).toMatchObject({
      status: "supported",
      supportingGroup: { references: ["e1", "e2"] },
      limitations: ["uncorroborated_model_entailment"],
    });
  });

  test("are blocked by the wording of any member", async () => {
    const pair = "[E1] Ann lives in Oslo\n[E2] Perhaps Oslo lies in Norway";
    const { result, calls } = await verified(
      NORWAY,
      evidenceOf(["Ann lives in Oslo", "Perhaps Oslo lies in Norway"]),
      answers({ [pair]: YES }),
    );
    expect(result).toMatchObject({
      status: "insufficient",
      limitations: ["uncorroborated_model_entailment"],
    });
    // The second look leaves the first member alone, which is no group any more.
    expect(calls.at(-1)).toEqual(["Ann lives in Oslo"]);
    expect(result.localizedAssessments[0]?.includedSegmentNumbers).toEqual([1]);
  });

  test("are made of the strongest pieces only", async () => {
    const strength = (entailment: number) => ({
      entailment,
      contradiction: 0,
      neutral: 1 - entailment,
    });
    const against = { entailment: 0, contradiction: 0.6, neutral: 0.4 };
    const { calls } = await verified(
      CLAIM,
      evidenceOf(["a", "b", "c", "d"]),
      answers({ a: strength(0.1), b: strength(0.5), c: against, d: strength(0.2) }),
      { groupCandidateLimit: 2 },
    );
    expect(calls[1]).toEqual(["[E1] b\n[E2] c"]);
  });

  test("stop at two unless three are allowed, and at the first size that decides", async () => {
    const evidence = evidenceOf(["a", "b", "c"]);
    const two = await verified(CLAIM, evidence, () => NEITHER);
    expect(two.calls.map((call) => call.length)).toEqual([3, 3]);
    const three = await verified(CLAIM, evidence, () => NEITHER, { maxGroupSize: 3 });
    expect(three.calls.map((call) => call.length)).toEqual([3, 3, 1]);
    expect(three.calls[2]).toEqual(["[E1] a\n[E2] b\n[E3] c"]);
    const decided = await verified(CLAIM, evidence, answers({ "[E1] a\n[E2] c": YES }), {
      maxGroupSize: 3,
    });
    expect(decided.calls).toHaveLength(2);
    expect(decided.result.supportingGroup?.references).toEqual(["e1", "e3"]);
    const single = await verified(CLAIM, evidence, () => NEITHER, { maxGroupSize: 1 });
    expect(single.calls).toHaveLength(1);
  });
});

describe("the model", () => {
  test("is handed no more pairs at a time than the settings say", async () => {
    const evidence = evidenceOf(["a", "b", "c", "d", "e"]);
    const { calls } = await verified(CLAIM, evidence, () => NEITHER, {
      batchSize: 2,
      maxGroupSize: 1,
    });
    expect(calls).toEqual([["a", "b"], ["c", "d"], ["e"]]);
  });

  test.each([
    { name: "a sum above 1", scores: { entailment: 0.9, contradiction: 0.2, neutral: 0 } },
    { name: "a sum below 1", scores: { entailment: 0.9, contradiction: 0, neutral: 0.0999 } },
    { name: "no number", scores: { entailment: Number.NaN, contradiction: 0, neutral: 1 } },
    { name: "a negative number", scores: { entailment: 1.1, contradiction: -0.1, neutral: 0 } },
  ])("is refused when it gives $name", async ({ scores }) => {
    const call = verified(CLAIM, evidenceOf(["a"]), () => scores);
    expect(await call.catch((error) => error.code)).toBe("model_failed");
  });

  test("may miss a sum of 1 by rounding", async () => {
    const scores = { entailment: 0.9, contradiction: 0.05, neutral: 0.050009 };
    const { result } = await verified(CLAIM, evidenceOf(["a"]), () => scores);
    expect(result.status).toBe("supported");
  });

  test("is refused when it leaves out a pair", async () => {
    const entailment = { ...scriptedModel(() => YES), judge: async () => [] };
    const call = verifyClaim({ entailment, settings: CLAIM_SETTINGS }, CLAIM, evidenceOf(["a"]));
    expect(await call.catch((error) => error.code)).toBe("model_failed");
  });

  test("that is not set makes the check unsupported", async () => {
    const deps = { entailment: undefined, settings: CLAIM_SETTINGS };
    const claim = await verifyClaim(deps, CLAIM, []).catch((error) => error);
    expect(claim.code).toBe("unsupported");
    expect(claim.message).toContain("entailment.model");
    const bundle = await verifyBundle(deps, CLAIM, aBundle([])).catch((error) => error);
    expect(bundle.code).toBe("unsupported");
  });
});

describe("a claim is refused", () => {
  const twice = evidenceOf(["a", "b"]);
  test.each([
    { name: "when it is blank", claim: " \n", evidence: twice, field: "claim" },
    {
      name: "with more evidence than allowed",
      claim: CLAIM,
      evidence: evidenceOf(Array.from({ length: 65 }, (_, at) => `${at}`)),
      field: "evidence",
    },
    {
      name: "with one reference twice",
      claim: CLAIM,
      evidence: twice.map((piece) => ({ ...piece, reference: "e1" })),
      field: "evidence",
    },
    {
      name: "with one memory twice",
      claim: CLAIM,
      evidence: twice.map((piece) => ({ ...piece, memoryId: "memory-1" })),
      field: "evidence",
    },
    {
      name: "with a blank reference",
      claim: CLAIM,
      evidence: evidenceOf(["a"]).map((piece) => ({ ...piece, reference: " " })),
      field: "evidence.reference",
    },
    {
      name: "with a state that does not exist",
      claim: CLAIM,
      evidence: evidenceOf(["a"], { lifecycleState: "gone" as "stable" }),
      field: "evidence.lifecycle_state",
    },
  ])("$name", async ({ claim, evidence, field }) => {
    const error = await verified(claim, evidence, () => YES).catch((cause) => cause);
    expect(error).toMatchObject({ code: "invalid_argument", data: { field } });
  });
});

describe("the record", () => {
  const run = (
    claim = CLAIM,
    texts = ["Ann adores green tea"],
    more: Partial<ClaimSettings> = {},
  ) => verified(claim, evidenceOf(texts), () => YES, more).then(({ result }) => result);

  test("holds every member, with null for what is absent, and hashes to its own hash", async () => {
    const result = await run();
    const { resultSha256, ...checked } = result;
    const record = verificationView.json(checked);
    expect(Object.keys(record)).toEqual([
      "schema_version",
      "claim",
      "status",
      "supporting_group",
      "refuting_group",
      "supporting_basis",
      "refuting_basis",
      "group_scores",
      "localized_assessments",
      "limitations",
      "model",
      "requested_revision",
      "resolved_revision",
      "model_called",
      "configuration_sha256",
      "claim_sha256",
      "evidence_sha256",
      "evaluation_id",
    ]);
    expect(record).toMatchObject({
      schema_version: 3,
      supporting_group: { references: ["e1"], memory_ids: ["memory-1"] },
      refuting_group: null,
      refuting_basis: null,
      model: "scripted",
      requested_revision: "main",
      resolved_revision: "r1",
      claim_sha256: sha256Hex(CLAIM),
    });
    expect(resultSha256).toBe(sha256Hex(canonicalJson(record)));
  });

  test("is the same for the same check", async () => {
    expect(await run()).toEqual(await run());
  });

  test("has another id for another claim, other evidence and other settings", async () => {
    const all = await Promise.all([
      run(),
      run("Ann likes tea"),
      run(CLAIM, ["Ann adores tea"]),
      run(CLAIM, ["Ann adores green tea"], { entailmentThreshold: 0.81 }),
      run(CLAIM, ["Ann adores green tea"], { revision: "v2" }),
    ]);
    expect(new Set(all.map(({ evaluationId }) => evaluationId)).size).toBe(5);
  });
});

describe("verifyBundle", () => {
  const MEMORIES = [{ content: "Ann adores green tea" }, { content: "Bob rests" }];
  const run = async (
    bundle: ReturnType<typeof aBundle>,
    options: Parameters<typeof verifyBundle>[3] = {},
  ) => {
    const entailment = scriptedModel((premise) => (premise.includes("adores") ? YES : NEITHER));
    const deps = { entailment, settings: CLAIM_SETTINGS };
    return { result: await verifyBundle(deps, CLAIM, bundle, options), calls: entailment.calls };
  };

  test.each([
    { format: "reader", premise: '- [m1] "Ann adores green tea"', reference: "m1" },
    {
      format: "compact",
      premise:
        '["m1","note","personal","asserted","tentative","user_stated","full",null,"2026-01-01T00:00:00+00:00",null,"Ann adores green tea"]',
      reference: "m1",
    },
  ] as const)("reads the records of a $format context as they are rendered", async (given) => {
    const bundle = aBundle(MEMORIES, { format: given.format });
    const { result, calls } = await run(bundle);
    expect(calls[0]?.[0]).toBe(given.premise);
    expect(result.status).toBe("supported");
    expect(result.supportingGroup).toEqual({
      references: [given.reference],
      memoryIds: [idsOf(bundle)[0]!],
    });
  });

  test("names records of an auditable context by their ids", async () => {
    const bundle = aBundle(MEMORIES, { format: "auditable" });
    const [id = ""] = idsOf(bundle);
    const { result } = await run(bundle);
    expect(result.supportingGroup).toEqual({ references: [id], memoryIds: [id] });
  });

  test("heeds state and kind of the memories", async () => {
    const bundle = aBundle([{ content: "Ann adores green tea", epistemicType: "hypothetical" }]);
    const { result } = await run(bundle);
    expect(result).toMatchObject({
      status: "insufficient",
      limitations: ["uncorroborated_model_entailment"],
    });
  });

  test("looks at the records that are named, in that order", async () => {
    const { calls } = await run(aBundle(MEMORIES), { evidenceRefs: ["m2", "m1"] });
    expect(calls[0]).toEqual(['- [m2] "Bob rests"', '- [m1] "Ann adores green tea"']);
    const { result } = await run(aBundle(MEMORIES), { evidenceRefs: [] });
    expect(result).toMatchObject({ status: "insufficient", modelCalled: false });
  });

  test.each([
    { name: "an unknown record", refs: ["m3"], field: "evidence_refs" },
    { name: "a record twice", refs: ["m1", "m1"], field: "evidence" },
  ])("refuses $name", async ({ refs, field }) => {
    const call = run(aBundle(MEMORIES), { evidenceRefs: refs });
    expect(await call.catch((error) => error)).toMatchObject({
      code: "invalid_argument",
      data: { field },
    });
  });

  test("refuses reader records without references, but not an empty context", async () => {
    const uncitable = aBundle(MEMORIES, { citations: false });
    expect(await run(uncitable).catch((error) => error)).toMatchObject({
      code: "invalid_argument",
      data: { field: "context_citations" },
    });
    const { result } = await run(aBundle([], { citations: false }));
    expect(result.status).toBe("insufficient");
  });
});
