/** The public names of `svc-client/openai-agents`: a session for the OpenAI Agents SDK. `docs/frameworks.md` shows its use. */
import { isVisible } from "../../../src/domain/arguments.ts";
import { ROLES } from "../../../src/domain/enums.ts";
import { invalid } from "../../../src/domain/errors.ts";
import type { MemoryEvent } from "../../../src/domain/node.ts";
import { Conversation, type ConversationInput, type MessageForm } from "./conversation.ts";
import { isObject, type Memory } from "./memory.ts";
import { isQuestion } from "./question.ts";

export type { Memory };
export type SvcSessionInput = ConversationInput;

/** The member of an event's metadata that holds the whole item. Those of Python have other names for the same. */
const ITEM_KEY = "_svc_agents_js_item";
const VERSION = 1;

/**
 * The items of one conversation, a `Session` of `@openai/agents`. What somebody says in it is a memory of its owner as well, and
 * stays one when it leaves the session; a user's question is in the session alone.
 */
export class SvcSession<Item extends object = Readonly<Record<string, unknown>>> {
  readonly #log: Conversation;

  /** @throws SvcError invalid_argument for an owner that is none */
  constructor(input: SvcSessionInput) {
    this.#log = new Conversation(input);
  }

  async getSessionId(): Promise<string> {
    return this.#log.sessionId;
  }

  /**
   * Oldest first. What other programs stored in the session is among them, with its role and its text.
   * @param limit only the latest
   */
  async getItems(limit?: number): Promise<Item[]> {
    const events = await this.#log.entries();
    const start = limit === undefined ? 0 : events.length - Math.max(limit, 0);
    return events.slice(Math.max(start, 0)).map((event) => itemOf<Item>(event));
  }

  /**
   * All are checked before the first is stored; if storing one fails, those before it stay.
   * @throws SvcError invalid_argument for an item that JSON cannot hold; or whatever storing throws
   */
  async addItems(items: Item[]): Promise<void> {
    await this.#log.append(items.map((item, index) => formOf(item, `items[${index}]`)));
  }

  /** Takes the latest item out of the session. */
  async popItem(): Promise<Item | undefined> {
    const event = await this.#log.removeAt(-1);
    return event && itemOf<Item>(event);
  }

  async clearSession(): Promise<void> {
    await this.#log.clear();
  }
}

function formOf(given: object, field: string): MessageForm {
  const item = jsonOf(given, field);
  // Half a character cannot be indexed; the item itself is kept as it is.
  const text = textOf(item["content"]).toWellFormed();
  // Only who speaks has a role: thoughts, calls and their results have none.
  const role = ROLES.find((name) => name === item["role"]);
  const isFound = role !== undefined && isVisible(text) && !(role === "user" && isQuestion(text));
  return {
    role: role ?? "tool",
    text: isVisible(text) ? text : `[${String(item["type"] ?? "item")} without text]`,
    isFound,
    metadata: { [ITEM_KEY]: { version: VERSION, item } },
  };
}

function jsonOf(item: object, field: string): MessageForm["metadata"] {
  try {
    return JSON.parse(JSON.stringify(item, refuseBytes));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw invalid(field, `cannot be written as JSON: ${reason}`);
  }
}

/** Bytes would come back as an object of numbers. */
function refuseBytes(_: string, value: unknown): unknown {
  if (ArrayBuffer.isView(value)) throw new TypeError("it holds bytes");
  return value;
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  return parts
    .flatMap((part) => (isObject(part) && typeof part["text"] === "string" ? part["text"] : []))
    .join("\n");
}

function itemOf<Item>({ role, content, metadata }: MemoryEvent): Item {
  const kept: unknown = metadata?.[ITEM_KEY];
  const isWhole = isObject(kept) && kept["version"] === VERSION && isObject(kept["item"]);
  const said =
    role === "assistant"
      ? { role, status: "completed", content: [{ type: "output_text", text: content }] }
      : { role: role === "system" ? role : "user", content };
  // SAFETY: what was given as an item, or the form of a message.
  return (isWhole ? kept["item"] : { type: "message", ...said }) as Item;
}
