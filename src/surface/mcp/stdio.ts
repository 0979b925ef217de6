import type { Readable, Writable } from "node:stream";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import type { Log } from "../contract/log.ts";
import type { ToolSet } from "../contract/operation.ts";
import type { Kin } from "./link/hello.ts";
import { type Host, hostGuests } from "./link/host.ts";
import type { Seat } from "./link/rendezvous.ts";
import { guestService } from "./serve-guest.ts";
import { createMcpServer } from "./server.ts";
import { openStdio } from "./stdio-transport.ts";
import { openFailure } from "./tools.ts";

/** Milliseconds that the handshake has for itself before the memory is opened; a call that needs it opens it at once. */
const OPEN_DELAY_MS = 100;
/** Milliseconds after which a memory that does not close is left to its recovery. */
const CLOSE_MS = 10_000;

export type McpStdioDeps = {
  /** Called once, after the connection stands or when the first call needs it. */
  readonly openEngine: () => Promise<MemoryEngine>;
  readonly version: string;
  /** Fixed owner of everything on this connection. */
  readonly boundUserId?: string | undefined;
  /** Default full. */
  readonly toolSet?: ToolSet | undefined;
  readonly log: Log;
  /** Ends the session as the client's leaving does. */
  readonly stop?: AbortSignal | undefined;
  /** Where other processes come that want to use this one's memory. Absent: it is used by this client alone. */
  readonly guests?: { readonly seat: Seat; readonly kin: Kin } | undefined;
  /** Default: the process's own. Only protocol is written to stdout. */
  readonly stdin?: Readable | undefined;
  readonly stdout?: Writable | undefined;
};

/**
 * Serves one MCP client over stdin and stdout until it leaves or `stop` aborts, and the guests of this process, then
 * closes the engine.
 * A memory that cannot be opened is logged at once and told to every call; the client stays served so that it can read it.
 * @throws what `openEngine` rejected with, after the client has left
 */
export async function serveMcpStdio(deps: McpStdioDeps): Promise<void> {
  const { log, version, boundUserId, toolSet, stop, guests } = deps;
  const engine = openOnce(deps.openEngine, (error) => {
    log("error", openFailure(error));
    // Who comes from now on tries by itself: what is wrong may be mended by then.
    guests?.seat.leave();
  });
  const connection = openStdio(deps.stdin ?? process.stdin, deps.stdout ?? process.stdout);
  serveStdio(() => createMcpServer({ engine, version, boundUserId, toolSet, log }), {
    transport: connection.transport,
    onerror: (error) => log("warn", `protocol: ${error.message}`),
  });
  const host = guestsOf(deps, engine);
  const timer = setTimeout(() => {
    engine().catch(() => undefined);
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
  return hostGuests({ ...guests, log, ...guestService({ engine, version, log }) });
}

type EngineSource = {
  (): Promise<MemoryEngine>;
  /** The opening, if it was ever begun. */
  readonly begun: () => Promise<MemoryEngine> | undefined;
};

function openOnce(
  open: () => Promise<MemoryEngine>,
  onFailure: (error: unknown) => void,
): EngineSource {
  let opening: Promise<MemoryEngine> | undefined;
  const source = (): Promise<MemoryEngine> => {
    if (opening === undefined) {
      opening = open();
      opening.catch(onFailure);
    }
    return opening;
  };
  return Object.assign(source, { begun: () => opening });
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
