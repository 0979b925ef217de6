import type { MemoryEngine } from "../../engine/memory-engine.ts";
import type { Examine } from "../contract/core/examination.ts";
import { type AuthSettings, hasCredentials } from "../listener/auth.ts";
import { assertBindAllowed } from "../listener/bind.ts";
import type { BodyTimes } from "../listener/body.ts";
import type { McpEndpoint } from "../listener/mcp-endpoint.ts";
import { type Server, type ServerDeps, type Service, startServer } from "../listener/server.ts";
import { type CorsSettings, corsWarning, createHttpApp } from "./app.ts";
import { INSPECTOR_PATH, type InspectorSession } from "./inspector.ts";
import type { MetricsAccess } from "./metrics-endpoint.ts";

export type HttpServerDeps = ServerDeps & {
  readonly allowUnauthenticatedExternalBind: boolean;
  readonly version: string;
  readonly auth: AuthSettings;
  readonly cors: CorsSettings;
  /** Names under which requests may address the server, in addition to the loopback ones. Default: none. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Creates the endpoint that answers MCP as well. Default: none. */
  readonly mcp?: ((engine: () => Promise<MemoryEngine>) => McpEndpoint) | undefined;
  /** One-time links as the only way in. Default: the keys of `auth`. */
  readonly session?: InspectorSession | undefined;
  /** Whether the inspector's page is served. Default: if only this machine can reach the address. */
  readonly inspector?: boolean | undefined;
  /** Examines the pack. Default: off. */
  readonly examine?: Examine | undefined;
  /** Counts requests and answers `/metrics`. Default: that path does not exist. */
  readonly metrics?: MetricsAccess | undefined;
  /** How long a caller may take to send a body. Default: 60 s, checked every 5 s. */
  readonly bodyTimes?: Partial<BodyTimes> | undefined;
};

export type HttpServer = Server & {
  /** Address of the inspector; undefined if off. */
  readonly inspector: string | undefined;
};

/**
 * Serves the HTTP interface: checks the address, binds the socket, then opens the engine. Requests that arrive before that is
 * done wait for it.
 * @throws SvcError unauthenticated_bind, bind_failed, invalid_config; the engine is then never opened
 */
export async function startHttpServer(deps: HttpServerDeps): Promise<HttpServer> {
  const { log, auth, cors, host } = deps;
  const { warning, isLoopback } = await assertBindAllowed({
    host,
    hasCredentials: hasCredentials(auth),
    allowUnauthenticated: deps.allowUnauthenticatedExternalBind,
  });
  for (const text of [warning, corsWarning(cors)]) {
    if (text !== undefined) log("warn", text);
  }
  const inspector = deps.inspector ?? isLoopback;
  const server = startServer(deps, (opening) => serviceOf({ ...deps, inspector }, opening));
  return { ...server, inspector: inspector ? `${server.url}${INSPECTOR_PATH}` : undefined };
}

function serviceOf(deps: HttpServerDeps, opening: Promise<MemoryEngine>): Service {
  let engine: MemoryEngine | undefined;
  opening.then(
    (opened) => {
      engine = opened;
    },
    () => undefined,
  );
  const mcp = deps.mcp?.(() => opening);
  const closing = new AbortController();
  const app = createHttpApp({
    engine: () => engine,
    version: deps.version,
    auth: deps.auth,
    cors: deps.cors,
    mcp,
    allowedHosts: deps.allowedHosts,
    allowsUnauthenticated: deps.allowUnauthenticatedExternalBind,
    bodyTimes: deps.bodyTimes,
    examine: deps.examine,
    session: deps.session,
    inspector: deps.inspector,
    metrics: deps.metrics,
    log: deps.log,
    closing: closing.signal,
  });
  return {
    answer: (request, turn) => app.fetch(request, { turn }),
    endStreams: async () => {
      closing.abort();
      await mcp?.endStreams();
    },
  };
}
