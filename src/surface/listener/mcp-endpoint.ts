import { SvcError } from "../../domain/errors.ts";
import type { Caller } from "../contract/core/caller.ts";
import { answerJson } from "./answers.ts";
import type { Authenticate } from "./auth.ts";
import type { Turn } from "./door.ts";

export const MCP_PATH = "/mcp";
/** The same path with a trailing slash, which some clients append. They would not follow a redirect with their key. */
export const MCP_PATHS: readonly string[] = [MCP_PATH, `${MCP_PATH}/`];

/** MCP over HTTP, behind the checks of its server. */
export type McpEndpoint = {
  /** Answers a request of a known caller; errors are reported in the answer. */
  answer(request: Request, caller: Caller, turn: Turn): Promise<Response>;
  /** Ends streams that would stay open indefinitely; other requests continue. */
  endStreams(): Promise<void>;
};

/** An endpoint that costs nothing before its first request. */
export function lazyMcpEndpoint(load: () => Promise<McpEndpoint>): McpEndpoint {
  let loading: Promise<McpEndpoint> | undefined;
  return {
    answer: async (request, caller, turn) => {
      loading ??= load();
      return await (await loading).answer(request, caller, turn);
    },
    endStreams: async () => {
      await (await loading)?.endStreams();
    },
  };
}

/** Answers a request that has a valid key, and otherwise rejects it in the protocol's own form. */
export async function answerMcp(
  endpoint: McpEndpoint,
  authenticate: Authenticate,
  request: Request,
  turn: Turn,
): Promise<Response> {
  let caller: Caller;
  try {
    caller = authenticate(request.headers.get("authorization") ?? undefined);
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== "unauthenticated") throw error;
    return refuseToken();
  }
  return await endpoint.answer(request, caller, turn);
}

/** RFC 6750, section 3: the challenge names the error; the body repeats it for clients that do not read headers. */
function refuseToken(): Response {
  const description = "The bearer key is missing or not known";
  return answerJson({ error: "invalid_token", error_description: description }, 401, {
    "www-authenticate": `Bearer error="invalid_token", error_description="${description}"`,
  });
}
