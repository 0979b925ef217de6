import {
  createMcpHandler,
  isLegacyRequest,
  type McpRequestContext,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { SvcError } from "../../domain/errors.ts";
import type { Caller } from "../contract/core/caller.ts";
import { describeCause } from "../contract/core/log.ts";
import { answerJson, NO_FRAME, refuse } from "../listener/answers.ts";
import { type AuthSettings, createAuthenticate } from "../listener/auth.ts";
import {
  type BodyLimits,
  type BodyTimes,
  createBodyLimits,
  withJsonBody,
} from "../listener/body.ts";
import type { Turn } from "../listener/door.ts";
import { answerMcp, MCP_PATH, MCP_PATHS, type McpEndpoint } from "../listener/mcp-endpoint.ts";
import { createOriginCheck, refuseUnreadable } from "../listener/origin-check.ts";
import { type Server, type ServerDeps, type Service, startServer } from "../listener/server.ts";
import { asMeant, createMcpServer, openMcpServer } from "./server.ts";
import type { McpDeps } from "./tools.ts";

/** Open `subscriptions/listen` streams over all clients. */
const MAX_STREAMS = 100;
/** Status of an answer whose reader has gone. */
const CLIENT_GONE = 499;

/** Codes of JSON-RPC 2.0, section 5.1; `transport` is the first of those that servers may define. */
const CODE = {
  parseError: -32_700,
  internalError: -32_603,
  invalidRequest: -32_600,
  transport: -32_000,
} as const;

export type McpEndpointDeps = Omit<McpDeps, "boundUserId" | "hidesPlace"> & {
  /** How long a client may take to send a message. Default: 60 s, checked every 5 s. */
  readonly bodyTimes?: Partial<BodyTimes> | undefined;
};

type Exchange = {
  readonly request: Request;
  readonly message: Readonly<Record<string, unknown>>;
  /** A separate server: no request sees another's state. */
  readonly open: () => Promise<McpServer>;
};

/**
 * MCP over streamable HTTP: every request is independent, without sessions, one message in, one JSON answer out. Requests of revision
 * 2026-07-28 declare it; all others are served as earlier revisions.
 */
export function createMcpEndpoint(deps: McpEndpointDeps): McpEndpoint {
  const { log, bodyTimes = {}, ...served } = deps;
  const limits = createBodyLimits(bodyTimes);
  const openers = new WeakMap<Request, () => Promise<McpServer>>();
  const factory = ({ requestInfo }: McpRequestContext): Promise<McpServer> => {
    const open = requestInfo && openers.get(requestInfo);
    if (open === undefined) throw new Error("a request came past its endpoint");
    return open();
  };
  const options = {
    legacy: "reject",
    maxSubscriptions: MAX_STREAMS,
    onerror: (error: Error) => log("info", `protocol: ${onOneLine(error.message)}`),
  } as const;
  const calls = createMcpHandler(factory, options);
  // Separate, so that it can be closed while calls are still being answered.
  const streams = createMcpHandler(factory, options);
  let hasStreams = true;

  const route = async ({ request, message, open }: Exchange): Promise<Response> => {
    if (await isLegacyRequest(request, message))
      return await answerLegacy(request, message, await open());
    openers.set(request, open);
    if (message["method"] !== "subscriptions/listen") {
      return await calls.fetch(request, { parsedBody: message });
    }
    if (!accepts(request, STREAM_TYPE)) return notAcceptable(STREAM_TYPE);
    if (!hasStreams) return refuseCall(503, CODE.transport, "The server is shutting down");
    return await streams.fetch(request, { parsedBody: message });
  };
  const answerBody = async (request: Request, body: unknown, caller: Caller): Promise<Response> => {
    const message = asMessage(asMeant(body));
    if (message === undefined) return refuseCall(400, CODE.invalidRequest, complaintAbout(body));
    const toolSet = toolSetOf(request) ?? served.toolSet;
    const { boundUserId } = caller;
    const made = { ...served, log, boundUserId, toolSet, hidesPlace: true };
    const open = async (): Promise<McpServer> =>
      HANDSHAKES.has(message["method"]) ? openMcpServer(made) : createMcpServer(made);
    try {
      return sealed(await untilGone(route({ request, message, open }), request.signal));
    } catch (error) {
      log("error", `unexpected failure: ${describeCause(error)}`);
      return refuseCall(500, CODE.internalError, "Internal server error");
    }
  };
  return {
    answer: async (request, caller, turn) => {
      const refusal = refusalOf(request);
      if (refusal !== undefined) return refusal;
      const owner = caller.boundUserId;
      return await withMessage(request, { ...limits, owner }, turn, (body) =>
        answerBody(request, body, caller),
      );
    },
    endStreams: async () => {
      hasStreams = false;
      await streams.close();
    },
  };
}

/** Messages whose answer has the instructions of the server. */
const HANDSHAKES: ReadonlySet<unknown> = new Set(["initialize", "server/discover"]);

/** The tools that a client requests with `?tools=core` or `?tools=full`; undefined: the default set. */
function toolSetOf(request: Request): McpDeps["toolSet"] {
  const wanted = new URL(request.url).searchParams.get("tools");
  return wanted === "core" || wanted === "full" ? wanted : undefined;
}

/** Text that may quote a client, made safe for a log. */
function onOneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ").slice(0, 200);
}

