/** The identifiers of what is said to a server on nobody's behalf: their answers are for nobody. */
const REOPENING = "svc:reopening";
const PING = "svc:ping";
/** Asks a server for a sign of life. In every revision of the protocol it is answered, with an error if need be. */
export const PING_REQUEST = JSON.stringify({ jsonrpc: "2.0", id: PING, method: "ping" });
/** JSON-RPC: internal error. */
const INTERNAL_ERROR = -32603;

type Message = {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: {
    readonly name?: unknown;
    readonly requestId?: unknown;
    readonly arguments?: { readonly request_id?: unknown };
  };
};

/** What has to be known of a call until it is answered: of its arguments, nothing but the line. */
type Call = {
  readonly line: string;
  readonly id: unknown;
  readonly method: unknown;
  readonly tool: unknown;
  /** Whether the call says of itself that it may come twice. */
  readonly hasRequestId: boolean;
  readonly isRepeated: boolean;
};

/** What a client has asked and not been told yet, and how its connection began. */
export class PendingCalls {
  readonly #calls = new Map<string, Call>();
  /** Requests that stay open for as long as the connection. */
  readonly #subscriptions = new Map<string, string>();
  /** What the server has asked the client. */
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

  /** Of all calls under way together. */
  get characters(): number {
    return this.#characters;
  }

  /** Takes note of a line of the client. @returns whether the server is to read it */
  isForServer(line: string): boolean {
    const message = parse(line);
    if (message === undefined) return true;
    // An answer is for the server that asked, which may be gone.
    if (message.method === undefined) return this.#asked.delete(keyOf(message.id));
    if (message.method === "notifications/initialized") this.#initialized = line;
    if (message.method === "notifications/cancelled") this.#forget(message.params?.requestId);
    if (isRequest(message)) this.#begin(line, message);
    return true;
  }

  /** Takes note of a line of the server. @returns whether the client is to read it */
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
   * Sorts what is under way when a server is gone: what the next one is told, first how the connection began, then the calls
   * that are asked again; and the answers to the other calls, which are over.
   * @param repeatable tools that change nothing when they are called again
   */
  afterLoss(repeatable: readonly string[]): {
    readonly repeat: readonly string[];
    readonly fail: readonly string[];
  } {
    this.#asked.clear();
    const repeat = [...this.#opening(), ...this.#subscriptions.values()];
    const fail: string[] = [];
    for (const [key, call] of this.#calls) {
      if (call.method === "initialize") continue;
      if (isRepeatable(call, repeatable)) {
        this.#calls.set(key, { ...call, isRepeated: true });
        repeat.push(call.line);
        continue;
      }
      this.#forget(call.id);
      fail.push(unknownOutcome(call.id));
    }
    return { repeat, fail };
  }

  #begin(line: string, message: Message): void {
    const key = keyOf(message.id);
    if (message.method === "subscriptions/listen") {
      this.#subscriptions.set(key, line);
      return;
    }
    const { id, method, params } = message;
    const hasRequestId = typeof params?.arguments?.request_id === "string";
    if (method === "initialize") this.#initialize = line;
    this.#forget(id);
    this.#calls.set(key, { line, id, method, tool: params?.name, hasRequestId, isRepeated: false });
    this.#characters += line.length;
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

/** As servers see it: to anything else they give no answer. What is wrong in other ways is answered with that. */
function isRequest({ id, method }: Message): boolean {
  return method !== undefined && (typeof id === "string" || typeof id === "number");
}

/** A call that ended two servers is not given to a third. */
function isRepeatable(call: Call, repeatable: readonly string[]): boolean {
  const { method, tool, hasRequestId, isRepeated } = call;
  if (isRepeated) return false;
  if (method !== "tools/call" || hasRequestId) return true;
  return typeof tool === "string" && repeatable.includes(tool);
}

function unknownOutcome(id: unknown): string {
  const message =
    "The memory server ended while this call ran, so it may or may not have been done. " +
    "Look with memory_retrieve before you call it again.";
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code: INTERNAL_ERROR, message } });
}

/** Identifiers are text or numbers, and `1` is not `"1"`. */
function keyOf(id: unknown): string {
  return JSON.stringify(id) ?? "";
}

function parse(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line);
    // SAFETY: every member is looked at before it is used, and all of them may be missing.
    return typeof value === "object" && value !== null ? (value as Message) : undefined;
  } catch {
    return undefined;
  }
}
