import { refuse } from "../listener/answers.ts";
import { type AuthSettings, createAuthenticate } from "../listener/auth.ts";
import { answerMcp, MCP_PATH, MCP_PATHS } from "../listener/mcp-endpoint.ts";
import { createOriginCheck, refuseUnreadable } from "../listener/origin-check.ts";
import { type Server, type ServerDeps, type Service, startServer } from "../listener/server.ts";
import { createMcpEndpoint, type McpEndpointDeps } from "./http.ts";

/** This machine only: use `svc serve` to be reachable from elsewhere. */
const HOST = "127.0.0.1";

export type McpServerDeps = Omit<ServerDeps, "host"> &
  Omit<McpEndpointDeps, "engine"> & {
    /** Owner to key; a key binds its requests to its owner. */
    readonly userKeys: NonNullable<AuthSettings["userKeys"]>;
  };

/**
 * Serves only MCP, to the assistants of this machine that have a key.
 * @throws SvcError invalid_config, bind_failed; the engine is then never opened
 */
export function startMcpServer({ userKeys, ...deps }: McpServerDeps): Server {
  const authenticate = createAuthenticate({ userKeys, group: "mcp" });
  // Every caller has a key, so any `Host` will do. Refusing pages by their `Origin` is a rule of the protocol.
  const check = createOriginCheck({ allowedHosts: [], corsOrigins: [], isConfigurable: false });
  return startServer({ ...deps, host: HOST }, (opening): Service => {
    const endpoint = createMcpEndpoint({ ...deps, engine: () => opening });
    return {
      answer: async (request, turn) => {
        const refusal = refuseUnreadable(request) ?? check.origin(request);
        if (refusal !== undefined) return refusal;
        if (!MCP_PATHS.includes(new URL(request.url).pathname))
          return refuse(404, "route_not_found", `Not Found: MCP is at ${MCP_PATH}`);
        return await answerMcp(endpoint, authenticate, request, turn);
      },
      endStreams: () => endpoint.endStreams(),
    };
  });
}
