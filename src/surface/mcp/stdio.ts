import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { ERROR_CATALOGUE, SvcError } from "../../domain/errors.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import { DoubledName, parseJson } from "../../lib/json.ts";
import type { Log } from "../contract/core/log.ts";
import type { ToolSet } from "../contract/core/operation.ts";
import type { Guest, Kin } from "./link/handshake.ts";
import { type Host, hostGuests, type ServedGuest } from "./link/host.ts";
import { LineReader, lineOf, NOT_UTF8, PENDING_MAX } from "./link/lines.ts";
import type { Seat } from "./link/rendezvous.ts";
import { asMeant, openMcpServer } from "./server.ts";
import { loadOperations } from "./tool-schema.ts";
import { type McpDeps, openFailure } from "./tools.ts";

/** Milliseconds reserved for the handshake before the memory is opened; a call that needs it opens it at once. */
const OPEN_DELAY_MS = 100;
/** Milliseconds after which a memory that does not close is left to crash recovery. */
const CLOSE_MS = 10_000;

/** Answers the hook of an assistant on a connection until it ends. */
export type HookService = (engine: () => Promise<MemoryEngine>, socket: Socket) => Promise<void>;

type Guests = {
  readonly seat: Seat;
  readonly kin: Kin;
  /** Absent: hooks are not answered. */
  readonly hook?: HookService | undefined;
};

export type McpStdioDeps = {
  /** Called once the connection is established or the first call needs it; after a failure, by the next call. */
  readonly openEngine: () => Promise<MemoryEngine>;
  readonly version: string;
  /** Fixed owner of everything on this connection. */
  readonly boundUserId?: string | undefined;
  /** Default full. */
  readonly toolSet?: ToolSet | undefined;
  readonly log: Log;
  /** Ends the session as if the client had left. */
  readonly stop?: AbortSignal | undefined;
  /** The address where other processes can use this one's memory. Absent: private to this client. */
  readonly guests?: Guests | undefined;
  /** Default: the process's own. Only protocol messages are written to stdout. */
  readonly stdin?: Readable | undefined;
  readonly stdout?: Writable | undefined;
};

/**
 * Serves one MCP client over stdin and stdout, and the guests of this process, until it leaves or `stop` aborts; then closes the engine. If
 * the memory cannot be opened, this is logged at once, and each call that needs it tries again and reports the failure: the cause may have
 * been fixed. The client is still served so that it can read the reason.
 * @throws what `openEngine` last rejected with, after the client has left
 */
export async function serveMcpStdio(deps: McpStdioDeps): Promise<void> {
  const { log, version, boundUserId, toolSet, stop, guests } = deps;
  const engine = openOnce(deps.openEngine, (error, isNews) => {
    if (isNews) log("error", openFailure(error));
    // New processes try to open the memory themselves: their key may differ.
    if (!mayPass(error)) guests?.seat.leave();
  });
  const connection = openStdio(deps.stdin ?? process.stdin, deps.stdout ?? process.stdout);
  serveStdio(
    () => openMcpServer({ engine, version, boundUserId, isPersonal: true, toolSet, log }),
    {
      transport: connection.transport,
      onerror: (error) => log("warn", `protocol: ${error.message}`),
    },
  );
  const host = guestsOf(deps, engine);
  const timer = setTimeout(() => {
    // Preloads what calls need. Failures are reported by every call.
    Promise.all([loadOperations(), engine()]).catch(() => undefined);
  }, OPEN_DELAY_MS);
  if (stop?.aborted) connection.finish();
  stop?.addEventListener("abort", () => connection.finish(), { once: true });
  await connection.ended;
  clearTimeout(timer);
  await host?.leave();
  await closeEngine(engine, log);
}

function guestsOf(
  { guests, version, log }: McpStdioDeps,
  engine: () => Promise<MemoryEngine>,
): Host | undefined {
  if (guests === undefined) return undefined;
  const { hook, ...place } = guests;
  return hostGuests({ ...place, log, serve: guestService({ engine, version, log }, hook) });
}

/** How guests are served: like the client on stdin, each as its own owner. */
export function guestService(
  deps: Omit<McpDeps, "boundUserId" | "toolSet">,
  hook?: HookService | undefined,
): (guest: Guest, socket: Socket) => ServedGuest {
  return ({ userId: boundUserId, tools: toolSet, isHook = false }, socket) => {
    if (isHook) return { ended: hook?.(deps.engine, socket) ?? Promise.resolve() };
    const { transport, ended } = openStdio(socket, socket);
    serveStdio(() => openMcpServer({ ...deps, boundUserId, isPersonal: true, toolSet }), {
      transport,
      // It concerns another process, not the readers of this one's log.
      onerror: (error) => deps.log("info", `protocol: ${error.message}`),
    });
    return { ended };
  };
}

