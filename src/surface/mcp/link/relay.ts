import type { Readable, Writable } from "node:stream";
import { LineReader, lineOf, PENDING_MAX } from "./lines.ts";

/** A server accepts no more: the guest ends its side after its pending data, and gets all answers. */
export const BYE = '{"svc":"bye"}';

/** Milliseconds to wait for running calls after the client has closed its end. */
const DRAIN_MS = 10_000;
/** Total characters of those calls. */
const OPEN_CHARACTERS_MAX = 32 * 1024 * 1024;
/** Maximum bytes of an answer. Nothing that a server of this program sends comes close. */
const ANSWER_MAX = 256 * 1024 * 1024;

/** A server that receives messages, one per line. */
export type Backend = {
  readonly input: Writable;
  readonly output: Readable;
  /** Whether it is another process. */
  readonly isOther: boolean;
};

export type RelayDeps = {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly backend: Backend;
  readonly repeatable: Repeatable;
  /** Finds a server to replace one that has gone. */
  readonly rejoin: () => Promise<Backend>;
  /** Ends the session as if the client had left. */
  readonly stop?: AbortSignal | undefined;
  /** Reports a problem with the client to a person. */
  readonly warn?: ((message: string) => void) | undefined;
};

/**
 * Passes messages between a client and a server that may change. If the server goes away, the next one gets the initial handshake and the
 * repeatable calls again; for every other running call the client is told that the outcome is unknown. Memory is bounded for both sides.
 * @returns once the client has left and every call is answered; rejects with what `rejoin` rejected with
 */
export async function relay(deps: RelayDeps): Promise<void> {
  await new Relay(deps).run();
}

class Relay {
  readonly #deps: RelayDeps;
  readonly #calls: Calls;
  readonly #fromClient = new LineReader();
  readonly #ended = Promise.withResolvers<void>();
  /** Undefined while looking for one. */
  #backend: Backend | undefined;
  /** Whether the server accepts messages. Otherwise they wait. */
  #isTaking = false;
  #waiting: string[] = [];
  #isInputFull = false;
  #isClientSlow = false;
  #clientHasLeft = false;
  #isEnding = false;

  constructor(deps: RelayDeps) {
    this.#deps = deps;
    this.#calls = new Calls(deps.repeatable);
  }

