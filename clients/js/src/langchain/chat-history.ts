import { BaseListChatMessageHistory } from "@langchain/core/chat_history";
import type { BaseMessage } from "@langchain/core/messages";
import { parseUserId } from "../../../../src/domain/arguments.ts";
import type { Scope } from "../../../../src/domain/enums.ts";
import { invalid } from "../../../../src/domain/errors.ts";
import type { MemoryEvent } from "../../../../src/domain/node.ts";
import { isSvcError, type Memory } from "../memory.ts";
import { type Control, controlMetadata, controlOf, replay } from "./history-log.ts";
import { formOf, type MessageForm, messageOf } from "./message-form.ts";

export type MemoryChatHistoryInput = {
  readonly memory: Memory;
  readonly userId: string;
  /** The conversation. Default: a new one, with a random UUID. */
  readonly sessionId?: string | undefined;
  /** Default `personal`. */
  readonly scope?: Scope | undefined;
};

/** Events in one page: the most that a memory gives. */
const PAGE = 1000;

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
  readonly #memory: Memory;
  /** Settles when everything that was asked before is written, so that calls keep their order without being awaited. */
  #written: Promise<unknown> = Promise.resolve();

  /** @throws SvcError invalid_argument for an owner that is none */
  constructor({ memory, userId, sessionId, scope }: MemoryChatHistoryInput) {
    super();
    this.#memory = memory;
    this.userId = parseUserId(userId);
    this.sessionId = sessionId ?? crypto.randomUUID();
    this.scope = scope ?? "personal";
  }

  /**
   * Oldest first. Whatever else was stored in the session, by other programs too, is among them.
   * @throws SvcError unsupported for a clear or delete of another version; or whatever reading throws
   */
  override async getMessages(): Promise<BaseMessage[]> {
    return (await this.#entries()).map(messageOf);
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
    const forms = messages.map((message, index) => formOf(message, `messages[${index}]`));
    await this.#inOrder(async () => {
      for (const form of forms) await this.#store(form);
    });
  }

  /** Empties the conversation. Its messages stay memories, which can be found. */
  override async clear(): Promise<void> {
    await this.#control({ operation: "clear" }, "[chat history cleared]");
  }

  /**
   * Takes one message out of the conversation. It stays a memory, which can be found.
   * @param index counts from the oldest, negative from the newest: -1 is the last
   * @returns the message, or undefined if there is none at this place
   */
  async deleteMessage(index: number): Promise<BaseMessage | undefined> {
    if (!Number.isSafeInteger(index)) throw invalid("index", `${index} is not an integer`);
    const event = (await this.#entries()).at(index);
    if (event === undefined) return undefined;
    await this.#control({ operation: "delete", targetEventId: event.id }, "[chat message deleted]");
    return messageOf(event);
  }

  async #entries(): Promise<readonly MemoryEvent[]> {
    await this.#written;
    const { userId, sessionId, scope } = this;
    const found: MemoryEvent[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.#memory.listEvents({
        userId,
        sessionId,
        scopes: [scope],
        order: "newest",
        limit: PAGE,
        cursor,
      });
      found.push(...page.events);
      // What is older than a clear cannot be a message any more.
      const isCleared = page.events.some((event) => controlOf(event)?.operation === "clear");
      cursor = isCleared ? undefined : page.nextCursor;
    } while (cursor !== undefined);
    return replay(found);
  }

  async #control(control: Control, text: string): Promise<void> {
    const metadata = controlMetadata(control);
    await this.#inOrder(async () => {
      const nodeId = await this.#store({ role: "system", text, isFound: false, metadata });
      // It is no memory: nobody should see it in a list either. The sweep of expired memories may be first.
      await this.#memory.archive(nodeId, { userId: this.userId }).catch((error: unknown) => {
        if (!(isSvcError(error) && error.code === "invalid_transition")) throw error;
      });
    });
  }

  async #store({ text, isFound, ...message }: MessageForm): Promise<string> {
    const { userId, sessionId, scope } = this;
    // What only stands for something without text is over at once.
    const kind = isFound
      ? ({ nodeType: "note" } as const)
      : ({ nodeType: "event", ttlDays: 0 } as const);
    const of = { userId, sessionId, scope };
    const { nodeId } = await this.#memory.storeWithReceipt({
      ...of,
      ...message,
      ...kind,
      content: text,
    });
    return nodeId;
  }

  #inOrder(write: () => Promise<void>): Promise<void> {
    const done = this.#written.then(write);
    // A failure is told to its own caller and stops none of the later ones.
    this.#written = done.catch(() => undefined);
    return done;
  }
}
