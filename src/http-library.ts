/** The HTTP interface of `svc serve` for programs with their own engine. */
import { VERSION } from "./app/version.ts";
import type { MemoryEngine } from "./engine/memory-engine.ts";
import { createHttpApp } from "./surface/http/app.ts";
import { startHttpServer as startServer } from "./surface/http/server.ts";

/** Access rules and logging. Keys and names are not read from the environment. */
export type HttpOptions = {
  /** One bearer key for all owners. */
  readonly apiKey?: string | undefined;
  /** A bearer key for each owner: `{ <user id>: <key> }`. */
  readonly userKeys?: Readonly<Record<string, string>> | undefined;
  /** Web origins whose pages may read answers, or `*`. Default: none. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** Whether those pages may send credentials. Ignored with `*`. Default false. */
  readonly corsAllowCredentials?: boolean | undefined;
  /** Names of the server in addition to the loopback ones; checked only without keys. Default: none. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Serves everyone without keys, under any name, on any address. Default false. */
  readonly allowUnauthenticatedExternalBind?: boolean | undefined;
  /** Called for each request and each failure. Default: nothing is logged. */
  readonly log?:
    | ((
        level: "error" | "warn" | "info",
        message: string,
        fields?: Readonly<Record<string, string | number>>,
      ) => void)
    | undefined;
};

/** Answers a request; a failure is an answer too. */
export type HttpHandler = (request: Request) => Promise<Response>;

export type HttpServerOptions = HttpOptions & {
  /**
   * An engine, which the caller still has to close, or a function that opens one. It is called once the address is bound, and `stop` closes
   * its engine.
   */
  readonly engine: MemoryEngine | (() => Promise<MemoryEngine>);
  /** Address to listen on; empty means every interface. Default `127.0.0.1`. */
  readonly host?: string | undefined;
  /** 0 picks a free one. Default 8000. */
  readonly port?: number | undefined;
};

/** A running server. `await using` stops it. */
export type HttpServer = AsyncDisposable & {
  /** For example `http://127.0.0.1:8000`. */
  readonly url: string;
  readonly port: number;
  /** Accepts no more requests and lets running ones finish, for at most 30 seconds. */
  stop(): Promise<void>;
};

/**
 * The routes of `svc serve` as a function, for your own server, whose reachability is not checked here.
 * @param engine while it is still being opened, every route but `/v1/health` answers 503
 * @throws SvcError invalid_config for keys that cannot be used
 */
export function createHttpHandler(
  engine: MemoryEngine | Promise<MemoryEngine>,
  options: HttpOptions = {},
): HttpHandler {
  let opened = engine instanceof Promise ? undefined : engine;
  if (engine instanceof Promise) {
    engine.then(
      (ready) => {
        opened = ready;
      },
      // Its owner gets the rejection; requests are told that there is no engine.
      () => undefined,
    );
  }
  const app = createHttpApp({
    ...accessOf(options),
    engine: () => opened,
    allowsUnauthenticated: options.allowUnauthenticatedExternalBind,
  });
  return async (request) => await app.fetch(request);
}

/**
 * Serves memories over HTTP like `svc serve`; the promise resolves when the engine is open and requests are answered.
 * @throws UnauthenticatedBindError for an address that the network can reach, without keys; nothing is opened then
 * @throws SvcError bind_failed or invalid_config, or whatever opening the engine throws
 */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { engine, host = "127.0.0.1", port = 8000 } = options;
  const server = await startServer({
    ...accessOf(options),
    host,
    port,
    allowUnauthenticatedExternalBind: options.allowUnauthenticatedExternalBind === true,
    openEngine: () =>
      typeof engine === "function"
        ? engine()
        : Promise.resolve({ ...engine, close: () => Promise.resolve() }),
  });
  await server.ready;
  const { url, stop } = server;
  return { url, port: server.port, stop, [Symbol.asyncDispose]: stop };
}

function accessOf({ apiKey, userKeys, corsOrigins, corsAllowCredentials, ...rest }: HttpOptions) {
  return {
    version: VERSION,
    auth: { apiKey, userKeys },
    cors: { origins: corsOrigins ?? [], allowCredentials: corsAllowCredentials === true },
    allowedHosts: rest.allowedHosts,
    log: rest.log ?? (() => undefined),
  };
}
