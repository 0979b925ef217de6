import { BaseListChatMessageHistory } from "@langchain/core/chat_history";
import type { BaseMessage } from "@langchain/core/messages";
import type { Scope } from "../../../../src/domain/enums.ts";
import { invalid } from "../../../../src/domain/errors.ts";
import { Conversation, type ConversationInput } from "../conversation.ts";
import { formOf, messageOf } from "./message-form.ts";

export type MemoryChatHistoryInput = ConversationInput;

/**
 * The messages of one conversation, in the log of a memory. Each message is a memory of its owner as well, and stays one when the
 * history is cleared: only forgetting removes it. Messages with tool calls and several parts come back as they were.
 */
export class MemoryChatHistory extends BaseListChatMessageHistory {
  static override lc_name(): string {
    return "MemoryChatHistory";
  }

  override lc_namespace = ["svc", "chat_history"];
  readonly userId: string;
  readonly sessionId: string;
  readonly scope: Scope;
  readonly #log: Conversation;

  /** @throws SvcError invalid_argument for an owner that is none */
  constructor(input: MemoryChatHistoryInput) {
    super();
    this.#log = new Conversation(input);
    this.userId = this.#log.userId;
    this.sessionId = this.#log.sessionId;
    this.scope = this.#log.scope;
  }

  /**
   * Oldest first. Whatever else was stored in the session, by other programs too, is among them.
   * @throws SvcError unsupported for a clear or delete of another version; or whatever reading throws
   */
  override async getMessages(): Promise<BaseMessage[]> {
    return (await this.#log.entries()).map(messageOf);
  }

  /** @throws SvcError as `addMessages` */
  override async addMessage(message: BaseMessage): Promise<void> {
    await this.addMessages([message]);
  }

  /**
   * Stores messages one after the other. All are checked before the first is stored; if storing one fails, those before it stay.
   * @throws SvcError invalid_argument for a message that JSON cannot hold; or whatever storing throws
   */
  override async addMessages(messages: BaseMessage[]): Promise<void> {
    await this.#log.append(messages.map((message, index) => formOf(message, `messages[${index}]`)));
  }

  /** Empties the conversation. Its messages stay memories, which can be found. */
  override async clear(): Promise<void> {
    await this.#log.clear();
  }

  /**
   * Takes one message out of the conversation. It stays a memory, which can be found.
   * @param index counts from the oldest, negative from the newest: -1 is the last
   * @returns the message, or undefined if there is none at this place
   */
  async deleteMessage(index: number): Promise<BaseMessage | undefined> {
    if (!Number.isSafeInteger(index)) throw invalid("index", `${index} is not an integer`);
    const event = await this.#log.removeAt(index);
    return event && messageOf(event);
  }
}