  async run(): Promise<void> {
    const { stdin, stdout, backend, stop } = this.#deps;
    const leave = (): void => this.#leave();
    stdout.on("drain", () => this.#clientReads());
    // The client has gone and reads no answers.
    stdout.on("error", () => this.#ended.resolve());
    stdin.on("data", (chunk: Uint8Array) => this.#read(chunk));
    stdin.on("end", leave).on("close", leave).on("error", leave);
    stop?.addEventListener("abort", leave, { once: true });
    this.#attach(backend);
    this.#flow();
    if (stdin.destroyed || stdin.readableEnded || stop?.aborted) leave();
    try {
      await this.#ended.promise;
    } finally {
      stop?.removeEventListener("abort", leave);
      stdin.destroy();
      if (this.#backend !== undefined) release(this.#backend);
    }
  }

  #read(chunk: Uint8Array): void {
    try {
      for (const line of this.#fromClient.read(chunk)) this.#keep(line);
    } catch (error) {
      // The rest of the stream cannot be split into messages.
      this.#deps.warn?.(`protocol: ${error instanceof Error ? error.message : String(error)}`);
      this.#leave();
    }
    this.#flow();
  }

  #keep(line: string): void {
    if (line.trim() !== "") this.#waiting.push(line);
  }

  /** Forwards waiting messages as far as possible, and reads from the client once none wait. */
  #flow(): void {
    const { stdin } = this.#deps;
    while (this.#waiting.length > 0 && this.#hasRoom) {
      const line = this.#waiting.shift();
      const backend = this.#backend;
      if (line === undefined || backend === undefined) break;
      this.#write(backend, this.#calls.toServer(line));
    }
    if (this.#clientHasLeft) this.#endWhenDone();
    else if (this.#waiting.length > 0 || !this.#hasRoom) stdin.pause();
    else stdin.resume();
  }

  get #hasRoom(): boolean {
    return (
      this.#isTaking &&
      !this.#isInputFull &&
      !this.#isClientSlow &&
      this.#calls.count < PENDING_MAX &&
      this.#calls.characters < OPEN_CHARACTERS_MAX
    );
  }

  #write({ input }: Backend, line: string): void {
    if (input.write(`${line}\n`) || this.#isInputFull) return;
    this.#isInputFull = true;
    const goOn = (): void => {
      input.off("drain", goOn).off("close", goOn);
      this.#isInputFull = false;
      this.#flow();
    };
    input.on("drain", goOn).on("close", goOn);
  }

  #attach(backend: Backend): void {
    const { input, output } = backend;
    this.#backend = backend;
    this.#isTaking = true;
    const lines = new LineReader(ANSWER_MAX);
    const over = (): void => this.#lost(backend);
    output.on("data", (chunk: Uint8Array) => {
      try {
        for (const line of lines.read(chunk)) this.#heard(line, backend);
      } catch {
        over();
      }
      this.#flow();
    });
    output.on("end", over).on("close", over).on("error", over);
    input.on("error", over);
    if (output.destroyed || output.readableEnded) queueMicrotask(over);
    else if (!this.#isClientSlow) output.resume();
  }

  #heard(line: string, backend: Backend): void {
    if (this.#backend !== backend) return;
    if (line === BYE) {
      // Messages from the client now go to the next server.
      this.#isTaking = false;
      backend.input.end();
    } else if (this.#calls.isForClient(line)) this.#tell(line);
  }

  #tell(line: string): void {
    if (this.#deps.stdout.write(`${line}\n`)) return;
    this.#isClientSlow = true;
    this.#backend?.output.pause();
  }

  #clientReads(): void {
    this.#isClientSlow = false;
    this.#backend?.output.resume();
    this.#flow();
  }

  #lost(backend: Backend): void {
    if (this.#backend !== backend) return;
    this.#backend = undefined;
    this.#isTaking = false;
    release(backend);
    if (this.#clientHasLeft && this.#isDone) {
      this.#ended.resolve();
      return;
    }
    const { repeat, fail } = this.#calls.afterLoss();
    for (const line of fail) this.#tell(line);
    this.#flow();
    this.#deps.rejoin().then(
      (next) => this.#goOn(next, repeat),
      (error: unknown) => this.#ended.reject(error),
    );
  }

  #goOn(next: Backend, repeat: readonly string[]): void {
    this.#attach(next);
    for (const line of repeat) this.#write(next, line);
    // Waiting messages come after all repeated ones.
    this.#flow();
  }

  get #isDone(): boolean {
    return this.#calls.count === 0 && this.#waiting.length === 0 && !this.#isClientSlow;
  }

