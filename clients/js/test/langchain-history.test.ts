import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AIMessage,
  AIMessageChunk,
  BaseMessage,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { ChatPromptTemplate, MessagesPlaceholder } from "@langchain/core/prompts";
import { RunnableWithMessageHistory } from "@langchain/core/runnables";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { MemoryWorkspace } from "../../../src/library.ts";
import { MemoryChatHistory } from "../src/langchain.ts";
import { remoteMemory } from "../src/remote.ts";
import { type Grounds, KEY, openGrounds, WAYS } from "./grounds.ts";

let grounds: Grounds;
beforeAll(async () => {
  grounds = await openGrounds();
}, 120_000);
afterAll(() => grounds[Symbol.asyncDispose]());

const dicts = (messages: readonly BaseMessage[]) => messages.map((message) => message.toDict());
const contents = (messages: readonly BaseMessage[]) => messages.map(({ content }) => content);

/** Every kind of message, with whatever it can carry. */
const KINDS: readonly BaseMessage[] = [
  new SystemMessage("You are brief."),
  new HumanMessage({ content: "What is the weather in Bonn?", id: "h1", name: "anna" }),
  new AIMessage({
    content: "",
    id: "a1",
    tool_calls: [{ name: "weather", args: { city: "Bonn" }, id: "c1", type: "tool_call" }],
    response_metadata: { model: "m", usage: { input_tokens: 3 } },
    additional_kwargs: { anything: [1, null, "two"] },
  }),
  new ToolMessage({
    content: "12 degrees",
    tool_call_id: "c1",
    status: "success",
    artifact: { t: 12 },
  }),
  new AIMessage({
    content: [
      { type: "text", text: "It is " },
      { type: "text", text: "12 degrees." },
    ],
  }),
  new HumanMessage({
    content: [
      { type: "text", text: "And here?" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
    ],
  }),
  new FunctionMessage({ content: "old style", name: "f" }),
  new ChatMessage({ content: "I moderate.", role: "moderator" }),
  new AIMessage({
    contentBlocks: [
      { type: "reasoning", reasoning: "hm" },
      { type: "text", text: "Here." },
    ],
  }),
];

describe.each(WAYS)("a chat history over an %s memory", (way) => {
  const historyOf = (sessionId: string, userId = "anna") =>
    new MemoryChatHistory({ memory: grounds.memories[way], userId, sessionId });

  test("gives every kind of message back as it was, in its order", async () => {
    const history = historyOf(`${way}-kinds`);
    await history.addMessages([...KINDS]);
    const read = await historyOf(`${way}-kinds`).getMessages();
    expect(dicts(read)).toEqual(JSON.parse(JSON.stringify(dicts(KINDS))));
    const classes = (messages: readonly BaseMessage[]) =>
      messages.map((message) => message.constructor.name);
    expect(classes(read)).toEqual(classes(KINDS));
  });

  test("keeps each message with text as a note of its session, with its role, that can be found", async () => {
    await historyOf(`${way}-found`, `${way}-tom`).addMessages([
      new HumanMessage("My bicycle stands in the cellar of the library"),
      new AIMessage({
        content: "",
        tool_calls: [
          { name: "f", args: { a: 1 }, id: "1" },
          { name: "g", args: {}, id: "2" },
        ],
      }),
      new ToolMessage({ content: [{ type: "text", text: "done" }], tool_call_id: "1" }),
    ]);
    const { events } = await grounds.engine.listEvents({ userId: `${way}-tom`, order: "oldest" });
    expect(
      events.map(({ role, content, sessionId, scope }) => [role, content, sessionId, scope]),
    ).toEqual([
      ["user", "My bicycle stands in the cellar of the library", `${way}-found`, "personal"],
      ["assistant", '[calls f({"a":1}) g({})]', `${way}-found`, "personal"],
      ["tool", "done", `${way}-found`, "personal"],
    ]);
    expect(events[0]?.metadata).toMatchObject({
      _svc_chat_message: { version: 1, format: "langchain-v1", message: { type: "human" } },
    });
    const found = await grounds.engine.retrieve({ query: "bicycle", userId: `${way}-tom` });
    expect(found.results.map(({ node }) => [node.content, node.nodeType]).sort()).toEqual([
      ["My bicycle stands in the cellar of the library", "note"],
      ["done", "note"],
    ]);
  });

  test("is empty after a clear, which leaves the memories", async () => {
    const history = historyOf(`${way}-cleared`, `${way}-ada`);
    await history.addUserMessage("The key lies under the flower pot");
    await history.clear();
    expect(await history.getMessages()).toEqual([]);
    await history.addAIMessage("Hello again");
    expect(contents(await history.getMessages())).toEqual(["Hello again"]);
    const { results } = await grounds.engine.retrieve({
      query: "Where is the key?",
      userId: `${way}-ada`,
    });
    const texts = results.map(({ node }) => node.content);
    expect(texts).toContain("The key lies under the flower pot");
    expect(texts).not.toContain("[chat history cleared]");
    const listed = await grounds.engine.queryNodes({ userId: `${way}-ada` });
    expect(listed.map(({ content }) => content)).not.toContain("[chat history cleared]");
    const { events } = await grounds.engine.listEvents({ userId: `${way}-ada`, order: "oldest" });
    expect(events[1]).toMatchObject({
      role: "system",
      metadata: { _svc_chat_history_control: { version: 1, operation: "clear" } },
    });
  });

  test("deletes one message by its place from either end", async () => {
    const history = historyOf(`${way}-deleted`);
    await history.addMessages(["one", "two", "three"].map((text) => new HumanMessage(text)));
    expect((await history.deleteMessage(-1))?.content).toBe("three");
    expect((await history.deleteMessage(0))?.content).toBe("one");
    expect(await history.deleteMessage(5)).toBeUndefined();
    expect(contents(await history.getMessages())).toEqual(["two"]);
    expect(history.deleteMessage(0.5)).rejects.toThrow("index: 0.5 is not an integer");
  });

  test("keeps sessions, owners and scopes apart", async () => {
    const memory = grounds.memories[way];
    await historyOf(`${way}-apart`).addUserMessage("anna, personal");
    await historyOf(`${way}-apart`, "tom").addUserMessage("tom, personal");
    const work = new MemoryChatHistory({
      memory,
      userId: "anna",
      sessionId: `${way}-apart`,
      scope: "project",
    });
    await work.addUserMessage("anna, project");
    await work.clear();
    await work.addUserMessage("anna, project again");
    expect(contents(await historyOf(`${way}-apart`).getMessages())).toEqual(["anna, personal"]);
    expect(contents(await work.getMessages())).toEqual(["anna, project again"]);
    const alone = new MemoryChatHistory({ memory, userId: "anna" });
    expect(alone.sessionId).toMatch(/^[0-9a-f-]{36}$/);
    expect(await alone.getMessages()).toEqual([]);
  });

  test("shows what other writers stored in the session as turns, and not what was forgotten", async () => {
    const { engine } = grounds;
    const [userId, sessionId] = [`${way}-mixed`, `${way}-mixed`];
    await engine.ingest({ content: "said to another program", userId, sessionId });
    await engine.ingest({ content: "its answer", userId, sessionId, role: "assistant" });
    await engine.ingest({ content: "its rules", userId, sessionId, role: "system" });
    const tool = await engine.ingest({ content: "a tool", userId, sessionId, role: "tool" });
    const history = historyOf(sessionId, userId);
    const kinds = async () =>
      (await history.getMessages()).map((one) => [one.getType(), one.content]);
    const turns = [
      ["human", "said to another program"],
      ["ai", "its answer"],
      ["system", "its rules"],
    ];
    expect(await kinds()).toEqual([...turns, ["human", "a tool"]]);
    const { confirm } = await engine.forget({ userId, ids: [tool] });
    await engine.forget({ userId, ids: [tool], mode: "erase", confirm });
    expect(await kinds()).toEqual(turns);
  });

  test("reads what the Python original wrote, as far as the forms agree", async () => {
    const { engine } = grounds;
    const userId = `${way}-python`;
    const put = (content: string, message: unknown, version = 1) =>
      engine.store({
        content,
        userId,
        sessionId: "s",
        metadata: { _svc_chat_message: { version, format: "langchain-v1", message } },
      });
    const shared = { additional_kwargs: {}, response_metadata: {}, name: null, id: null };
    await put("hi", {
      type: "human",
      data: { ...shared, content: "hi", type: "human", example: false },
    });
    await put("calls", {
      type: "AIMessageChunk",
      data: {
        ...shared,
        content: "calls",
        type: "AIMessageChunk",
        tool_calls: [{ name: "f", args: { a: 1 }, id: "c", type: "tool_call" }],
        invalid_tool_calls: [],
        usage_metadata: null,
      },
    });
    await put("out", {
      type: "tool",
      data: { ...shared, content: "out", tool_call_id: "c", artifact: null, status: "error" },
    });
    await put("mod", { type: "chat", data: { ...shared, content: "mod", role: "moderator" } });
    await put("later", { type: "ai", data: { content: "of a later version" } }, 2);
    await put("odd", { type: "hologram", data: { content: "?" } });
    await put("broken", { type: "tool", data: { content: "no id of a call" } });
    const [hi, calls, out, mod, ...others] = await historyOf("s", userId).getMessages();
    expect(hi).toBeInstanceOf(HumanMessage);
    expect(hi?.id).toBeUndefined();
    expect(calls).toBeInstanceOf(AIMessage);
    expect(calls).toMatchObject({ tool_calls: [{ name: "f", args: { a: 1 }, id: "c" }] });
    expect(out).toMatchObject({ tool_call_id: "c", status: "error" });
    expect(mod).toMatchObject({ role: "moderator" });
    expect(others.map((one) => [one.getType(), one.content])).toEqual([
      ["human", "later"],
      ["human", "odd"],
      ["human", "broken"],
    ]);
  });

  test.each([
    { version: 2, operation: "clear" },
    { version: 1, operation: "shuffle" },
    { version: 1, operation: "delete" },
    "clear",
    null,
  ])("refuses to read past the instruction %j, which it does not know", async (control) => {
    const userId = `${way}-${JSON.stringify(control)}`;
    await grounds.engine.store({
      content: "x",
      userId,
      sessionId: "s",
      role: "system",
      metadata: { _svc_chat_history_control: control },
    });
    const failed = await historyOf("s", userId)
      .getMessages()
      .catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: "unsupported" });
  });

  test("keeps arguments and results that look like objects of LangChain itself", async () => {
    const history = historyOf(`${way}-escaped`);
    const args = { lc: 1, nested: { __lc_escaped__: { lc: 2 } } };
    await history.addMessages([
      new AIMessage({ content: "x", tool_calls: [{ name: "f", args, id: "c" }] }),
      new ToolMessage({
        content: "y",
        tool_call_id: "c",
        artifact: { __lc_escaped__: { a: args } },
      }),
    ]);
    const [call, result] = await history.getMessages();
    expect(call).toMatchObject({ tool_calls: [{ name: "f", args, id: "c" }] });
    expect(result).toMatchObject({ artifact: { __lc_escaped__: { a: args } } });
  });

  test("keeps halves of characters and hundreds of kilobytes whole", async () => {
    const history = historyOf(`${way}-hostile`);
    const huge = "line of output\n".repeat(40_000);
    const messages = [
      new HumanMessage("half \ud83d a smiley"),
      new ToolMessage({ content: huge, tool_call_id: "c" }),
      new HumanMessage(""),
      new HumanMessage("\u0000 and \u202e turned"),
      new AIMessage({ content: [{ type: "text", text: "\udc00" }] }),
    ];
    await history.addMessages(messages);
    expect(contents(await history.getMessages())).toEqual(contents(messages));
  }, 120_000);

  test("refuses what cannot be kept, before anything is stored", async () => {
    const history = historyOf(`${way}-refused`);
    const first = new HumanMessage("fine");
    const failed = (message: BaseMessage) =>
      history.addMessages([first, message]).catch((error: unknown) => String(error));
    expect(await failed(new RemoveMessage({ id: "h1" }))).toContain(
      "messages[1]: is a request to remove",
    );
    expect(
      await failed(new ToolMessage({ content: "x", tool_call_id: "c", artifact: 10n })),
    ).toContain("messages[1]: cannot be written as JSON");
    expect(await history.getMessages()).toEqual([]);
  });

  test("keeps the order of calls that nobody awaited, and goes on after one that failed", async () => {
    const history = historyOf(`${way}-order`);
    const texts = Array.from({ length: 12 }, (_, index) => `message ${index}`);
    const calls = texts.map((text) => history.addUserMessage(text));
    let deep: unknown = "x";
    for (let level = 0; level < 600; level += 1) deep = [deep];
    const bad = new ToolMessage({ content: "x", tool_call_id: "c", artifact: deep });
    const failed = history.addMessage(bad).catch((error: unknown) => error);
    const last = history.addUserMessage("last");
    expect(contents(await history.getMessages())).toEqual([...texts, "last"]);
    expect(await failed).toMatchObject({ code: "invalid_argument" });
    await Promise.all([...calls, last]);
  });

  test("two histories of one session lose nothing, and read the same", async () => {
    const [one, other] = [historyOf(`${way}-both`), historyOf(`${way}-both`)];
    const texts = (name: string) => Array.from({ length: 15 }, (_, index) => `${name} ${index}`);
    await Promise.all([
      one.addMessages(texts("one").map((text) => new HumanMessage(text))),
      other.addMessages(texts("other").map((text) => new AIMessage(text))),
    ]);
    const read = contents(await one.getMessages());
    expect(read).toEqual(contents(await other.getMessages()));
    expect(read.filter((text) => String(text).startsWith("one"))).toEqual(texts("one"));
    expect(read.filter((text) => String(text).startsWith("other"))).toEqual(texts("other"));
    expect(read).toHaveLength(30);
  });

  test("carries a conversation through a chain with history", async () => {
    const seen: string[] = [];
    const model = new FakeListChatModel({ responses: ["Hello Anna.", "You are Anna."] });
    const prompt = ChatPromptTemplate.fromMessages([
      ["system", "You are brief."],
      new MessagesPlaceholder("history"),
      ["human", "{input}"],
    ]);
    const chain = new RunnableWithMessageHistory({
      runnable: prompt
        .pipe((value) => {
          seen.push(value.toString());
          return value;
        })
        .pipe(model),
      getMessageHistory: (sessionId) => historyOf(String(sessionId)),
      inputMessagesKey: "input",
      historyMessagesKey: "history",
    });
    const config = { configurable: { sessionId: `${way}-chain` } };
    await chain.invoke({ input: "I am Anna." }, config);
    const answer = await chain.invoke({ input: "Who am I?" }, config);
    expect(answer.content).toBe("You are Anna.");
    expect(seen[1]).toContain("I am Anna.");
    expect(seen[1]).toContain("Hello Anna.");
    expect(contents(await historyOf(`${way}-chain`).getMessages())).toEqual([
      "I am Anna.",
      "Hello Anna.",
      "Who am I?",
      "You are Anna.",
    ]);
  });

  test("keeps a part of a stream as the message that it is", async () => {
    const history = historyOf(`${way}-chunk`);
    await history.addMessage(new AIMessageChunk({ content: "streamed", id: "run-1" }));
    const [read] = await history.getMessages();
    expect(read).toBeInstanceOf(AIMessage);
    expect(read).toMatchObject({ content: "streamed", id: "run-1" });
  });

  test("reads more messages than a page holds", async () => {
    const userId = `${way}-long`;
    const items = Array.from({ length: 1203 }, (_, index) => ({
      content: `turn ${index}`,
      sessionId: "s",
    }));
    await grounds.engine.ingestFastMany({ items, userId });
    const read = contents(await historyOf("s", userId).getMessages());
    expect(read).toEqual(items.map(({ content }) => content));
  }, 120_000);
});

