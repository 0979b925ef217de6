/** The identifiers of requests that this process makes itself: nobody reads their answers. */
const REOPENING = "svc:reopening";
const PING = "svc:ping";
/** Asks a server for a sign of life. Every revision of the protocol answers it, if only with an error. */
export const PING_REQUEST = JSON.stringify({ jsonrpc: "2.0", id: PING, method: "ping" });
/** Calls that may be repeated if it is unknown whether they were executed. */
export type Repeatable = {
  /** Tools that change nothing if the same call is repeated. */
  readonly tools: readonly string[];
  /** Tools that change nothing if a call with the same `request_id` is repeated, which is optional for them. */
  readonly byRequestId: readonly string[];
};

/** JSON-RPC: internal error. */
const INTERNAL_ERROR = -32603;

type Message = {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: {
    readonly name?: unknown;
    readonly requestId?: unknown;
    readonly arguments?: unknown;
  };
};

/** What must be known about a call until it is answered: besides its line, nothing of its arguments. */
type Call = {
  readonly line: string;
  readonly id: unknown;
  readonly method: unknown;
  readonly isRepeatable: boolean;
  readonly isRepeated: boolean;
};

/** A client's unanswered requests, and how its connection began. */
export class PendingCalls {
  readonly #calls = new Map<string, Call>();
  /** Requests that stay open as long as the connection. */
  readonly #subscriptions = new Map<string, string>();
  /** Requests of the server to the client. */
  readonly #asked = new Set<string>();
  #initialize: string | undefined;
  #initialized: string | undefined;
  #characters = 0;

  get isEmpty(): boolean {
    return this.#calls.size === 0;
  }

  get count(): number {
    return this.#calls.size;
  }

  /** Over all running calls. */
  get characters(): number {
    return this.#characters;
  }

  /** Records a line of the client. @returns what to forward to the server; undefined: nothing */
  toServer(line: string, repeatable: Repeatable): string | undefined {
    const message = parse(line);
    if (message === undefined) return line;
    if (message.method === undefined) {
      // An answer is for the server that asked, which may have gone.
      return this.#asked.delete(keyOf(message.id)) ? line : undefined;
    }
    if (message.method === "notifications/initialized") this.#initialized = line;
    if (message.method === "notifications/cancelled") this.#forget(message.params?.requestId);
    return isRequest(message) ? this.#begin(line, message, repeatable) : line;
  }

  /** Records a line of the server. @returns whether to forward it to the client */
  isForClient(line: string): boolean {
    const message = parse(line);
    if (message === undefined) return true;
    if (message.method !== undefined) {
      if (message.id !== undefined) this.#asked.add(keyOf(message.id));
      return true;
    }
    if (message.id === REOPENING || message.id === PING) return false;
    this.#forget(message.id);
    return true;
  }

  /**
   * Sorts the running calls when a server has gone. For the next server: first how the connection began, then the calls to
   * repeat. For the client: the answers to all other calls, which are over. A call that ended two servers is not given to a
   * third.
   */
  afterLoss(): {
    readonly repeat: readonly string[];
    readonly fail: readonly string[];
  } {
    this.#asked.clear();
    const repeat = [...this.#opening(), ...this.#subscriptions.values()];
    const fail: string[] = [];
    for (const [key, call] of this.#calls) {
      if (call.method === "initialize") continue;
      if (call.isRepeatable && !call.isRepeated) {
        this.#calls.set(key, { ...call, isRepeated: true });
        repeat.push(call.line);
        continue;
      }
      this.#forget(call.id);
      fail.push(unknownOutcome(call.id));
    }
    return { repeat, fail };
  }

  #begin(line: string, message: Message, repeatable: Repeatable): string {
    const { id, method } = message;
    const key = keyOf(id);
    if (method === "subscriptions/listen") {
      this.#subscriptions.set(key, line);
      return line;
    }
    if (method === "initialize") this.#initialize = line;
    this.#forget(id);
    const call = { ...asRepeatable(line, message, repeatable), id, method, isRepeated: false };
    this.#calls.set(key, call);
    this.#characters += call.line.length;
    return call.line;
  }

  #forget(id: unknown): void {
    const key = keyOf(id);
    this.#subscriptions.delete(key);
    const call = this.#calls.get(key);
    if (call === undefined) return;
    this.#calls.delete(key);
    this.#characters -= call.line.length;
  }

  /** Under its own identifier while the client still waits for the answer to it. */
  #opening(): readonly string[] {
    if (this.#initialize === undefined) return [];
    const message = parse(this.#initialize);
    const isOpen = this.#calls.get(keyOf(message?.id))?.method === "initialize";
    const first = isOpen ? this.#initialize : JSON.stringify({ ...message, id: REOPENING });
    return this.#initialized === undefined ? [first] : [first, this.#initialized];
  }
}

/** By the definition of servers, which answer nothing else. They answer requests that are invalid in other ways with an error. */
function isRequest({ id, method }: Message): boolean {
  return method !== undefined && (typeof id === "string" || typeof id === "number");
}

/** The request, with a request id of its own if that makes it repeatable. */
function asRepeatable(
  line: string,
  message: Message,
  { tools, byRequestId }: Repeatable,
): Pick<Call, "line" | "isRepeatable"> {
  if (message.method !== "tools/call") return { line, isRepeatable: true };
  const tool = String(message.params?.name);
  const given = message.params?.arguments;
  const canBeNamed = typeof given === "object" && given !== null && !Array.isArray(given);
  if (!byRequestId.includes(tool) || !canBeNamed) {
    return { line, isRepeatable: tools.includes(tool) };
  }
  const { request_id: requestId = null }: { readonly request_id?: unknown } = given;
  if (requestId !== null) return { line, isRepeatable: true };
  const named = { ...given, request_id: Bun.randomUUIDv7() };
  const params = { ...message.params, arguments: named };
  return { line: JSON.stringify({ ...message, params }), isRepeatable: true };
}

function unknownOutcome(id: unknown): string {
  const message =
    "The memory server ended while this call ran, so it may or may not have been done. " +
    "Look with memory_retrieve before you call it again.";
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code: INTERNAL_ERROR, message } });
}

/** Identifiers are texts or numbers, and `1` is not `"1"`. */
function keyOf(id: unknown): string {
  return JSON.stringify(id) ?? "";
}

function parse(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line);
    // SAFETY: every member is checked before it is used, and all of them may be missing.
    return typeof value === "object" && value !== null ? (value as Message) : undefined;
  } catch {
    return undefined;
  }
}
