import { SvcError } from "../../domain/errors.ts";
import { describeCause, type Log } from "../contract/core/log.ts";
import { refuse } from "./answers.ts";

/** Seconds without a byte after which a connection that is sending its request is closed. */
const IDLE_SECONDS = 30;

/** Tracks whose turn it is: a caller that has to send may not be silent for long, a caller that waits for the server may. */
export type Turn = (request: Request, of: "server" | "caller") => void;

export type DoorDeps = {
  /** Literal address or name; empty means every interface. */
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Answers a request; it should never reject, and if it does, this is logged. */
  readonly answer: (request: Request, turn: Turn) => Response | Promise<Response>;
  readonly log: Log;
};

/** A socket that accepts requests. */
export type Door = {
  /** For example `http://127.0.0.1:8000`. */
  readonly url: string;
  readonly port: number;
  /** Accepts no more requests, lets running ones finish for at most `drainMs`, then closes every connection. */
  close(drainMs: number): Promise<void>;
};

/** Listens on an address. @throws SvcError bind_failed */
export function openDoor(deps: DoorDeps): Door {
  const running = new Set<Promise<Response>>();
  let closing = false;
  const server = listen(deps, async (request, listener) => {
    if (closing) return shuttingDown();
    // The server's own work does not count as idleness of the caller.
    const turn: Turn = (waiting, of) =>
      listener.timeout(waiting, of === "server" ? 0 : IDLE_SECONDS);
    const answer = Promise.resolve(deps.answer(request, turn));
    running.add(answer);
    try {
      return await answer;
    } finally {
      running.delete(answer);
      // The connection may be reused, but not indefinitely.
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
  { host, port, log }: DoorDeps,
  answer: (request: Request, listener: Listener) => Promise<Response>,
): Listener {
  try {
    return Bun.serve({
      hostname: host === "" ? "0.0.0.0" : host.replace(/^\[(.*)\]$/, "$1"),
      port,
      idleTimeout: IDLE_SECONDS,
      // We answer bodies above the limit ourselves; see body.ts.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      fetch: answer,
      error: (error) => {
        log("error", `unexpected failure: ${describeCause(error)}`);
        return refuse(500, "internal", "Internal server error");
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
  return refuse(503, "shutting_down", "The server is shutting down", { connection: "close" });
}

/** Whether work settles in time. @throws its rejection, if in time */
export async function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
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