test("a namespace of a workspace has a history, too", async () => {
  const place = mkdtempSync(join(tmpdir(), "svc-workspace-"));
  const message = new HumanMessage("kept in a namespace");
  await using workspace = await MemoryWorkspace.open(place);
  {
    await using memory = await workspace.namespace("acme");
    await new MemoryChatHistory({ memory, userId: "anna", sessionId: "s" }).addMessage(message);
  }
  await using memory = await workspace.namespace("acme");
  const history = new MemoryChatHistory({ memory, userId: "anna", sessionId: "s" });
  expect(contents(await history.getMessages())).toEqual(["kept in a namespace"]);
  rmSync(place, { recursive: true, force: true });
}, 120_000);

test("messages that nobody awaited stay in order when the first one takes long", async () => {
  let calls = 0;
  const memory = remoteMemory({
    url: grounds.url,
    apiKey: KEY,
    fetch: async (url, request) => {
      calls += 1;
      if (calls === 1) await Bun.sleep(200);
      return fetch(url, request);
    },
  });
  const history = new MemoryChatHistory({ memory, userId: "slow", sessionId: "s" });
  await Promise.all(["one", "two"].map((text) => history.addUserMessage(text)));
  expect(contents(await history.getMessages())).toEqual(["one", "two"]);
});