type EngineSource = {
  (): Promise<MemoryEngine>;
  /** The current or finished opening, or the last failed one; undefined if none was ever started. */
  readonly begun: () => Promise<MemoryEngine> | undefined;
};

/** Opens on demand, and again after a failure. @param onFailure told whether the failure differs from the last one */
function openOnce(
  open: () => Promise<MemoryEngine>,
  onFailure: (error: unknown, isNews: boolean) => void,
): EngineSource {
  let opening: Promise<MemoryEngine> | undefined;
  let failure: string | undefined;
  let hasFailed = false;
  const source = (): Promise<MemoryEngine> => {
    if (opening !== undefined && !hasFailed) return opening;
    hasFailed = false;
    opening = open();
    opening.catch((error: unknown) => {
      hasFailed = true;
      const message = openFailure(error);
      onFailure(error, message !== failure);
      failure = message;
    });
    return opening;
  };
  return Object.assign(source, { begun: () => opening });
}

/** Whether the same opening may succeed later unchanged. */
function mayPass(error: unknown): boolean {
  return error instanceof SvcError && ERROR_CATALOGUE[error.code].retry;
}

async function closeEngine(engine: EngineSource, log: Log): Promise<void> {
  const opened = await engine.begun();
  if (opened === undefined) return;
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(() => {
    log("warn", "the memory did not close in time; it recovers when it is opened again");
    resolve();
  }, CLOSE_MS);
  await Promise.race([opened.close(), late]);
  clearTimeout(timer);
}

/** Milliseconds for running requests to finish after the client has closed its end. */
const DRAIN_MS = 10_000;
/** Characters of running requests at which reading stops. */
const MAX_PENDING_SIZE = 64 * 1024 * 1024;
/** JSON-RPC 2.0, section 5.1. */
const INVALID_REQUEST = -32_600;

type StdioConnection = {
  readonly transport: Transport;
  /** Resolves when nothing more is read or written. */
  readonly ended: Promise<void>;
  /** Stops reading, answers running requests (bounded), ends. */
  finish(): void;
};

/**
 * Stdin and stdout as a transport that answers all requests read before it ends: a script that pipes its requests in gets its answers. It
 * reads no faster than the client reads answers, so memory stays bounded with a client that never reads.
 */
export function openStdio(stdin: Readable, stdout: Writable): StdioConnection {
  const connection = new Connection(stdin, stdout);
  return {
    transport: connection,
    ended: connection.ended,
    finish: () => connection.finish(),
  };
}

class Connection implements Transport {
  onmessage?: NonNullable<Transport["onmessage"]>;
  onerror?: NonNullable<Transport["onerror"]>;
  onclose?: NonNullable<Transport["onclose"]>;

  readonly #stdin: Readable;
  readonly #stdout: Writable;
  readonly #lines = new LineReader();
  /** Read, but not yet forwarded. */
  readonly #waiting: string[] = [];
  readonly #pending = new PendingRequests();
  readonly #ended = Promise.withResolvers<void>();
  /** While stdout accepts no more data. */
  #blocked: PromiseWithResolvers<void> | undefined;
  #unsent = 0;
  /** Reported once: an unrelated stream would fill the log and leak its content there. */
  #hasRefused = false;
  #state: "open" | "finishing" | "closed" = "open";

  constructor(stdin: Readable, stdout: Writable) {
    this.#stdin = stdin;
    this.#stdout = stdout;
  }

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  async start(): Promise<void> {
    // Even after the end: a late failure of a pipe does not matter.
    this.#stdout.on("error", (error: Error) => this.#fail(error));
    this.#stdout.on("close", () => this.#end());
    this.#stdout.on("drain", () => this.#unblock());
    this.#stdin.on("data", this.#read);
    this.#stdin.on("end", () => this.finish());
    this.#stdin.on("close", () => this.finish());
    this.#stdin.on("error", () => this.finish());
    // A socket used for a handshake before is paused.
    this.#stdin.resume();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#state === "closed") throw new Error("the connection is closed");
    this.#unsent += 1;
    if (!this.#stdout.write(serializeMessage(message))) {
      this.#blocked ??= Promise.withResolvers();
      await this.#blocked.promise;
    }
    this.#unsent -= 1;
    if (!("method" in message) && message.id !== undefined) this.#pending.answered(message.id);
    this.#giveOn();
  }

