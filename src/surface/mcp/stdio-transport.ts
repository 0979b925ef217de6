import type { Readable, Writable } from "node:stream";
import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/server";
import { DoubledName, parseJson } from "../../lib/json.ts";
import { LineReader, lineOf, NOT_UTF8, PENDING_MAX } from "./link/lines.ts";
import { withoutNulls } from "./nulls.ts";

/** Milliseconds for finishing running requests after the client has closed its end. */
const DRAIN_MS = 10_000;
/** Characters of running requests at which reading stops. */
const MAX_PENDING_SIZE = 64 * 1024 * 1024;
/** JSON-RPC 2.0, section 5.1. */
const INVALID_REQUEST = -32_600;

export type StdioConnection = {
  readonly transport: Transport;
  /** Resolves when nothing more is read or written. */
  readonly ended: Promise<void>;
  /** Stops reading, answers running requests (bounded), ends. */
  finish(): void;
};

/**
 * Stdin and stdout as a transport that answers the requests it has read before it ends: a script that pipes its requests in gets
 * its answers. It reads no faster than the client reads answers, so that a client that never reads costs no more memory than one
 * that does.
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
  /** While stdout accepts nothing more. */
  #blocked: PromiseWithResolvers<void> | undefined;
  #unsent = 0;
  /** Reported once: a stream of something else entirely would fill the log and disclose its content there. */
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

  /** Forwards what was read, as far as there is room, and reads more when there is room left. */
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
      message = parseJSONRPCMessage(withoutNulls(parseJson(line)));
    } catch (error) {
      this.#refuse(line, error instanceof DoubledName ? `: ${error.message}` : "");
      return;
    }
    this.#pending.arrived(message, line.length);
    this.onmessage?.(message);
  }

  /** Skips invalid messages; one with an identifier is answered, so that nobody waits for it. */
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

/** The unanswered requests, with their sizes. */
class PendingRequests {
  readonly #sizes = new Map<string | number, number>();
  #total = 0;

  get isEmpty(): boolean {
    return this.#sizes.size === 0;
  }

  get isFull(): boolean {
    return this.#sizes.size >= PENDING_MAX || this.#total >= MAX_PENDING_SIZE;
  }

  /** A subscription stays open for ever; a cancelled request gets no answer. */
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
