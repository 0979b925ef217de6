import type { MemoryEngine } from "../../engine/memory-engine.ts";
import type { Log } from "../contract/core/log.ts";
import { refuse } from "./answers.ts";
import { type DoorDeps, openDoor, settlesWithin } from "./door.ts";

/** Milliseconds for running requests to finish at shutdown. */
const DRAIN_MS = 30_000;
/** Milliseconds for the engine to close after that. The next start finishes the rest. */
const CLOSE_MS = 10_000;

export type ServerDeps = {
  /** Literal address or name; empty means every interface. */
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly log: Log;
  /** Called once, when the address is bound. */
  readonly openEngine: () => Promise<MemoryEngine>;
  /** Milliseconds; default 30,000. */
  readonly drainMs?: number | undefined;
};

/** What a server does with its requests. */
export type Service = {
  readonly answer: DoorDeps["answer"];
  /** Ends answers that would stay open indefinitely. */
  endStreams(): Promise<void>;
};

export type Server = {
  readonly url: string;
  readonly port: number;
  /** Resolves with the engine once it is open; rejects with its failure after closing the socket. */
  readonly ready: Promise<MemoryEngine>;
  /** Stops accepting, lets running requests finish, closes the engine; each is bounded in time. Idempotent. */
  stop(): Promise<void>;
};

/**
 * Binds the socket, then opens the engine; requests that arrive in between wait, so that an answer means real service.
 * @param begin gets the engine as it will be
 * @throws SvcError bind_failed, or what `begin` throws; the engine is then never opened
 */
export function startServer(
  deps: ServerDeps,
  begin: (opening: Promise<MemoryEngine>) => Service,
): Server {
  const { host, port, log } = deps;
  const { promise: opening, resolve, reject } = Promise.withResolvers<MemoryEngine>();
  const service = begin(opening);
  let isOpen = false;
  const becameOpen = opening.then(
    () => {
      isOpen = true;
      return true;
    },
    () => false,
  );
  const door = openDoor({
    host,
    port,
    log,
    answer: async (request, turn) => {
      if (!isOpen) {
        turn(request, "server");
        if (!(await becameOpen)) return unavailable();
      }
      return await service.answer(request, turn);
    },
  });
  const ready = opening.catch(async (error: unknown) => {
    await door.close(0);
    throw error;
  });
  // A caller that ignores `ready` must not get an unhandled rejection.
  ready.catch(() => undefined);
  deps.openEngine().then(resolve, reject);
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    await service.endStreams();
    await door.close(deps.drainMs ?? DRAIN_MS);
    const closing = opening.then(
      (engine) => engine.close(),
      () => undefined,
    );
    if (await settlesWithin(closing, CLOSE_MS)) return;
    log("warn", "the memory was left before it was closed: it is still waiting for something");
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

/** The answer to requests that waited for an engine that could not be opened. */
function unavailable(): Response {
  return refuse(503, "not_ready", "Engine not initialized", { connection: "close" });
}
