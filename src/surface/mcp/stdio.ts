import type { Readable, Writable } from "node:stream";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { ERROR_CATALOGUE, SvcError } from "../../domain/errors.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import type { Log } from "../contract/core/log.ts";
import type { AnswerForm, ToolSet } from "../contract/core/operation.ts";
import type { Kin } from "./link/hello.ts";
import { type Host, hostGuests } from "./link/host.ts";
import type { Seat } from "./link/rendezvous.ts";
import { guestService } from "./serve-guest.ts";
import { createMcpServer } from "./server.ts";
import { openStdio } from "./stdio-transport.ts";
import { loadOperations } from "./tool-schema.ts";
import { openFailure } from "./tools.ts";

/** Milliseconds that the handshake has for itself before the memory is opened; a call that needs it opens it at once. */
const OPEN_DELAY_MS = 100;
/** Milliseconds after which a memory that does not close is left to its recovery. */
const CLOSE_MS = 10_000;

export type McpStdioDeps = {
  /** Called after the connection stands or when the first call needs it; after a failure, when the next call does. */
  readonly openEngine: () => Promise<MemoryEngine>;
  readonly version: string;
  /** Fixed owner of everything on this connection. */
  readonly boundUserId?: string | undefined;
  /** Default full. */
  readonly toolSet?: ToolSet | undefined;
  /** Default json. */
  readonly answers?: AnswerForm | undefined;
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
 * A memory that cannot be opened is logged at once and told to the calls that need it, of which each tries again: it may be
 * mended by then. The client stays served so that it can read it.
 * @throws what `openEngine` rejected with last, after the client has left
 */
export async function serveMcpStdio(deps: McpStdioDeps): Promise<void> {
  const { log, version, boundUserId, toolSet, answers, stop, guests } = deps;
  const engine = openOnce(deps.openEngine, (error, isNews) => {
    if (isNews) log("error", openFailure(error));
    // Who comes from now on tries by itself: its key may be another one.
    if (!mayPass(error)) guests?.seat.leave();
  });
  const connection = openStdio(deps.stdin ?? process.stdin, deps.stdout ?? process.stdout);
  serveStdio(
    () =>
      createMcpServer({ engine, version, boundUserId, isPersonal: true, toolSet, answers, log }),
    {
      transport: connection.transport,
      onerror: (error) => log("warn", `protocol: ${error.message}`),
    },
  );
  const host = guestsOf(deps, engine);
  const timer = setTimeout(() => {
    // What calls need, before the first one comes. Every call is told what fails here.
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
  return hostGuests({ ...guests, log, ...guestService({ engine, version, log }) });
}

type EngineSource = {
  (): Promise<MemoryEngine>;
  /** The opening under way or done, or the last one that failed; undefined if none was ever begun. */
  readonly begun: () => Promise<MemoryEngine> | undefined;
};

/** Opens when it is asked, and again when it is asked after a failure. @param onFailure told whether it is another one */
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

/** Whether the same opening may succeed without anything being changed. */
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
