import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { RetrieveInput } from "../../../src/engine/retrieve/api.ts";
import { processorMs } from "../../processor-time.ts";
import { expectInvalid, type OpenedEngine, REAL_MODEL, tokenizer, useEngines } from "../engines.ts";
import { ask, fillWorld, linesOf, remember } from "./pipeline-world.ts";

const { open } = useEngines({ upkeep: undefined });

/** That an answer came about without a fault and is kept. */
async function answerTo(opened: OpenedEngine, query: string, given: Partial<RetrieveInput> = {}) {
  const answer = await ask(opened.engine, query, given);
  const { metadata, bundle } = answer;
  const kept = await opened.engine.getRetrievalReceipt(metadata.requestId, "ada");
  expect(metadata.backendFailures).toEqual({});
  expect(kept?.receipt.query).toBe(query);
  expect(bundle.tokensUsed).toBe(tokenizer.count(bundle.renderedContext));
  expect(opened.warnings).toEqual([]);
  return answer;
}

describe("a question", () => {
  const OPERATORS = '" * NEAR ( OR NOT ^ : -';
  const STRANGE: readonly (readonly [string, string, boolean])[] = [
    ["of nothing", "", false],
    ["of blanks", " \t\n\u2003", false],
    ["of emoji", "🌂🏨🛂👩‍👩‍👧‍👦", false],
    ["of operators of the index", OPERATORS, true],
    ["of operators around words", 'hotel" AND (river* OR own:hotel NOT x) NEAR/2 "', true],
    ["of stop words", "what is it that they were about", true],
    ["of NUL characters", "hotel\u0000river\u0000", true],
    ["of one NUL character", "\u0000", false],
    ["of control characters", "\u0001\u0008\u001f\u007f hotel", true],
    ["of combining marks", "h\u0301\u0302\u0303otel \u0300\u0300\u0300", true],
    ["of half a regular expression", "[hotel(.*+?^$|\\", true],
    ["of SQL", "'; DROP TABLE nodes; -- hotel", true],
    ["from right to left", "\u202ehotel \u2066river\u2069 שלום", true],
    ["of unpaired quotes", `hotel "river 'Lisbon`, true],
    ["of a number", `hotel ${"9".repeat(400)}`, true],
  ];

  const LONG = [
    "where is the hotel near the river in Lisbon and what does it cost ",
    "hotel",
    "Marta Lisbon Alfama Baixa. ",
    `"hotel" 'river' `,
    "on March 3rd 2026, yesterday, two weeks ago, ",
    "how many hotels total count list all ",
    "🌂",
    "河边的酒店在里斯本",
    '((("',
  ];

  test("of anything odd is answered", async () => {
    const opened = await open();
    await fillWorld(opened);
    for (const [name, query, findsByWords] of STRANGE) {
      const { results, metadata } = await answerTo(opened, query);
      const byWords = metadata.candidatesGenerated["LEXICAL"] ?? 0;
      expect([name, byWords > 0, results.length > 0]).toEqual([name, findsByWords, true]);
    }
  });

  test("of any text is answered", async () => {
    const opened = await open();
    await fillWorld(opened);
    const pieces = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 30 }),
      fc.string({ unit: "binary", maxLength: 30 }),
      fc.constantFrom(
        "hotel",
        "How many",
        '"',
        "Lisbon",
        "yesterday",
        "\u2028",
        "2026-01-01",
        "NEAR",
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(pieces, { maxLength: 8 }), async (parts) => {
        await answerTo(opened, parts.join(" "), { limit: 5 });
      }),
      { numRuns: 30 },
    );
  });

  test("of 100 KB is answered, whatever it is made of", async () => {
    const opened = await open();
    await fillWorld(opened);
    for (const text of LONG) {
      const query = text.repeat(Math.ceil(100_000 / text.length));

      const start = processorMs();
      const { results } = await answerTo(opened, query, { limit: 5 });
      const elapsed = processorMs() - start;

      // A guard against more than linear work, with room for a slow machine.
      expect([text, results.length, elapsed < 3000]).toEqual([text, 5, true]);
    }
  });

  test("of more than 131,072 characters is refused", async () => {
    const opened = await open();
    await expectInvalid(ask(opened.engine, "a".repeat(131_073)), {
      field: "query",
    });
    await answerTo(opened, "a".repeat(131_072));
    // As the schema counts them: a character beyond the first 65,536 is one.
    await answerTo(opened, "😀".repeat(131_072));
    await expect(answerTo(opened, "😀".repeat(131_073))).rejects.toThrow("has 131073 characters");
  });

  test("in Chinese finds what was said in Chinese", async () => {
    const opened = await open({ embedder: REAL_MODEL });
    const chinese = "我们住的酒店在河边，早餐到十点。";
    await remember(
      opened,
      { content: "The umbrella is green." },
      { content: chinese },
      { content: "今天的会议改到星期五。" },
    );

    const { results } = await answerTo(opened, "酒店的早餐几点结束？");

    expect(results[0]?.node.content).toBe(chinese);
    expect(results[0]?.paths).toContain("LEXICAL");
  });

  test.each(["\ud800", "hotel \udc00 river", "\udc00\ud800"])(
    "of half a character is refused by name (%j)",
    async (query) => {
      const { engine } = await open();
      await expectInvalid(ask(engine, query), { field: "query" });
      await expectInvalid(ask(engine, "q", { userId: query }), { field: "user_id" });
    },
  );
});

