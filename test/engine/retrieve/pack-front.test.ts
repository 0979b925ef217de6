import { beforeAll, describe, expect, test } from "bun:test";
import { CONTEXT_FORMATS, GUIDANCE_MODES } from "../../../src/domain/records/retrieval-record.ts";
import {
  coverageNotice,
  guidanceFor,
  questionKind,
} from "../../../src/engine/retrieve/pack/bundle.ts";
import { pack } from "../../../src/engine/retrieve/pack/pack.ts";
import { contextHeader } from "../../../src/engine/retrieve/pack/record-line.ts";
import { asInstant } from "../../../src/lib/instant.ts";
import { processorMs } from "../../processor-time.ts";
import { minute, packRules, record, tokenizer } from "./pack-samples.ts";

beforeAll(() => tokenizer.ready());

const results = [record(1, "I like tea"), record(2, "I like coffee")];
const notice = coverageNotice({ isAggregation: true, knowledgeAt: minute("03-01T00:00") }) ?? "";
const referenceTime = asInstant("2026-03-18T15:30:00.500000Z");

describe("a notice", () => {
  test("is one line for a count and one for an earlier moment, in this order", () => {
    const lines = notice.split("\n");

    expect(lines.map((line) => line.split(":")[0])).toEqual([
      "Aggregation coverage",
      "Historical coverage",
    ]);
    expect(coverageNotice({ isAggregation: true, knowledgeAt: undefined })).toBe(lines[0]);
    expect(coverageNotice({ isAggregation: false, knowledgeAt: minute("03-01T00:00") })).toBe(
      lines[1],
    );
    expect(coverageNotice({ isAggregation: false, knowledgeAt: undefined })).toBeUndefined();
  });

  test("comes first and is counted", () => {
    const bundle = pack(results, tokenizer, packRules(4096, {}, { notice }));

    expect(bundle.renderedContext).toStartWith(`${notice}\nMemory records`);
    expect(bundle.coverageNotice).toBe(notice);
    expect(bundle.tokensUsed).toBe(tokenizer.count(bundle.renderedContext));
  });

  test("stands alone when no record fits, and empties the context when it does not fit itself", () => {
    const tokens = tokenizer.count(notice);

    expect(pack(results, tokenizer, packRules(tokens, {}, { notice }))).toMatchObject({
      renderedContext: notice,
      coverageNotice: notice,
      tokensUsed: tokens,
      budgetRemaining: 0,
      includedCount: 0,
      header: undefined,
    });
    expect(pack(results, tokenizer, packRules(tokens - 1, {}, { notice }))).toMatchObject({
      renderedContext: "",
      coverageNotice: undefined,
      tokensUsed: 0,
      budgetRemaining: tokens - 1,
      includedCount: 0,
      excludedIds: results.map(({ node }) => node.id),
    });
  });
});

describe("guidance", () => {
  const guidance = "QUESTION TIME: 2026-03-18T15:30:00+00:00\nTEMPORAL TASK: subtract.";

  test("stands between notice and header when it fits", () => {
    const bundle = pack(results, tokenizer, packRules(4096, {}, { notice, guidance }));

    expect(bundle.renderedContext).toStartWith(`${notice}\n${guidance}\nMemory records`);
    expect(bundle.contextGuidance).toBe(guidance);
    expect(bundle.tokensUsed).toBe(tokenizer.count(bundle.renderedContext));
  });

  test("fits into exactly its room, and gives way when there is one token less", () => {
    const room = pack(results, tokenizer, packRules(4096, {}, { guidance })).tokensUsed;
    const without = pack(results, tokenizer, packRules(room - 1, {}, { guidance }));

    expect(pack(results, tokenizer, packRules(room, {}, { guidance }))).toMatchObject({
      contextGuidance: guidance,
      budgetRemaining: 0,
    });
    expect(without).toMatchObject({ contextGuidance: undefined, includedCount: 2 });
    expect(without.renderedContext).toStartWith("Memory records");
  });

  test("is left out where there is no record", () => {
    const empty = pack([], tokenizer, packRules(4096, {}, { notice, guidance }));

    expect(empty).toMatchObject({ renderedContext: notice, contextGuidance: undefined });
  });
});