  async close(): Promise<void> {
    this.#end();
  }

  #end(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#stdin.off("data", this.#read);
    this.#stdin.pause();
    this.#waiting.length = 0;
    this.#unblock();
    this.onclose?.();
    this.#ended.resolve();
  }

  finish(): void {
    if (this.#state !== "open") return;
    this.#state = "finishing";
    this.#stdin.off("data", this.#read);
    this.#stdin.pause();
    const rest = lineOf(this.#lines.rest());
    if (rest.trim() !== "") this.#waiting.push(rest);
    setTimeout(() => this.#end(), DRAIN_MS).unref();
    this.#giveOn();
  }

  readonly #read = (chunk: Uint8Array): void => {
    try {
      this.#waiting.push(...this.#lines.read(chunk));
    } catch (error) {
      // The rest of the stream cannot be split into messages.
      this.#fail(error);
      return;
    }
    this.#giveOn();
  };

  /** Forwards what was read, as far as there is room, then reads more. */
  #giveOn(): void {
    while (!this.#isFull) {
      const line = this.#waiting.shift();
      if (line === undefined) break;
      this.#give(line);
    }
    if (this.#state === "open") {
      if (this.#waiting.length > 0 || this.#isFull) this.#stdin.pause();
      else this.#stdin.resume();
    }
    // Lets a message that was just forwarded become a request first.
    if (this.#state === "finishing" && this.#isDone) setImmediate(() => this.#closeIfDone());
  }

  get #isFull(): boolean {
    return this.#unsent > 0 || this.#pending.isFull;
  }

  get #isDone(): boolean {
    return this.#waiting.length === 0 && this.#unsent === 0 && this.#pending.isEmpty;
  }

  #closeIfDone(): void {
    if (this.#isDone) this.#end();
  }

  #give(line: string): void {
    if (line.trim() === "") return;
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(asMeant(parseJson(line)));
    } catch (error) {
      this.#refuse(line, error instanceof DoubledName ? `: ${error.message}` : "");
      return;
    }
    this.#pending.arrived(message, line.length);
    this.onmessage?.(message);
  }

  /** Skips invalid messages; one with an identifier is answered, so that the client does not wait for it. */
  #refuse(line: string, reason: string): void {
    if (!this.#hasRefused)
      this.onerror?.(new Error("a line is not a JSON-RPC message, and is skipped"));
    this.#hasRefused = true;
    const isText = !line.startsWith(NOT_UTF8);
    const id = idOf(isText ? line : line.slice(NOT_UTF8.length));
    if (id === undefined) return;
    const why = isText ? "a JSON-RPC message" : "UTF-8";
    const error = { code: INVALID_REQUEST, message: `The line is not ${why}${reason}` };
    this.send({ jsonrpc: "2.0", id, error }).catch(() => undefined);
  }

  #unblock(): void {
    this.#blocked?.resolve();
    this.#blocked = undefined;
  }

  #fail(error: unknown): void {
    if (this.#state === "closed") return;
    this.onerror?.(asError(error));
    this.#end();
  }
}

class PendingRequests {
  readonly #sizes = new Map<string | number, number>();
  #total = 0;

  get isEmpty(): boolean {
    return this.#sizes.size === 0;
  }

  get isFull(): boolean {
    return this.#sizes.size >= PENDING_MAX || this.#total >= MAX_PENDING_SIZE;
  }

  /** A subscription stays open indefinitely; a cancelled request gets no answer. */
  arrived(message: JSONRPCMessage, size: number): void {
    if (!("method" in message)) return;
    if ("id" in message) {
      if (message.method === "subscriptions/listen") return;
      this.answered(message.id);
      this.#sizes.set(message.id, size);
      this.#total += size;
      return;
    }
    if (message.method !== "notifications/cancelled") return;
    const id: unknown = message.params?.["requestId"];
    if (typeof id === "string" || typeof id === "number") this.answered(id);
  }

  answered(id: string | number): void {
    this.#total -= this.#sizes.get(id) ?? 0;
    this.#sizes.delete(id);
  }
}

function idOf(line: string): string | number | undefined {
  try {
    const value: unknown = JSON.parse(line);
    const isObject = typeof value === "object" && value !== null && "id" in value;
    const id = isObject ? value.id : undefined;
    return typeof id === "string" || typeof id === "number" ? id : undefined;
  } catch {
    return undefined;
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
