import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { memoryProcessor } from "../src/mastra.ts";
import { type Grounds, openGrounds, WAYS } from "./grounds.ts";

let grounds: Grounds;
beforeAll(async () => {
  grounds = await openGrounds();
}, 120_000);
afterAll(() => grounds[Symbol.asyncDispose]());

const asks = (text: string) => [
  { role: "system", content: "You are brief." },
  { role: "user", content: [{ type: "text", text }] },
];
const inThread = (id: string) => ({
  get: (key: string) => (key === "MastraMemory" ? { thread: { id } } : undefined),
});

describe.each(WAYS)("a processor over an %s memory", (way) => {
  const userId = `${way}-anna`;
  const processorOf = (memory = grounds.memories[way]) =>
    memoryProcessor({ memory, userId, sessionId: "s" });
  const logOf = async (sessionId: string) => {
    const { events } = await grounds.engine.listEvents({ userId, sessionId, order: "oldest" });
    return events.map(({ role, content }) => [role, content]);
  };

  test("stores a turn, and puts it in front of a question of the next conversation, at each step", async () => {
    const first = processorOf();
    const state = {};
    const said = asks("The spare key lies under the blue flower pot.");
    await first.processLLMRequest({ prompt: said, state, requestContext: inThread("one") });
    const messages = [{ id: "m" }];
    const result = {
      text: "Let me see. Noted.",
      finishReason: "stop",
      steps: [{ text: "Let me see. " }, { text: "Noted." }],
    };
    expect(await first.processOutputResult({ messages, state, result })).toBe(messages);
    expect(await logOf("one")).toEqual([
      ["user", "The spare key lies under the blue flower pot."],
      ["assistant", "Noted."],
    ]);

    const second = processorOf();
    const asked = { state: {}, requestContext: inThread("two") };
    const question = asks("Where is the spare key?");
    const { prompt } = await second.processLLMRequest({ prompt: question, ...asked });
    expect(prompt[0]).toEqual({ role: "system", content: "You are brief." });
    const content: unknown = prompt[1]?.content;
    expect(content).toEqual([
      expect.objectContaining({ text: expect.stringContaining("under the blue flower pot") }),
      { type: "text", text: "Where is the spare key?" },
    ]);
    const later = [...question, { role: "assistant", content: [] }];
    const step = await second.processLLMRequest({ prompt: later, ...asked });
    expect(step.prompt).toEqual([...prompt, { role: "assistant", content: [] }]);
    const answer = { text: "Under the pot.", finishReason: "stop" };
    await second.processOutputResult({ messages, state: asked.state, result: answer });
    expect(await logOf("two")).toHaveLength(2);
    const { results } = await grounds.engine.retrieve({ query: "spare key", userId });
    expect(results.map(({ node }) => node.content)).not.toContain("Where is the spare key?");
  });

  test.each([
    { finishReason: "error", isObject: false, stored: [] },
    { finishReason: "tool-calls", isObject: false, stored: ["user"] },
    { finishReason: "stop", isObject: true, stored: ["user"] },
  ])(
    "stores of a call that ended with $finishReason, as an object: $isObject, $stored",
    async ({ finishReason, isObject, stored }) => {
      const processor = processorOf();
      const thread = `${finishReason} ${isObject}`;
      const state = {};
      await processor.processInputStep({ state, structuredOutput: isObject ? {} : undefined });
      const prompt = asks(`I live in Kiel (${thread}).`);
      await processor.processLLMRequest({ prompt, state, requestContext: inThread(thread) });
      const result = { text: "{}", finishReason };
      await processor.processOutputResult({ messages: [], state, result });
      expect((await logOf(thread)).map(([role]) => role)).toEqual([...stored]);
    },
  );
});
