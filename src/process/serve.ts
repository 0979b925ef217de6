/** The processes behind `svc serve`, `svc open` and `svc mcp --transport streamable-http`. */
import { randomBytes } from "node:crypto";
import { VERSION } from "../app/version.ts";
import { SvcError } from "../domain/errors.ts";
import type { MemoryEngine } from "../engine/memory-engine.ts";
import type { Secret } from "../lib/secret.ts";
import type {
  HttpServeOptions,
  InspectOptions,
  McpHttpServeOptions,
  RunningInspector,
  RunningServer,
} from "../surface/cli/context.ts";
import type { Examine } from "../surface/contract/core/examination.ts";
import type { MetricsAccess } from "../surface/http/metrics-endpoint.ts";
import type { McpEndpoint } from "../surface/listener/mcp-endpoint.ts";
import type { Server } from "../surface/listener/server.ts";
import type { Host } from "../surface/mcp/link/host.ts";
import { linkOf } from "./link.ts";
import { hookOf, joinBy } from "./mcp.ts";
import { releaseAtRest } from "./rest.ts";

/** Milliseconds for which a stopped server may linger. */
const LINGER_MS = 2000;

type Options = Pick<HttpServeOptions, "config" | "settingsFile" | "key" | "readOnly" | "log">;

/** Serves programs over HTTP, assistants too if requested, and the `svc mcp` processes of the pack. */
export async function serveHttp(options: HttpServeOptions): Promise<RunningServer> {
  const { startHttpServer } = await import("../surface/http/server.ts");
  const { lazyMcpEndpoint } = await import("../surface/listener/mcp-endpoint.ts");
  const { log } = options;
  const version = VERSION;
  const { api } = options.config;
  const endpointOf = (engine: () => Promise<MemoryEngine>): McpEndpoint =>
    lazyMcpEndpoint(async () => {
      const { createMcpEndpoint } = await import("../surface/mcp/http.ts");
      return createMcpEndpoint({ engine, version, log, toolSet: "full" });
    });
  const server = await startHttpServer({
    ...options,
    version,
    auth:
      options.onlyKey === undefined
        ? {
            apiKey: api.api_key?.reveal(),
            userKeys: revealed(api.user_keys),
            named: api.keys_file === undefined ? undefined : await namedKeys(api.keys_file),
          }
        : { apiKey: options.onlyKey },
    cors: { origins: api.cors_origins, allowCredentials: api.cors_allow_credentials },
    allowedHosts: api.allowed_hosts,
    mcp: options.mcp ? endpointOf : undefined,
    inspector: api.inspector,
    examine: lazyExamine(options),
    metrics: api.metrics ? await metricsOf(api.metrics_key) : undefined,
  });
  const running = await withGuests(server, server.url, options);
  return { ...running, inspector: server.inspector };
}

async function namedKeys(path: string) {
  return (await import("../app/key-file.ts")).watchKeyFile(path);
}

/** @param key opens nothing else */
async function metricsOf(key: Secret | undefined): Promise<MetricsAccess> {
  const { createMetrics } = await import("../surface/http/metrics.ts");
  const { createAuthenticate } = await import("../surface/listener/auth.ts");
  const keySetting = "api.metrics_key";
  const authenticate = key && createAuthenticate({ apiKey: key.reveal(), keySetting });
  return { metrics: createMetrics(VERSION), authenticate };
}

/** Serves one page of one person, on this machine alone, until it is stopped. @throws SvcError invalid_config */
export async function serveInspector(options: InspectOptions): Promise<RunningInspector> {
  const { config, log, onSessionEnded: onEnded } = options;
  if (config.api.inspector === false) {
    const setting = "api.inspector";
    const message = `${setting}: is false, which turns the inspector off; unset SVC_API__INSPECTOR`;
    throw new SvcError("invalid_config", message, { setting });
  }
  const { startHttpServer } = await import("../surface/http/server.ts");
  const { createInspectorSession, INSPECTOR_PATH } = await import("../surface/http/inspector.ts");
  const session = createInspectorSession({
    nowMs: () => performance.now(),
    secret: (bytes) => randomBytes(bytes).toString("hex"),
    onEnded,
  });
  const server = await startHttpServer({
    ...{ host: "127.0.0.1", port: 0, allowUnauthenticatedExternalBind: false },
    ...{ log, version: VERSION, openEngine: options.openEngine, examine: lazyExamine(options) },
    ...{ auth: {}, cors: { origins: [], allowCredentials: false }, session, inspector: true },
  });
  const running = await withGuests(server, `${server.url}${INSPECTOR_PATH}`, options);
  return { ...running, link: () => `${running.url}#code=${session.issue()}` };
}

/** Loaded on first use. */
function lazyExamine(given: Pick<HttpServeOptions, "config" | "keyIsKept">): Examine {
  const { config, keyIsKept } = given;
  let examine: Promise<Examine> | undefined;
  return async () => {
    examine ??= import("./examine.ts").then(({ examineIn }) => examineIn(config, keyIsKept));
    return await (await examine)();
  };
}

/** Serves the assistants of this machine that have a key, and the `svc mcp` processes of the pack. */
export async function serveMcpHttp(options: McpHttpServeOptions): Promise<RunningServer> {
  const { startMcpServer } = await import("../surface/mcp/http.ts");
  const { MCP_PATH } = await import("../surface/listener/mcp-endpoint.ts");
  const server = startMcpServer({
    ...options,
    version: VERSION,
    toolSet: options.tools,
    userKeys: revealed(options.config.mcp.user_keys),
  });
  return await withGuests(server, `${server.url}${MCP_PATH}`, options);
}

function revealed(keys: Readonly<Record<string, Secret>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(keys).map(([owner, key]) => [owner, key.reveal()]));
}

/** A server that shares its engine with other processes once it is open. */
async function withGuests(server: Server, url: string, options: Options): Promise<RunningServer> {
  const engine = await server.ready;
  const host = await hostOf(engine, options);
  const endRest = releaseAtRest();
  return {
    url,
    stop: async () => {
      endRest();
      await host?.leave();
      await server.stop();
      // Pending work, such as waiting for a database, must not keep the process alive.
      setTimeout(() => process.exit(), LINGER_MS).unref();
    },
  };
}

/** Takes the address for serving the pack; undefined if it is taken or not available. */
async function hostOf(engine: MemoryEngine, options: Options): Promise<Host | undefined> {
  const { config, log } = options;
  const { mainFileOf } = await import("../app/pack-path.ts");
  const link = linkOf(mainFileOf(config), options);
  const joined = await joinBy(link, { userId: undefined, tools: "full" });
  if (joined.role === "guest") joined.backend.input.destroy();
  if (joined.role === "alone") log("info", `the pack is not shared: ${joined.reason}`);
  if (joined.role !== "host") return undefined;
  const { hostGuests } = await import("../surface/mcp/link/host.ts");
  const deps = { engine: () => Promise.resolve(engine), version: VERSION, log };
  return hostGuests({
    seat: joined.seat,
    kin: link.kin,
    log,
    serve: (guest, socket) => {
      // Loaded here, because a server without guests does not need it.
      const serving = import("../surface/mcp/stdio.ts");
      return {
        ended: serving.then(
          ({ guestService }) => guestService(deps, hookOf(link))(guest, socket).ended,
        ),
      };
    },
  });
}
