/** The identifier of the opening that is said again to a server in place of one that is gone. */
const REOPENING = "svc:reopening";
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

type Call = { readonly line: string; readonly message: Message };

/** What a client has asked and not been told yet, and how its connection began. */
export class PendingCalls {
  readonly #calls = new Map<string, Call>();
  #initialize: Message | undefined;
  #initialized: string | undefined;

  get isEmpty(): boolean {
    return this.#calls.size === 0;
  }

  /** Takes note of a line of the client. Text that is no message is nobody's call. */
  sent(line: string): void {
    const message = parse(line);
    if (message === undefined || typeof message.method !== "string") return;
    if (message.method === "notifications/initialized") this.#initialized = line;
    if (message.method === "notifications/cancelled") {
      this.#calls.delete(keyOf(message.params?.requestId));
    }
    if (message.id === undefined || message.method === "subscriptions/listen") return;
    if (message.method === "initialize") this.#initialize = message;
    this.#calls.set(keyOf(message.id), { line, message });
  }

  /** Takes note of a line of the server. @returns whether the client is to read it */
  isForClient(line: string): boolean {
    const message = parse(line);
    if (message === undefined || message.method !== undefined) return true;
    if (message.id === REOPENING) return false;
    this.#calls.delete(keyOf(message.id));
    return true;
  }

  /** What the next server is told first: how the connection began, when that is over and done with. */
  opening(): readonly string[] {
    if (this.#initialize === undefined || this.#initialized === undefined) return [];
    return [JSON.stringify({ ...this.#initialize, id: REOPENING }), this.#initialized];
  }

  /**
   * Sorts the calls under way when a server is gone: those that are asked again, and the answers to the others, which are
   * over.
   * @param repeatable tools that change nothing when they are called again
   */
  afterLoss(repeatable: readonly string[]): {
    readonly repeat: readonly string[];
    readonly fail: readonly string[];
  } {
    const repeat: string[] = [];
    const fail: string[] = [];
    for (const [key, { line, message }] of this.#calls) {
      if (isRepeatable(message, repeatable)) {
        repeat.push(line);
        continue;
      }
      this.#calls.delete(key);
      fail.push(unknownOutcome(message));
    }
    return { repeat, fail };
  }
}

function isRepeatable({ method, params }: Message, repeatable: readonly string[]): boolean {
  if (method !== "tools/call") return true;
  if (typeof params?.arguments?.request_id === "string") return true;
  return typeof params?.name === "string" && repeatable.includes(params.name);
}

function unknownOutcome({ id }: Message): string {
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
