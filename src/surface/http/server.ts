import { SvcError } from "../../domain/errors.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import { describeCause, type Log } from "../contract/log.ts";
import { refuse } from "./answers.ts";
import { createHttpApp } from "./app.ts";
import type { AppBindings, HttpApp } from "./app-env.ts";
import { type AuthSettings, hasCredentials } from "./auth.ts";
import { assertBindAllowed } from "./bind.ts";
import { type CorsSettings, corsWarning } from "./cors.ts";

/** Seconds without a byte after which a connection that sends its request is cut. */
const IDLE_SECONDS = 30;
/** Milliseconds that running requests get to finish at shutdown. */
const DRAIN_MS = 30_000;

export type HttpServerDeps = {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly allowUnauthenticatedExternalBind: boolean;
  readonly version: string;
  readonly auth: AuthSettings;
  readonly cors: CorsSettings;
  /** Names under which requests may address the server, beside the loopback ones. Default: none. */
  readonly allowedHosts?: readonly string[] | undefined;
  readonly log: Log;
  /** Called once, when the address is ours. */
  readonly openEngine: () => Promise<MemoryEngine>;
  /** Milliseconds; default 30,000. */
  readonly drainMs?: number | undefined;
  /** Milliseconds that a caller may take to send a body; default 60,000. */
  readonly bodyTimeoutMs?: number | undefined;
};

export type HttpServer = {
  readonly url: string;
  readonly port: number;
  /** Resolves when the engine is open; rejects with its failure, the socket closed again. */
  readonly ready: Promise<void>;
  /** Stops accepting, lets running requests finish (bounded), closes the engine. Idempotent. */
  stop(): Promise<void>;
};

/**
 * Serves the HTTP interface: checks the address, takes the socket, then opens the engine. Until that is done every
 * route but health answers 503.
 * @throws SvcError unauthenticated_bind, bind_failed, invalid_config; the engine is then never opened
 */
export async function startHttpServer(deps: HttpServerDeps): Promise<HttpServer> {
  const { log, auth, cors, host, allowedHosts = [] } = deps;
  const permit = await assertBindAllowed({
    host,
    hasCredentials: hasCredentials(auth),
    allowUnauthenticated: deps.allowUnauthenticatedExternalBind,
  });
  for (const warning of [permit.warning, corsWarning(cors)]) {
    if (warning !== undefined) log("warn", warning);
  }
  let engine: MemoryEngine | undefined;
  const app = createHttpApp({
    engine: () => engine,
    version: deps.version,
    auth,
    cors,
    // A network address has names that we cannot know.
    hosts: { checksHost: permit.isLoopback || allowedHosts.length > 0, allowedHosts },
    bodyTimeoutMs: deps.bodyTimeoutMs,
    log,
  });
  const door = openDoor(app, deps);
  const opening = deps.openEngine().then((opened) => {
    engine = opened;
  });
  const ready = opening.catch(async (error: unknown) => {
    await door.close(0);
    throw error;
  });
  // Whoever does not look at `ready` still must not meet an unhandled rejection.
  ready.catch(() => undefined);
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    await door.close(deps.drainMs ?? DRAIN_MS);
    await opening.catch(() => undefined);
    await engine?.close();
  };
  return {
    url: door.url,
    port: door.port,
    ready,
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

type Door = {
  readonly url: string;
  readonly port: number;
  /** Lets running requests finish for at most `drainMs`, then cuts every connection. */
  close(drainMs: number): Promise<void>;
};

function openDoor(app: HttpApp, deps: HttpServerDeps): Door {
  const running = new Set<Promise<Response>>();
  let closing = false;
  const server = listen(deps, async (request, listener) => {
    if (closing) return shuttingDown();
    const bindings: AppBindings = {
      // Long work of ours is no idleness of the caller.
      turn: (waiting, of) => listener.timeout(waiting, of === "server" ? 0 : IDLE_SECONDS),
    };
    const answer = Promise.resolve(app.fetch(request, bindings));
    running.add(answer);
    try {
      return await answer;
    } finally {
      running.delete(answer);
      // The connection may be kept for a next request, but not for ever.
      listener.timeout(request, IDLE_SECONDS);
    }
  });
  const port = server.port ?? deps.port;
  return {
    url: `http://${urlHost(deps.host)}:${port}`,
    port,
    close: async (drainMs) => {
      closing = true;
      const flushed = server.stop(false);
      const isDrained = await settlesWithin(Promise.all([...running, flushed]), drainMs);
      if (!isDrained && running.size > 0) {
        deps.log("warn", "requests were cut off at shutdown", { count: running.size });
      }
      await server.stop(true);
    },
  };
}

type Listener = Bun.Server<undefined>;

function listen(
  { host, port, log }: HttpServerDeps,
  answer: (request: Request, listener: Listener) => Promise<Response>,
): Listener {
  try {
    return Bun.serve({
      hostname: host === "" ? "0.0.0.0" : host.replace(/^\[(.*)\]$/, "$1"),
      port,
      idleTimeout: IDLE_SECONDS,
      // The limit of a body is ours to answer, in our words; see body.ts.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch: answer,
      error: (error) => {
        log("error", `unexpected failure: ${describeCause(error)}`);
        return refuse(500, "Internal server error");
      },
    });
  } catch (cause) {
    throw bindFailed(host, port, cause);
  }
}

function bindFailed(host: string, port: number, cause: unknown): SvcError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown reason";
  const where = `${host === "" ? "0.0.0.0" : host}:${port}`;
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `${where} is already in use; stop the other program or choose another --port`,
    EACCES: `${where} is not permitted; choose a --port above 1023`,
    EADDRNOTAVAIL: `${where} is not an address of this machine; choose another --host`,
  };
  const message = reasons[code] ?? `cannot listen on ${where} (${code})`;
  return new SvcError("bind_failed", message, { host, port }, { cause });
}

function urlHost(host: string): string {
  if (host === "") return "127.0.0.1";
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}

function shuttingDown(): Response {
  return refuse(503, "The server is shutting down", { connection: "close" });
}

async function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
