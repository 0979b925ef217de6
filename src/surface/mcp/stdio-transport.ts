import { PassThrough, type Readable, type Writable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

/** Bytes of the largest message, some more than the largest HTTP body. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
/** Milliseconds for which requests under way are finished after the client has closed its end. */
const DRAIN_MS = 10_000;

export type StdioConnection = {
  readonly transport: Transport;
  /** Resolves when nothing more is read or written. */
  readonly ended: Promise<void>;
  /** Reads nothing more, answers what is under way (bounded), ends. */
  finish(): void;
};

/**
 * Stdin and stdout as a transport that answers the requests it has read before it ends. The library's own drops them
 * when stdin ends, so that a script which pipes its requests in would get no answers.
 */
export function openStdio(stdin: Readable, stdout: Writable): StdioConnection {
  const relay = new PassThrough();
  const inner = new StdioServerTransport(relay, stdout, { maxBufferSize: MAX_MESSAGE_BYTES });
  const pending = new Set<string | number>();
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  let isFinishing = false;
  const forward = (chunk: Uint8Array): void => {
    relay.write(chunk);
  };
  const closeWhenDrained = (): void => {
    if (isFinishing && pending.size === 0) setImmediate(() => inner.close());
  };
  const finish = (): void => {
    if (isFinishing) return;
    isFinishing = true;
    stdin.off("data", forward);
    stdin.pause();
    // Messages that were read but not yet parsed get their turn first.
    setImmediate(closeWhenDrained);
    setTimeout(() => inner.close(), DRAIN_MS).unref();
  };
  const transport: Transport = {
    start: async () => {
      inner.onmessage = (message) => {
        track(message, pending);
        transport.onmessage?.(message);
      };
      inner.onerror = (error) => transport.onerror?.(error);
      inner.onclose = () => {
        transport.onclose?.();
        end();
      };
      await inner.start();
      stdin.on("data", forward);
      stdin.on("end", finish);
      stdin.on("close", finish);
      stdin.on("error", finish);
      // A socket on which something was agreed before stands still.
      stdin.resume();
    },
    send: async (message) => {
      await inner.send(message);
      if (!("method" in message) && message.id !== undefined) pending.delete(message.id);
      closeWhenDrained();
    },
    close: () => inner.close(),
  };
  return { transport, ended, finish };
}

/** Remembers what still has to be answered. A subscription stays open for ever, a cancelled request gets no answer. */
function track(message: JSONRPCMessage, pending: Set<string | number>): void {
  if (!("method" in message)) return;
  if ("id" in message) {
    if (message.method !== "subscriptions/listen") pending.add(message.id);
    return;
  }
  if (message.method !== "notifications/cancelled") return;
  const id: unknown = message.params?.["requestId"];
  if (typeof id === "string" || typeof id === "number") pending.delete(id);
}
