import { parseUserId } from "../../../src/domain/arguments.ts";
import type { Role, Scope } from "../../../src/domain/enums.ts";
import type { MemoryEvent } from "../../../src/domain/node.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import { type Control, controlMetadata, controlOf, replay } from "./history-log.ts";
import { isSvcError, type Memory } from "./memory.ts";

export type ConversationInput = {
  readonly memory: Memory;
  readonly userId: string;
  /** The conversation. Default: a new one, with a random UUID. */
  readonly sessionId?: string | undefined;
  /** Default `personal`. */
  readonly scope?: Scope | undefined;
};

/**
 * A message as it is stored.
 * @internal
 */
export type MessageForm = {
  readonly role: Role;
  /** Never blank. */
  readonly text: string;
  /** Whether questions should find it: not a question itself, and not what merely stands for a call or a picture. */
  readonly isFound: boolean;
  readonly metadata: JsonObject;
};

/** Events in one page: the most that a memory gives. */
const PAGE = 1000;

/**
 * What was said in a session of the log and is still part of it. What is found of it stays a memory when it leaves.
 * @internal
 */
export class Conversation {
  readonly userId: string;
  readonly sessionId: string;
  readonly scope: Scope;
  readonly #memory: Memory;
  /** Settles when everything that was asked before is written, so that calls keep their order without being awaited. */
  #written: Promise<unknown> = Promise.resolve();

  /** @throws SvcError invalid_argument for an owner that is none */
  constructor({ memory, userId, sessionId, scope }: ConversationInput) {
    this.#memory = memory;
    this.userId = parseUserId(userId);
    this.sessionId = sessionId ?? crypto.randomUUID();
    this.scope = scope ?? "personal";
  }

  /**
   * Oldest first.
   * @throws SvcError unsupported for a clear or delete of another version; or whatever reading throws
   */
  async entries(): Promise<readonly MemoryEvent[]> {
    await this.#written;
    return this.#read();
  }

  /** Stores messages one after the other. If one fails, those before it stay. */
  append(forms: readonly MessageForm[]): Promise<void> {
    return this.#inOrder(async () => {
      for (const form of forms) await this.#store(form);
    });
  }

  clear(): Promise<void> {
    return this.#inOrder(() => this.#control({ operation: "clear" }, "[chat history cleared]"));
  }

  /** @returns what was taken out, or undefined if there is nothing at this place, as `Array.at` counts it */
  removeAt(index: number): Promise<MemoryEvent | undefined> {
    return this.#inOrder(async () => {
      const event = (await this.#read()).at(index);
      if (event !== undefined) {
        const control = { operation: "delete", targetEventId: event.id } as const;
        await this.#control(control, "[chat message deleted]");
      }
      return event;
    });
  }

  async #read(): Promise<readonly MemoryEvent[]> {
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
    const nodeId = await this.#store({ role: "system", text, isFound: false, metadata });
    // It is no memory: nobody should see it in a list either. The sweep of expired memories may be first.
    await this.#memory.archive(nodeId, { userId: this.userId }).catch((error: unknown) => {
      if (!(isSvcError(error) && error.code === "invalid_transition")) throw error;
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

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#written.then(work);
    // A failure is told to its own caller and stops none of the later ones.
    this.#written = done.catch(() => undefined);
    return done;
  }
}
