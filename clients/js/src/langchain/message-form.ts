import {
  AIMessage,
  type BaseMessage,
  ChatMessage,
  HumanMessage,
  mapStoredMessageToChatMessage,
  type StoredMessage,
  SystemMessage,
} from "@langchain/core/messages";
import { isVisible } from "../../../../src/domain/arguments.ts";
import { ROLES, type Role } from "../../../../src/domain/enums.ts";
import { invalid } from "../../../../src/domain/errors.ts";
import type { MemoryEvent } from "../../../../src/domain/node.ts";
import type { Json } from "../../../../src/lib/json.ts";
import { given } from "../../../../src/lib/text.ts";
import type { MessageForm } from "../conversation.ts";
import { isObject } from "../memory.ts";
import { isQuestion } from "../question.ts";

/** The member of an event's metadata that holds the whole message. */
export const MESSAGE_KEY = "_svc_chat_message";

const VERSION = 1;
const FORMAT = "langchain-v1";

/** @throws SvcError invalid_argument for a message that JSON cannot hold, and for one that asks to remove another */
export function formOf(message: BaseMessage, field: string): MessageForm {
  const type = message.getType();
  if (type === "remove") {
    throw invalid(field, "is a request to remove a message; call deleteMessage for that");
  }
  const stored = { version: VERSION, format: FORMAT, message: jsonOf(message, field) };
  // Half a character cannot be indexed; the message itself is kept as it is.
  const text = textOf(message.content).toWellFormed();
  const role = roleOf(message, type);
  return {
    role,
    text: isVisible(text) ? text : standIn(message),
    isFound: isVisible(text) && !(role === "user" && isQuestion(text)),
    metadata: { [MESSAGE_KEY]: stored },
  };
}

function jsonOf(message: BaseMessage, field: string): Json {
  try {
    return unescaped(JSON.parse(JSON.stringify(message.toDict())));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw invalid(field, `cannot be written as JSON: ${reason}`);
  }
}

/**
 * LangChain wraps objects that look like its own; Python does not, and neither language unwraps them when it restores a message.
 * What is wrapped is the caller's and stays as it is.
 */
function unescaped(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  // SAFETY: a list of JSON, which `isArray` does not tell apart if it is read-only.
  if (Array.isArray(value)) return (value as readonly Json[]).map(unescaped);
  const members = Object.entries(value);
  const [[key, inner] = [], ...others] = members;
  if (key === ESCAPED && inner !== undefined && others.length === 0) return inner;
  return Object.fromEntries(members.map(([name, member]) => [name, unescaped(member)]));
}

const ESCAPED = "__lc_escaped__";

/** The text itself, or the text parts of a list in their order. */
function textOf(content: BaseMessage["content"]): string {
  if (typeof content === "string") return content;
  return content
    .map((part: unknown) => {
      if (typeof part === "string") return part;
      if (!isObject(part) || part["type"] !== "text") return "";
      return typeof part["text"] === "string" ? part["text"] : "";
    })
    .join("");
}

/** What a list shows of a message without text. */
function standIn(message: BaseMessage): string {
  const calls = AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
  if (calls.length === 0) return "[no text]";
  const told = calls.map(({ name, args }) => `${name}(${JSON.stringify(args)})`).join(" ");
  return `[calls ${told.slice(0, STAND_IN_CHARS).toWellFormed()}]`;
}

const STAND_IN_CHARS = 500;

function roleOf(message: BaseMessage, type: string): Role {
  if (type === "ai") return "assistant";
  if (type === "tool" || type === "function") return "tool";
  if (type === "system") return "system";
  const named = ChatMessage.isInstance(message) ? message.role.toLowerCase() : "user";
  return ROLES.find((role) => role === named) ?? "user";
}

/** The message of an event: whole, if it was stored whole; otherwise a turn of whoever said it. */
export function messageOf({ role, content, metadata }: MemoryEvent): BaseMessage {
  const whole = restored(metadata?.[MESSAGE_KEY]);
  if (whole !== undefined) return whole;
  if (role === "assistant") return new AIMessage(content);
  return role === "system" ? new SystemMessage(content) : new HumanMessage(content);
}

function restored(kept: unknown): BaseMessage | undefined {
  if (!isObject(kept) || kept["version"] !== VERSION || kept["format"] !== FORMAT) return undefined;
  const { message } = kept;
  if (!isObject(message)) return undefined;
  const { type, data } = message;
  if (typeof type !== "string" || !isObject(data)) return undefined;
  // Python writes null for absent, and the type a second time. The classes change what they are made from.
  const { type: _, content_blocks: contentBlocks, ...members } = given(structuredClone(data));
  const { content } = members;
  const all: unknown = content === undefined ? { ...members, contentBlocks } : members;
  if (typeof content !== "string" && !Array.isArray(content ?? contentBlocks)) return undefined;
  // SAFETY: the classes check the members that they need, and pass on anything else.
  const fields = all as StoredMessage["data"];
  try {
    return mapStoredMessageToChatMessage({ type: typeNamed(type), data: fields });
  } catch {
    return undefined;
  }
}

/** Types as Python writes them: a part of a stream by the name of its class, and `chat` for a message with a role of its own. */
function typeNamed(type: string): string {
  const name = type.replace(/MessageChunk$/, "").toLowerCase();
  return name === "chat" ? "generic" : name;
}
