import { describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import { assessAnswerability } from "../../../src/engine/verify/answerability.ts";
import { ANSWER_SCHEMA, INSTRUCTIONS } from "../../../src/engine/verify/answerability-prompt.ts";
import type { AnswerabilitySettings } from "../../../src/engine/verify/api.ts";
import { assessmentForm } from "../../../src/engine/verify/api.ts";
import { sha256Hex } from "../../../src/lib/hashing.ts";
import { canonicalJson, type Json, type JsonObject } from "../../../src/lib/json.ts";
import type { LanguageModel, ModelRequest } from "../../../src/ports/language-model.ts";
import { aBundle, idsOf } from "./bundles.ts";

const QUERY = "Where does Ann live, and since when?";
const MEMORIES = [{ content: "Ann lives in Oslo" }, { content: "Ann lives in Bergen" }];
const SETTINGS: AnswerabilitySettings = {
  baseUrl: undefined,
  maxRetries: 2,
  timeoutMs: 30_000,
  temperature: 0,
  reasoningEffort: undefined,
};

type Stated = readonly [status: string, refs: readonly string[], requirement?: string];

/** What a model says of these requirements. */
const stating = (...requirements: readonly Stated[]): JsonObject => ({
  requirements: requirements.map(([status, refs, requirement = "a fact"]) => ({
    requirement,
    status,
    evidence_refs: refs,
    explanation: "because",
  })),
  reasoning: "in sum",
});

function answering(answer: Json) {
  const requests: ModelRequest[] = [];
  const languageModel: LanguageModel = {
    provider: "test",
    model: "test-model",
    answer: async (request) => {
      requests.push(request);
      // SAFETY: some tests hand out what the port does not allow.
      return answer as JsonObject;
    },
  };
  return { languageModel, requests };
}

async function assessed(
  answer: Json,
  input: Partial<Parameters<typeof assessAnswerability>[1]> = {},
  settings = SETTINGS,
) {
  const { languageModel, requests } = answering(answer);
  const bundle = input.bundle ?? aBundle(MEMORIES);
  const assessment = await assessAnswerability(
    { languageModel, settings },
    { query: QUERY, ...input, bundle },
  );
  return { assessment, requests, bundle };
}

const failure = (call: Promise<unknown>): Promise<SvcError> =>
  call.then(
    () => {
      throw new Error("nothing was thrown");
    },
    (error: SvcError) => error,
  );

describe("the verdict", () => {
  const S: Stated = ["supported", ["m1"]];
  const U: Stated = ["unsupported", []];
  const C: Stated = ["conflicting", ["m1", "m2"]];
  test.each([
    { of: [S, S], verdict: "answerable", action: "answer", abstain: false },
    { of: [S, U], verdict: "partial", action: "answer_partially", abstain: false },
    { of: [U, U], verdict: "insufficient", action: "abstain", abstain: true },
    { of: [C], verdict: "conflicting", action: "surface_conflict", abstain: true },
    { of: [S, U, C], verdict: "conflicting", action: "surface_conflict", abstain: true },
  ])("is $verdict, so $action", async ({ of, verdict, action, abstain }) => {
    const { assessment } = await assessed(stating(...of));
    expect(assessment).toMatchObject({
      verdict,
      recommendedAction: action,
      shouldAbstain: abstain,
      citationErrors: [],
      modelCalled: true,
    });
  });

  test("names what is missing and what conflicts", async () => {
    const { assessment } = await assessed(
      stating(
        ["supported", ["m1"], "who"],
        ["unsupported", [], "since when"],
        ["conflicting", ["m1", "m2"], "where"],
      ),
    );
    expect(assessment.missingInformation).toEqual(["since when"]);
    expect(assessment.conflicts).toEqual(["where"]);
    expect(assessment.reasoning).toBe("in sum");
  });
});

describe("citations", () => {
  test("are joined with the memories behind them", async () => {
    const { assessment, bundle } = await assessed(stating(["conflicting", ["m2", "m1"]]));
    const [first, second] = idsOf(bundle);
    expect(assessment.requirements[0]).toEqual({
      requirement: "a fact",
      status: "conflicting",
      evidenceRefs: ["m2", "m1"],
      evidenceIds: [second!, first!],
      explanation: "because",
    });
  });

  test("may be blank-padded, and bracketed in the reader format alone", async () => {
    const { assessment } = await assessed(stating(["supported", [" [m1] "]]));
    expect(assessment.requirements[0]?.evidenceRefs).toEqual(["m1"]);
    const compact = aBundle(MEMORIES, { format: "compact" });
    const { assessment: other } = await assessed(
      stating(["supported", ["[m1]"]], ["supported", [" m2 "]]),
      { bundle: compact },
    );
    expect(other.requirements.map(({ status }) => status)).toEqual(["unsupported", "supported"]);
  });

  test("are full ids in the auditable format", async () => {
    const bundle = aBundle(MEMORIES, { format: "auditable" });
    const [id = ""] = idsOf(bundle);
    const { assessment } = await assessed(stating(["supported", [id]], ["supported", ["m1"]]), {
      bundle,
    });
    expect(assessment.requirements.map(({ status }) => status)).toEqual([
      "supported",
      "unsupported",
    ]);
  });

  test.each([
    {
      name: "support without a record",
      stated: ["supported", []],
      errors: ["requirement 1: supported with 0 of 1 records"],
    },
    {
      name: "support by a record that does not exist",
      stated: ["supported", ["m9"]],
      errors: [
        'requirement 1: "m9" is no record of the context',
        "requirement 1: supported with 0 of 1 records",
      ],
    },
    {
      name: "a conflict of one record with itself",
      stated: ["conflicting", ["m1", "[m1]"]],
      errors: [
        'requirement 1: "m1" is cited more than once',
        "requirement 1: conflicting with 1 of 2 records",
      ],
    },
  ] as const)("make a requirement unsupported: $name", async ({ stated, errors }) => {
    const { assessment } = await assessed(stating(stated));
    expect(assessment.requirements[0]?.status).toBe("unsupported");
    expect(assessment.citationErrors).toEqual(errors);
    expect(assessment.verdict).toBe("insufficient");
    expect(assessment.missingInformation).toEqual(["a fact"]);
  });

  test("that are wrong beside a right one are only reported", async () => {
    const { assessment } = await assessed(stating(["supported", ["m9", "m1"]]));
    expect(assessment).toMatchObject({
      verdict: "answerable",
      citationErrors: ['requirement 1: "m9" is no record of the context'],
    });
  });
});

describe("the model is told", () => {
  test("question, draft, way of citing and context as data, and the settings", async () => {
    const settings = { ...SETTINGS, temperature: 0.5, maxRetries: 4, timeoutMs: 1234 };
    const { requests, bundle } = await assessed(
      stating(["supported", ["m1"]]),
      { answer: "In Oslo." },
      settings,
    );
    expect(requests).toHaveLength(1);
    const [request] = requests;
    expect(request).toMatchObject({
      system: INSTRUCTIONS,
      schema: ANSWER_SCHEMA,
      temperature: 0.5,
      schemaRetries: 4,
      timeoutMs: 1234,
    });
    expect(JSON.parse(request?.prompt ?? "")).toEqual({
      question: QUERY,
      draft_answer: "In Oslo.",
      citation: expect.stringContaining('"m3"'),
      context: bundle.renderedContext,
    });
    expect(INSTRUCTIONS).not.toContain("Ann");
  });

  test("nothing when there is nothing to cite", async () => {
    const { assessment, requests } = await assessed(stating(), { bundle: aBundle([]) });
    expect(requests).toEqual([]);
    expect(assessment).toMatchObject({
      verdict: "insufficient",
      recommendedAction: "abstain",
      shouldAbstain: true,
      requirements: [],
      modelCalled: false,
    });
  });

  test("nothing when no reference stands in the text", async () => {
    const bundle = { ...aBundle(MEMORIES), renderedContext: "something else" };
    const { assessment, requests } = await assessed(stating(), { bundle });
    expect(requests).toEqual([]);
    expect(assessment.verdict).toBe("insufficient");
  });
});

describe("the check is refused", () => {
  test.each([
    { name: "for a blank question", input: { query: " " }, field: "query" },
    { name: "for a blank draft", input: { answer: "\n" }, field: "answer" },
    {
      name: "for reader records without references",
      input: { bundle: aBundle(MEMORIES, { citations: false }) },
      field: "context_citations",
    },
  ])("$name", async ({ input, field }) => {
    const error = await failure(assessed(stating(), input));
    expect(error).toMatchObject({ code: "invalid_argument", data: { field } });
  });

  test("without a language model, saying what to set", async () => {
    const deps = { languageModel: undefined, settings: SETTINGS };
    const error = await failure(assessAnswerability(deps, { query: QUERY, bundle: aBundle([]) }));
    expect(error.code).toBe("unsupported");
    expect(error.message).toContain("answerability.provider and answerability.model");
  });

  test.each([
    { name: "no requirement", answer: { requirements: [], reasoning: "" } },
    { name: "no reasoning", answer: { requirements: stating(["supported", []])["requirements"]! } },
    { name: "an unknown status", answer: stating(["proven", []]) },
    {
      name: "a reference that is no text",
      answer: {
        requirements: [
          { requirement: "a", status: "supported", evidence_refs: [1], explanation: "" },
        ],
        reasoning: "",
      },
    },
    { name: "a requirement that is no object", answer: { requirements: ["a"], reasoning: "" } },
  ])("when the model gives $name", async ({ answer }) => {
    expect(await failure(assessed(answer))).toMatchObject({ code: "model_failed" });
  });

  test("with the model's own failure", async () => {
    const late = new SvcError("model_timeout", "too late");
    const languageModel: LanguageModel = {
      provider: "test",
      model: "test-model",
      answer: async () => {
        throw late;
      },
    };
    const deps = { languageModel, settings: SETTINGS };
    expect(
      await failure(assessAnswerability(deps, { query: QUERY, bundle: aBundle(MEMORIES) })),
    ).toBe(late);
  });
});

describe("the record", () => {
  test("holds every member and hashes to its own hash", async () => {
    const { assessment, bundle } = await assessed(stating(["supported", ["m1"]]));
    const record = assessmentForm.json(assessment);
    expect(Object.keys(record)).toEqual([
      "schema_version",
      "verdict",
      "recommended_action",
      "requirements",
      "missing_information",
      "conflicts",
      "citation_errors",
      "reasoning",
      "provider",
      "model",
      "prompt_version",
      "prompt_sha256",
      "configuration_sha256",
      "model_called",
      "query_sha256",
      "context_sha256",
      "answer_sha256",
      "evaluation_id",
    ]);
    expect(record).toMatchObject({
      schema_version: 1,
      provider: "test",
      model: "test-model",
      query_sha256: sha256Hex(QUERY),
      context_sha256: sha256Hex(bundle.renderedContext),
      answer_sha256: null,
    });
    expect(assessment.assessmentSha256).toBe(sha256Hex(canonicalJson(record)));
  });

  test("has one id for one set of inputs, whatever the model says", async () => {
    const bundle = aBundle(MEMORIES);
    const id = async (
      input: Partial<Parameters<typeof assessAnswerability>[1]> = {},
      settings = SETTINGS,
      answer = stating(["supported", ["m1"]]),
    ) => (await assessed(answer, { bundle, ...input }, settings)).assessment.evaluationId;
    const first = await id();
    expect(await id()).toBe(first);
    expect(await id({}, SETTINGS, stating(["unsupported", []]))).toBe(first);
    const others = await Promise.all([
      id({ query: "Where?" }),
      id({ answer: "Oslo" }),
      id({ bundle: aBundle([{ content: "Ann lives elsewhere" }]) }),
      id({}, { ...SETTINGS, temperature: 1 }),
      id({}, { ...SETTINGS, baseUrl: "http://127.0.0.1:1" }),
    ]);
    expect(new Set([first, ...others]).size).toBe(6);
  });
});