describe("the kind of a question", () => {
  const plain = { intent: "semantic", isAggregation: false } as const;

  test.each([
    ["How many days ago did I run?", "temporal"],
    ["how many weeks had passed when I left", "temporal"],
    ["How many months between the two trips", "temporal"],
    ["How  long did it take?", "temporal"],
    ["Which of the three trips came first?", "temporal"],
    ["Who called most recently?", "temporal"],
    ["In what order did I visit them, from first to last?", "temporal"],
    ["How many museums did I visit?", "aggregation"],
    ["How many days did I run?", "aggregation"],
    ["How much did I spend now?", "aggregation"],
    ["the sum of it", "aggregation"],
    ["What is my current job?", "current_state"],
    ["What do I use these days", "current_state"],
    ["Did it break after the latest release", "current_state"],
    ["Which books do I own?", "current_state"],
    ["When did I move?", "temporal"],
    ["the last trip", "temporal"],
    ["Which trip. And what came first?", "temporal"],
    ["Where is the summary of the account?", "default"],
    ["I know nowhere", "default"],
    ["", "default"],
  ] as const)("%j is %s", (query, kind) => {
    expect(questionKind({ query, ...plain })).toBe(kind);
  });

  test("follows what the analysis found where the words do not decide", () => {
    expect(questionKind({ query: "museums", intent: "temporal", isAggregation: false })).toBe(
      "temporal",
    );
    expect(questionKind({ query: "museums", intent: "temporal", isAggregation: true })).toBe(
      "aggregation",
    );
    expect(questionKind({ query: "how long", intent: "semantic", isAggregation: true })).toBe(
      "temporal",
    );
  });

  test("of 100 KB is found in a moment", () => {
    const long = [
      "which ".repeat(17_000),
      `${"what ".repeat(20_000)}`,
      " ".repeat(100_000),
      `how${" ".repeat(100_000)}`,
      "do i ".repeat(20_000),
      "after word ".repeat(9_000),
    ];
    const start = processorMs();
    for (const query of long) questionKind({ query, ...plain });

    expect(processorMs() - start).toBeLessThan(2_000);
  });
});

describe("guidance for a question", () => {
  const QUESTIONS = {
    temporal: "When did I move?",
    present: "What is my current job?",
    advice: "Can you suggest a restaurant?",
    other: "Where do you live?",
  } as const;

  function labels(query: string, mode: (typeof GUIDANCE_MODES)[number]): string[] {
    const text = guidanceFor({
      query,
      intent: "semantic",
      isAggregation: false,
      mode,
      format: "reader",
      referenceTime,
    });
    return text === undefined ? [] : text.split("\n").map((line) => line.split(":")[0] ?? "");
  }

  test("depends on its kind and on the mode", () => {
    const found = (mode: (typeof GUIDANCE_MODES)[number]) => ({
      temporal: labels(QUESTIONS.temporal, mode),
      present: labels(QUESTIONS.present, mode),
      advice: labels(QUESTIONS.advice, mode),
      other: labels(QUESTIONS.other, mode),
    });
    const temporal = ["QUESTION TIME", "TEMPORAL TASK"];

    expect(GUIDANCE_MODES.map(found)).toEqual([
      { temporal: [], present: [], advice: [], other: [] },
      { temporal, present: [], advice: [], other: [] },
      {
        temporal,
        present: ["QUESTION TIME", "CURRENT-STATE TASK"],
        advice: ["PERSONALIZATION TASK"],
        other: [],
      },
    ]);
  });

  test.each([
    "what phone should I buy",
    "What should I read",
    "what can I cook",
    "help me choose a gift",
    "any tips",
    "count my ideas",
  ])("asks for the owner's own history on %j", (query) => {
    expect(labels(query, "all")).toEqual(["PERSONALIZATION TASK"]);
  });

  test("says where the date of a record stands in its format, and when the question is asked", () => {
    const [reader, ...others] = [
      "reader",
      ...CONTEXT_FORMATS.filter((name) => name !== "reader"),
    ].map((name) =>
      guidanceFor({
        query: QUESTIONS.temporal,
        intent: "semantic",
        isAggregation: false,
        mode: "temporal",
        format: name as (typeof CONTEXT_FORMATS)[number],
        referenceTime,
      }),
    );

    expect(reader).toStartWith("QUESTION TIME: 2026-03-18T15:30:00.500000+00:00\n");
    expect(reader).toContain("date label");
    for (const other of others) expect(other).toContain("event_time");
  });

  test("holds nothing of the question", () => {
    const secret = "zebra";
    for (const question of Object.values(QUESTIONS)) {
      const text = guidanceFor({
        query: `${question} ${secret}`,
        intent: "semantic",
        isAggregation: false,
        mode: "all",
        format: "compact",
        referenceTime,
      });
      expect(text ?? "").not.toContain(secret);
    }
  });
});

describe("the header", () => {
  test("names the reference only where lines have one", () => {
    const headers = [false, true].map((citations) =>
      contextHeader({ name: "reader", citations }, false),
    );

    expect(headers.map((text) => text.includes("reference in brackets (cite it)"))).toEqual([
      false,
      true,
    ]);
  });
});