  #leave(): void {
    if (this.#clientHasLeft) return;
    this.#clientHasLeft = true;
    this.#deps.stdin.pause();
    this.#keep(lineOf(this.#fromClient.rest()));
    setTimeout(() => this.#ended.resolve(), DRAIN_MS).unref();
    this.#flow();
  }

  #endWhenDone(): void {
    if (!this.#clientHasLeft || !this.#isDone || this.#isEnding) return;
    this.#isEnding = true;
    const backend = this.#backend;
    if (backend === undefined) this.#ended.resolve();
    // A server in this process must finish. For another process it is enough that it received everything.
    else backend.input.end(() => backend.isOther && this.#ended.resolve());
  }
}

/** Ends a connection and discards further data, so that the sender is not blocked. */
function release({ input, output, isOther }: Backend): void {
  if (isOther) input.destroy();
  else input.end();
  output.resume();
}

/** The identifier of a request made by this process: its answer is not forwarded. */
const REOPENING = "svc:reopening";
/** JSON-RPC: internal error. */
const INTERNAL_ERROR = -32603;

/** Calls that may be repeated if it is unknown whether they were executed. */
export type Repeatable = {
  /** Tools that change nothing if the same call is repeated. */
  readonly tools: readonly string[];
  /** Tools that change nothing if a call with the same `request_id` is repeated, which is optional for them. */
  readonly byRequestId: readonly string[];
};

type Message = {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: {
    readonly name?: unknown;
    readonly requestId?: unknown;
    readonly arguments?: unknown;
  };
};

/** What must be known about a call until it is answered. */
type Call = {
  readonly line: string;
  readonly id: unknown;
  readonly isInitialize: boolean;
  readonly isRepeatable: boolean;
};

/** A client's unanswered requests, and the start of its connection. */
export class Calls {
  readonly #repeatable: Repeatable;
  readonly #open = new Map<string, Call>();
  #initialize: string | undefined;
  #initialized: string | undefined;
  /** Over all open calls. */
  characters = 0;

  constructor(repeatable: Repeatable) {
    this.#repeatable = repeatable;
  }

  get count(): number {
    return this.#open.size;
  }

  /** Records a line of the client. @returns what to forward to the server */
  toServer(line: string): string {
    const message = parse(line);
    if (message === undefined) return line;
    const { id, method, params } = message;
    if (method === "notifications/initialized") this.#initialized = line;
    if (method === "notifications/cancelled") this.#close(params?.requestId);
    // A subscription is never answered. Servers do not answer anything without such an identifier.
    const isCall = method !== undefined && method !== "subscriptions/listen";
    if (!isCall || (typeof id !== "string" && typeof id !== "number")) return line;
    const isInitialize = method === "initialize";
    if (isInitialize) this.#initialize = line;
    this.#close(id);
    const call = { ...this.#asRepeatable(line, message), id, isInitialize };
    this.#open.set(keyOf(id), call);
    this.characters += call.line.length;
    return call.line;
  }

  /** Records a line of the server. @returns whether to forward it to the client */
  isForClient(line: string): boolean {
    const message = parse(line);
    if (message === undefined || message.method !== undefined) return true;
    this.#close(message.id);
    return message.id !== REOPENING;
  }

  /**
   * Sorts the open calls when a server has gone. For the next server: the start of the connection, then the calls to repeat, once. For the
   * client: the answers to all others, which have failed.
   */
  afterLoss(): { readonly repeat: readonly string[]; readonly fail: readonly string[] } {
    const repeat = this.#opening();
    const fail: string[] = [];
    for (const [key, call] of this.#open) {
      if (call.isInitialize) continue;
      if (call.isRepeatable) {
        this.#open.set(key, { ...call, isRepeatable: false });
        repeat.push(call.line);
      } else {
        this.#close(call.id);
        fail.push(unknownOutcome(call.id));
      }
    }
    return { repeat, fail };
  }

  #close(id: unknown): void {
    const key = keyOf(id);
    this.characters -= this.#open.get(key)?.line.length ?? 0;
    this.#open.delete(key);
  }

  /** Under its own identifier while the client still waits for the answer to it. */
  #opening(): string[] {
    if (this.#initialize === undefined) return [];
    const message = parse(this.#initialize);
    const isOpen = this.#open.get(keyOf(message?.id))?.isInitialize === true;
    const first = isOpen ? this.#initialize : JSON.stringify({ ...message, id: REOPENING });
    return this.#initialized === undefined ? [first] : [first, this.#initialized];
  }

  /** The request, with its own request id if that makes it repeatable. */
  #asRepeatable(line: string, message: Message): Pick<Call, "line" | "isRepeatable"> {
    if (message.method !== "tools/call") return { line, isRepeatable: true };
    const { tools, byRequestId } = this.#repeatable;
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
}

function unknownOutcome(id: unknown): string {
  const message =
    "The memory server ended while this call ran: its outcome is unknown. " +
    "Look with memory_retrieve before you repeat it.";
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