describe("a budget", () => {
  test("of no more than the overhead gives results and no context", async () => {
    const opened = await open();
    await fillWorld(opened);
    for (const tokenBudget of [0, 1, 50, 100]) {
      const { bundle, results } = await answerTo(opened, "How many hotels?", { tokenBudget });

      expect(results.length).toBeGreaterThan(10);
      expect(bundle).toMatchObject({
        includedCount: 0,
        renderedContext: "",
        tokensUsed: 0,
        coverageNotice: undefined,
        contextGuidance: undefined,
      });
      expect(bundle.excludedIds).toHaveLength(results.length);
    }
  });
});

test("a limit of 0 and an empty list of sources give nothing, and say so differently", async () => {
  const opened = await open();
  await fillWorld(opened);

  const none = await answerTo(opened, "hotel", { limit: 0 });
  const noSource = await answerTo(opened, "hotel", { sourceTypes: [] });
  const noType = await answerTo(opened, "hotel", { excludeNodeTypes: [] });

  expect([none.results, noSource.results]).toEqual([[], []]);
  expect(new Set(none.excluded.map(({ reason }) => reason))).toEqual(
    new Set(["result_limit", "epistemic_filtered:hypothetical"]),
  );
  expect(noSource.excluded).toEqual([]);
  expect(noSource.metadata.candidatesGenerated).toEqual({
    GRAPH: 0,
    VECTOR: 0,
    LEXICAL: 0,
    PINNED: 0,
  });
  expect([none.bundle.renderedContext, noSource.bundle.renderedContext]).toEqual(["", ""]);
  expect(noType.results.length).toBeGreaterThan(10);
});

test("numbers as large as can be are taken; a budget ends at the tokens that are counted", async () => {
  const opened = await open();
  await fillWorld(opened);
  const most = Number.MAX_SAFE_INTEGER;

  const all = await answerTo(opened, "hotel", {
    tokenBudget: most,
    limit: most,
    maxPerSource: most,
    maxPerEvidence: most,
  });
  const none = await answerTo(opened, "hotel", { minScore: Number.MAX_VALUE });

  expect(all.bundle.includedCount).toBe(all.results.length);
  expect(all.bundle.budgetRemaining).toBe(131_072 - 100 - all.bundle.tokensUsed);
  expect(none.results).toEqual([]);
  expect(none.metadata.minScore).toBe(Number.MAX_VALUE);
});

test("memories without text have no line, which no budget is to blame for", async () => {
  const opened = await open();
  await remember(
    opened,
    { content: " \n\u2003", pinned: true },
    { content: "", nodeType: "task" },
    { content: "green tea" },
  );

  const { results, bundle, metadata } = await answerTo(opened, "How many teas?");

  expect(results).toHaveLength(3);
  expect(linesOf(bundle.renderedContext).records).toEqual(['- "green tea"']);
  expect(bundle.blankIds).toHaveLength(2);
  expect(metadata.aggregationCoverage?.limitations).toEqual(["semantic_matching"]);
});
