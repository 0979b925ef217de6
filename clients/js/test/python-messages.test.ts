import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { BaseMessage } from "@langchain/core/messages";
import type { MemoryEvent } from "../../../src/domain/node.ts";
import { asInstant } from "../../../src/lib/instant.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import { asUuid } from "../../../src/lib/uuid.ts";
import { MESSAGE_KEY, messageOf } from "../src/langchain/message-form.ts";

/** What `message_to_dict` of langchain-core 1.7.2 for Python writes for one message of each kind. */
const WRITTEN: readonly JsonObject[] = JSON.parse(
  readFileSync(join(import.meta.dir, "python-messages.json"), "utf8"),
);

function read(message: JsonObject): BaseMessage {
  const event: MemoryEvent = {
    id: asUuid("00000000-0000-7000-8000-000000000001"),
    userId: "anna",
    sessionId: "s",
    scope: "personal",
    role: "user",
    content: "only its text",
    contentHash: "",
    metadata: { [MESSAGE_KEY]: { version: 1, format: "langchain-v1", message } },
    eventTime: undefined,
    timestamp: asInstant("2026-01-01T00:00:00.000000Z"),
  };
  return messageOf(event);
}

test("messages that LangChain for Python wrote come back whole", () => {
  const messages = WRITTEN.map(read);
  expect(messages.map((message) => [message.constructor.name, message.content])).toEqual([
    ["SystemMessage", "sys"],
    [
      "HumanMessage",
      [
        { type: "text", text: "a" },
        { type: "image_url", image_url: { url: "data:x" } },
      ],
    ],
    ["AIMessage", ""],
    ["ToolMessage", "out"],
    ["AIMessage", "chunk"],
    ["FunctionMessage", "fn"],
    ["ChatMessage", "mod"],
    [
      "AIMessage",
      [
        { type: "reasoning", reasoning: "hm" },
        { type: "text", text: "v1" },
      ],
    ],
  ]);
  const [, human, call, result, chunk, , moderator] = messages;
  expect(human).toMatchObject({ name: "anna", id: "h1" });
  expect(call).toMatchObject({
    tool_calls: [{ name: "f", args: { a: 1, lc: 2 }, id: "c1", type: "tool_call" }],
    usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
  });
  expect(call?.id).toBeUndefined();
  expect(result).toMatchObject({ tool_call_id: "c1", artifact: { x: [1] }, status: "error" });
  expect(chunk?.id).toBe("r1");
  expect(moderator).toMatchObject({ role: "moderator" });
});