/** Rejects a request before its body is read. */
function refusalOf(request: Request): Response | undefined {
  if (request.method !== "POST") {
    // Without sessions there is nothing to listen to (GET) and nothing to end (DELETE).
    return refuseCall(405, CODE.transport, "Method not allowed: send one message with POST", {
      allow: "POST",
    });
  }
  return accepts(request, JSON_TYPE) ? undefined : notAcceptable(JSON_TYPE);
}

async function withMessage(
  request: Request,
  limits: BodyLimits & { readonly owner: string | undefined },
  turn: Turn,
  answer: (body: unknown) => Promise<Response>,
): Promise<Response> {
  const options = {
    ...limits,
    isOptional: false,
    turn: (of: "server" | "caller") => turn(request, of),
  };
  let isRead = false;
  try {
    return await withJsonBody(request, options, (body) => {
      isRead = true;
      turn(request, "server");
      return answer(body);
    });
  } catch (error) {
    if (isRead || !(error instanceof SvcError)) throw error;
    const code = error.data["field"] === "body" ? CODE.parseError : CODE.transport;
    return refuseCall(error.code === "too_large" ? 413 : 400, code, error.message);
  }
}

function asMessage(body: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof body === "object" && body !== null && !Array.isArray(body)
    ? { ...body }
    : undefined;
}

function complaintAbout(body: unknown): string {
  return Array.isArray(body)
    ? "Batches are not taken: send one message a request"
    : "The body is not a JSON-RPC message: send an object";
}

/** Serves a revision before 2026-07-28. Its transport requires clients to accept streams, but is configured to create none. */
async function answerLegacy(
  request: Request,
  message: object,
  server: McpServer,
): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  const headers = new Headers(request.headers);
  headers.set("accept", `${JSON_TYPE}, ${STREAM_TYPE}`);
  const end = (): void => {
    server.close().catch(() => undefined);
  };
  if (request.signal.aborted) end();
  request.signal.addEventListener("abort", end, { once: true });
  try {
    const plain = new Request(request.url, { method: "POST", headers });
    return await transport.handleRequest(plain, { parsedBody: message });
  } finally {
    request.signal.removeEventListener("abort", end);
    end();
  }
}

/** A client that hangs up gets no answer, and its work may never finish. */
async function untilGone(answer: Promise<Response>, signal: AbortSignal): Promise<Response> {
  const gone = Promise.withResolvers<Response>();
  const leave = (): void => gone.resolve(new Response(null, { status: CLIENT_GONE }));
  if (signal.aborted) leave();
  signal.addEventListener("abort", leave, { once: true });
  try {
    return await Promise.race([answer, gone.promise]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

/** An answer may contain memories: no cache keeps it, and no browser interprets it as anything else. */
function sealed(answer: Response): Response {
  answer.headers.set("cache-control", "no-store");
  answer.headers.set("x-content-type-options", "nosniff");
  answer.headers.set("content-security-policy", NO_FRAME);
  return answer;
}

function notAcceptable(type: string): Response {
  return refuseCall(
    406,
    CODE.transport,
    `Not acceptable: the answer is ${type}; name it in Accept`,
  );
}

/** A rejection without a request to refer to. */
function refuseCall(
  status: number,
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return answerJson({ jsonrpc: "2.0", error: { code, message }, id: null }, status, headers);
}

const JSON_TYPE = "application/json";
const STREAM_TYPE = "text/event-stream";

/** Whether a request accepts an answer of this type (RFC 9110, section 12.5.1). Without `Accept` it accepts any. */
function accepts({ headers }: Request, type: string): boolean {
  const accept = headers.get("accept");
  if (accept === null || accept.trim() === "") return true;
  const ranges = [type, type.replace(/\/.*/, "/*"), "*/*"];
  return accept.split(",").some((text) => {
    const [range = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
    return ranges.includes(range) && !parameters.some((part) => /^q=0(?:\.0*)?$/.test(part));
  });
}

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
  // Every caller has a key, so any `Host` is accepted. The protocol requires rejecting foreign `Origin`s.
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