test("a clear succeeds where the sweep of expired memories is faster", async () => {
  const { engine } = grounds;
  const memory = {
    ...grounds.memories.embedded,
    archive: async (id: string, of: { readonly userId: string }) => {
      await engine.archive(id, of);
      return engine.archive(id, of);
    },
  };
  const history = new MemoryChatHistory({ memory, userId: "swept", sessionId: "s" });
  await history.addUserMessage("before");
  await history.clear();
  expect(await history.getMessages()).toEqual([]);
});

/** A message of a program's own. */
class Gesture extends BaseMessage {
  override get lc_id(): string[] {
    return ["app", "Gesture"];
  }
  readonly type = "gesture";
}

test("a message of an unknown class is kept whole and read as what somebody said", async () => {
  const memory = grounds.engine;
  const history = new MemoryChatHistory({ memory, userId: "gestures", sessionId: "s" });
  await history.addMessage(new Gesture({ content: "waves", additional_kwargs: { hand: "left" } }));
  const [read] = await history.getMessages();
  expect(read).toBeInstanceOf(HumanMessage);
  expect(read?.content).toBe("waves");
  const { events } = await memory.listEvents({ userId: "gestures" });
  expect(events[0]?.metadata).toMatchObject({
    _svc_chat_message: {
      message: { type: "gesture", data: { content: "waves", additional_kwargs: { hand: "left" } } },
    },
  });
});

test("an output that is too large for a server is refused as such, and the history goes on", async () => {
  const memory = grounds.memories.remote;
  const history = new MemoryChatHistory({ memory, userId: "large", sessionId: "s" });
  const large = new ToolMessage({ content: "x".repeat(6_000_000), tool_call_id: "c" });
  const failed = await history.addMessage(large).catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: "too_large" });
  await history.addUserMessage("still here");
  expect(contents(await history.getMessages())).toEqual(["still here"]);
}, 120_000);
