import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { ERROR_CATALOGUE, SvcError } from "../../domain/errors.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import type { Log } from "../contract/core/log.ts";
import type { ToolSet } from "../contract/core/operation.ts";
import type { Guest, Kin } from "./link/handshake.ts";
import { type Host, hostGuests, type ServedGuest } from "./link/host.ts";
import type { Seat } from "./link/rendezvous.ts";
import { createMcpServer } from "./server.ts";
import { openStdio } from "./stdio-transport.ts";
import { loadOperations } from "./tool-schema.ts";
import { type McpDeps, openFailure } from "./tools.ts";

/** Milliseconds reserved for the handshake before the memory is opened; a call that needs it opens it at once. */
const OPEN_DELAY_MS = 100;
/** Milliseconds after which a memory that does not close is left to crash recovery. */
const CLOSE_MS = 10_000;

export type McpStdioDeps = {
  /** Called once the connection is established or the first call needs it; after a failure, when the next call does. */
  readonly openEngine: () => Promise<MemoryEngine>;
  readonly version: string;
  /** Fixed owner of everything on this connection. */
  readonly boundUserId?: string | undefined;
  /** Default full. */
  readonly toolSet?: ToolSet | undefined;
  readonly log: Log;
  /** Ends the session just as the client's leaving does. */
  readonly stop?: AbortSignal | undefined;
  /** Where other processes that want to use this one's memory connect. Absent: only this client uses it. */
  readonly guests?: { readonly seat: Seat; readonly kin: Kin } | undefined;
  /** Default: the process's own. Only protocol messages are written to stdout. */
  readonly stdin?: Readable | undefined;
  readonly stdout?: Writable | undefined;
};

/**
 * Serves one MCP client over stdin and stdout until it leaves or `stop` aborts, and the guests of this process, then closes the
 * engine. If the memory cannot be opened, this is logged at once and reported to the calls that need it, each of which tries
 * again: the cause may have been fixed. The client is still served so that it can read the reason.
 * @throws what `openEngine` last rejected with, after the client has left
 */
export async function serveMcpStdio(deps: McpStdioDeps): Promise<void> {
  const { log, version, boundUserId, toolSet, stop, guests } = deps;
  const engine = openOnce(deps.openEngine, (error, isNews) => {
    if (isNews) log("error", openFailure(error));
    // Processes that come from now on try by themselves: their key may be different.
    if (!mayPass(error)) guests?.seat.leave();
  });
  const connection = openStdio(deps.stdin ?? process.stdin, deps.stdout ?? process.stdout);
  serveStdio(
    () => createMcpServer({ engine, version, boundUserId, isPersonal: true, toolSet, log }),
    {
      transport: connection.transport,
      onerror: (error) => log("warn", `protocol: ${error.message}`),
    },
  );
  const host = guestsOf(deps, engine);
  const timer = setTimeout(() => {
    // Load what calls need before the first one comes. Every call reports failures of this.
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
  return hostGuests({ ...guests, log, serve: guestService({ engine, version, log }) });
}

/** How other processes that use this one's memory are served: like the client on stdin, each as its own owner. */
export function guestService(
  deps: Omit<McpDeps, "boundUserId" | "toolSet">,
): (guest: Guest, socket: Socket) => ServedGuest {
  return ({ userId: boundUserId, tools: toolSet }, socket) => {
    const { transport, ended } = openStdio(socket, socket);
    serveStdio(() => createMcpServer({ ...deps, boundUserId, isPersonal: true, toolSet }), {
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
