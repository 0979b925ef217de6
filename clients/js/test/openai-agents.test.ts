import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SvcSession } from "../src/openai-agents.ts";
import { type Grounds, openGrounds, WAYS } from "./grounds.ts";

let grounds: Grounds;
beforeAll(async () => {
  grounds = await openGrounds();
}, 120_000);
afterAll(() => grounds[Symbol.asyncDispose]());

/** A turn with a tool, in the forms of the SDK. */
const TURN: readonly object[] = [
  { type: "message", role: "user", content: "My bicycle stands in the cellar" },
  { type: "reasoning", content: [{ type: "input_text", text: "A bicycle, a cellar" }] },
  { type: "function_call", callId: "c1", name: "note", arguments: "{}", status: "completed" },
  {
    type: "function_call_result",
    callId: "c1",
    name: "note",
    status: "completed",
    output: { type: "text", text: "ok" },
  },
  {
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: "I noted the cellar." }],
  },
  { role: "user", content: [{ type: "input_text", text: "Where is my bicycle?" }] },
];
const said = (content: string) => ({ role: "user", content });

describe.each(WAYS)("a session over an %s memory", (way) => {
  const sessionOf = (sessionId: string, userId = `${way}-anna`) =>
    new SvcSession<object>({ memory: grounds.memories[way], userId, sessionId });

  test("gives every item back as it was, the latest of them by a limit", async () => {
    const session = sessionOf("kinds");
    await session.addItems([...TURN]);
    expect(await session.getSessionId()).toBe("kinds");
    const read = sessionOf("kinds");
    expect(await read.getItems()).toEqual([...TURN]);
    expect(await read.getItems(2)).toEqual(TURN.slice(-2));
    expect(await read.getItems(99)).toEqual([...TURN]);
    expect(await read.getItems(0)).toEqual([]);
    expect(await sessionOf("other").getItems()).toEqual([]);
    expect(await sessionOf("kinds", `${way}-tom`).getItems()).toEqual([]);
  });

  test("makes memories of what was stated, and of no question, thought or call", async () => {
    const userId = `${way}-found`;
    await sessionOf("s", userId).addItems([...TURN]);
    const { results } = await grounds.engine.retrieve({ query: "Where is my bicycle?", userId });
    expect(results.map(({ node }) => [node.content, node.nodeType]).sort()).toEqual([
      ["I noted the cellar.", "note"],
      ["My bicycle stands in the cellar", "note"],
    ]);
  });

  test("takes the latest items out, each once, and keeps the memories when it is cleared", async () => {
    const userId = `${way}-popped`;
    const session = sessionOf("s", userId);
    await session.addItems(["one", "The key lies under the pot", "three"].map(said));
    const popped = await Promise.all([session.popItem(), session.popItem()]);
    expect(popped).toEqual([said("three"), said("The key lies under the pot")]);
    expect(await session.getItems()).toEqual([said("one")]);
    await session.clearSession();
    expect(await session.getItems()).toEqual([]);
    expect(await session.popItem()).toBeUndefined();
    const { results } = await grounds.engine.retrieve({ query: "Where is the key?", userId });
    expect(results[0]?.node.content).toBe("The key lies under the pot");
  });

  test("refuses what JSON cannot hold, before anything is stored", async () => {
    const session = sessionOf("refused");
    for (const content of [10n, [{ type: "input_image", image: new Uint8Array(3) }]]) {
      const failed = session.addItems([said("fine"), { role: "user", content }]);
      expect(await failed.catch((error: unknown) => error)).toMatchObject({
        code: "invalid_argument",
        field: "items[1]",
      });
    }
    expect(await session.getItems()).toEqual([]);
  });

  test("shows what other programs said in the session as messages", async () => {
    const [userId, sessionId] = [`${way}-mixed`, "s"];
    for (const role of ["user", "assistant", "system"] as const) {
      await grounds.engine.ingest({ content: `of ${role}`, userId, sessionId, role });
    }
    expect(await sessionOf(sessionId, userId).getItems()).toEqual([
      { type: "message", ...said("of user") },
      {
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "of assistant" }],
      },
      { type: "message", role: "system", content: "of system" },
    ]);
  });
});
