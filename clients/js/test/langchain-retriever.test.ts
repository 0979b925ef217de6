import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { StringOutputParser } from "@langchain/core/output_parsers";
import { ChatPromptTemplate } from "@langchain/core/prompts";
import { RunnablePassthrough } from "@langchain/core/runnables";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { MemoryRetriever, type MemoryRetrieverInput } from "../src/langchain.ts";
import { type Grounds, openGrounds, WAYS } from "./grounds.ts";

let grounds: Grounds;
beforeAll(async () => {
  grounds = await openGrounds();
  const { engine } = grounds;
  const of = { userId: "anna" };
  await engine.store({ ...of, content: "Anna prefers tea to coffee", nodeType: "preference" });
  await engine.store({
    ...of,
    content: "Anna moved to Bonn",
    nodeType: "fact",
    eventTime: "2026-03-01T10:00:00Z",
    scope: "project",
  });
  await engine.store({ userId: "tom", content: "Tom prefers coffee to tea" });
}, 120_000);
afterAll(() => grounds[Symbol.asyncDispose]());

describe.each(WAYS)("a retriever over an %s memory", (way) => {
  const retriever = (input: Omit<MemoryRetrieverInput, "memory" | "userId"> = {}) =>
    new MemoryRetriever({ memory: grounds.memories[way], userId: "anna", ...input });

  test("gives the memories of its owner as documents, best first", async () => {
    const found = await retriever().invoke("Does Anna drink tea or coffee?");
    const { results } = await grounds.engine.retrieve({
      query: "Does Anna drink tea or coffee?",
      userId: "anna",
    });
    const [best] = found;
    const [first] = results;
    expect(found.map(({ id }) => id)).toEqual(results.map(({ node }) => node.id));
    expect(best?.pageContent).toBe("Anna prefers tea to coffee");
    expect<unknown>(best?.metadata).toEqual({
      node_type: "preference",
      lifecycle_state: "tentative",
      confidence: first?.node.confidence,
      salience: first?.node.salience,
      scope: "personal",
      created_at: first?.node.createdAt,
      updated_at: first?.node.updatedAt,
      composite_score: expect.closeTo(first?.compositeScore ?? 0, 4),
      epistemic_type: "asserted",
      semantic_relevance: expect.closeTo(first?.semanticRelevance ?? 0, 4),
      ...(way === "embedded" ? { retrieval_paths: [...(first?.paths ?? [])] } : {}),
    });
  });

  test("keeps to its scope, its number and its floor", async () => {
    const inProject = await retriever({ scope: "project" }).invoke("Where does Anna live?");
    expect(inProject.map(({ pageContent }) => pageContent)).toEqual(["Anna moved to Bonn"]);
    expect(inProject[0]?.metadata.event_time).toBe("2026-03-01T10:00:00.000000Z");
    expect(await retriever({ topK: 1 }).invoke("Anna")).toHaveLength(1);
    expect(await retriever({ topK: 0 }).invoke("Anna")).toEqual([]);
    expect(await retriever({ minScore: 1000 }).invoke("Anna")).toEqual([]);
  });

  test("passes a failure of the memory on", async () => {
    const failed = await retriever()
      .invoke("x".repeat(200_000))
      .catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: "invalid_argument" });
  });

  test("feeds a chain", async () => {
    const prompts: string[] = [];
    const chain = RunnablePassthrough.assign({
      context: async ({ question }: { question: string }) =>
        (await retriever().invoke(question)).map(({ pageContent }) => pageContent).join("\n"),
    })
      .pipe(ChatPromptTemplate.fromTemplate("{context}\n\nQuestion: {question}"))
      .pipe((value) => {
        prompts.push(value.toString());
        return value;
      })
      .pipe(new FakeListChatModel({ responses: ["Tea."] }))
      .pipe(new StringOutputParser());
    expect(await chain.invoke({ question: "What does Anna drink?" })).toBe("Tea.");
    expect(prompts[0]).toContain("Anna prefers tea to coffee");
    expect(prompts[0]).not.toContain("Tom");
  });
});

test.each([
  [{ topK: -1 }, "topK: -1 is not an integer >= 0"],
  [{ topK: 1.5 }, "topK: 1.5 is not an integer >= 0"],
  [{ minScore: Number.NaN }, "minScore: NaN is not a number >= 0"],
  [{ minScore: -0.1 }, "minScore: -0.1 is not a number >= 0"],
])("refuses %j when it is made", (input, message) => {
  const memory = grounds.engine;
  expect(() => new MemoryRetriever({ memory, userId: "anna", ...input })).toThrow(message);
});

test("does not show its memory to whoever traces it", () => {
  const traced = JSON.stringify(
    new MemoryRetriever({ memory: grounds.memories.remote, userId: "anna" }),
  );
  expect(traced).not.toContain("anna");
});
