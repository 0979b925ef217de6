import { describe, expect, test } from "bun:test";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import type { RetrieveInput } from "../../../src/engine/retrieve/api.ts";
import { sha256Hex } from "../../../src/lib/hashing.ts";
import { at } from "../../contract/samples.ts";
import { REAL_MODEL, useEngines } from "../engines.ts";
import { ask, fillWorld, packing, remember } from "./pipeline-world.ts";

const { open } = useEngines({ upkeep: undefined });

/** Questions that take every search and every kind of expansion. */
const QUESTIONS: readonly (readonly [string, Partial<RetrieveInput>])[] = [
  ["Which hotel did we choose in Lisbon?", {}],
  ["What is the current hotel?", { scope: "personal" }],
  ["How many hotels are there in Lisbon?", { tokenBudget: 220 }],
  ["hotel", { limit: 4, minScore: 0.3, retrievalMode: "explicit", knowledgeAt: at(100) }],
];

/** Everything of an answer that has to be the same each time. */
async function answerOf(engine: MemoryEngine, query: string, given: Partial<RetrieveInput>) {
  const answer = await ask(engine, query, given);
  const { results, bundle, crossScopeHints, excluded, metadata } = answer;
  const kept = await engine.getRetrievalReceipt(metadata.requestId, "ada");
  const { requestId: _, timingMs: __, stages, ...told } = metadata;
  return {
    results: results.map(({ key: _, ...result }) => result),
    hints: crossScopeHints.map(({ key: _, ...hint }) => hint),
    context: bundle.renderedContext,
    references: [...bundle.contextReferences],
    left: bundle.excludedIds,
    excluded,
    told,
    stages: stages.map(({ stage, input, output }) => [stage, input, output]),
    contextSha256: kept?.receipt.contextSha256,
    candidates: kept?.receipt.candidates,
    checksumOf: kept && sha256Hex(kept.text.replaceAll(metadata.requestId, "")),
  };
}

async function allAnswers(engine: MemoryEngine) {
  const answers = [];
  for (const [query, given] of QUESTIONS) answers.push(await answerOf(engine, query, given));
  return answers;
}

describe("the same question at the same moment", () => {
  test("has the same answer and the same receipt twenty times", async () => {
    const opened = await open();
    await fillWorld(opened);

    const first = await allAnswers(opened.engine);

    expect(first.map(({ results }) => results.length)).toEqual([18, 17, 18, 4]);
    expect(first.map(({ hints }) => hints.length)).toEqual([0, 1, 0, 0]);
    for (const { context, contextSha256 } of first) {
      expect(contextSha256).toBe(sha256Hex(context));
    }
    for (let round = 1; round < 20; round += 1) {
      expect(await allAnswers(opened.engine)).toEqual(first);
    }
  });

  test("has the same answer after the pack was opened again and after its indexes were rebuilt", async () => {
    const first = await open({ embedder: REAL_MODEL });
    await fillWorld(first);
    const before = await allAnswers(first.engine);
    await first.engine.close();

    const { engine } = await open({ embedder: REAL_MODEL, pack: first.pack });
    const opened = await allAnswers(engine);
    const rebuilt = await engine.rebuildIndexes({ all: true });
    const after = await allAnswers(engine);

    expect(opened).toEqual(before);
    // Two are retired.
    expect(rebuilt.nodesEmbedded).toBe(rebuilt.totalActive + 2);
    expect(after).toEqual(before);
  });

  test("has the same answer where more memories are equal than a search may bring", async () => {
    const first = await open({ settings: packing({ vectorK: 7, lexicalK: 5 }) });
    const equal = { content: "green tea", sessionId: "s" };
    await remember(first, ...Array.from({ length: 40 }, () => equal));
    const before = await answerOf(first.engine, "green tea", { scope: "personal" });
    await first.engine.rebuildIndexes({ all: true });
    const rebuilt = await answerOf(first.engine, "green tea", { scope: "personal" });
    await first.engine.close();

    const { engine } = await open({
      pack: first.pack,
      settings: packing({ vectorK: 7, lexicalK: 5 }),
    });
    const opened = await answerOf(engine, "green tea", { scope: "personal" });

    expect(before.told.candidatesGenerated).toMatchObject({ VECTOR: 7, LEXICAL: 5 });
    expect(before.results.length).toBeWithin(7, 40);
    expect(rebuilt).toEqual(before);
    expect(opened).toEqual(before);
  });
});
