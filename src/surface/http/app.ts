import { type Context, Hono, type MiddlewareHandler } from "hono";
import { getPath } from "hono/utils/url";
import { reasonCode } from "../../domain/errors.ts";
import type { KeptBlob } from "../../domain/node.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import { feedOperation } from "../contract/browse.ts";
import { type Caller, optionalOwner } from "../contract/core/caller.ts";
import type { Examine } from "../contract/core/examination.ts";
import type { Log } from "../contract/core/log.ts";
import type { CallContext, HttpBinding } from "../contract/core/operation.ts";
import { OPERATIONS } from "../contract/core/operations.ts";
import { type HttpParts, OWNER_PARAMETER } from "../contract/core/request.ts";
import { healthOperation } from "../contract/service.ts";
import { answerJson, refuse, refuseMethod } from "../listener/answers.ts";
import {
  type Authenticate,
  type AuthSettings,
  createAuthenticate,
  hasCredentials,
} from "../listener/auth.ts";
import {
  type BodyLimits,
  type BodyTimes,
  createBodyLimits,
  withJsonBody,
} from "../listener/body.ts";
import { answerMcp, MCP_PATH, MCP_PATHS, type McpEndpoint } from "../listener/mcp-endpoint.ts";
import { createOriginCheck, type OriginRules, refuseUnreadable } from "../listener/origin-check.ts";
import { accessLog, answerFailure } from "./access-log.ts";
import type { AppEnv, HttpApp } from "./app-env.ts";
import { answerBlob } from "./blob-answer.ts";
import { answerStream, type FeedPage, wantsStream } from "./change-stream.ts";
import { addDocumentation, DOCUMENTATION_PATHS } from "./documentation.ts";
import {
  addInspector,
  addInspectorSession,
  INSPECTOR_PATH,
  type InspectorSession,
} from "./inspector.ts";
import { addMetrics, type MetricsAccess } from "./metrics-endpoint.ts";

/** The readiness path for load balancers. */
const READY_PATH = "/v1/ready";
/** Public health and readiness: whether the server runs, and whether it can answer. */
const OPEN_PATHS: readonly (string | undefined)[] = [healthOperation.http?.path, READY_PATH];

export type HttpAppDeps = {
  /** Undefined while it is being opened. */
  readonly engine: () => MemoryEngine | undefined;
  readonly version: string;
  readonly auth: AuthSettings;
  readonly cors: CorsSettings;
  /** Answers MCP. Default: off. */
  readonly mcp?: McpEndpoint | undefined;
  /** Names of the server in addition to the loopback ones. Default: none. */
  readonly allowedHosts?: OriginRules["allowedHosts"] | undefined;
  /** Whether anyone may call it without a key, including web pages. Default false. */
  readonly allowsUnauthenticated?: boolean | undefined;
  /** How long a caller may take to send a body. Default: 60 s, checked every 5 s. */
  readonly bodyTimes?: Partial<BodyTimes> | undefined;
  /** One-time links as the only way in; then `auth` is ignored. Default: the keys of `auth`. */
  readonly session?: InspectorSession | undefined;
  /** Whether the inspector's page is served. Default false. */
  readonly inspector?: boolean | undefined;
  /** Examines the pack. Default: off. */
  readonly examine?: Examine | undefined;
  /** Counts requests and answers `/metrics`. Default: that path does not exist. */
  readonly metrics?: MetricsAccess | undefined;
  readonly log: Log;
  /** Ends answers that would stay open indefinitely. Default: never. */
  readonly closing?: AbortSignal | undefined;
};

/** From a request to its answer. */
type Route = {
  readonly binding: HttpBinding;
  readonly deps: HttpAppDeps;
  readonly authenticate: Authenticate;
  readonly bodies: BodyLimits;
};

/**
 * The HTTP interface as a fetch function. Every failure is `{detail, code}`. A request is checked in this order: `Host` and
 * `Origin`, the route, the key, the body, its values.
 * @throws SvcError invalid_config for unusable keys
 */
export function createHttpApp(deps: HttpAppDeps): HttpApp {
  const app: HttpApp = new Hono<AppEnv>({ getPath: pathOf });
  const authenticate = deps.session?.authenticate ?? createAuthenticate(deps.auth);
  const bodies = createBodyLimits(deps.bodyTimes ?? {});
  app.use(headLength());
  app.use(accessLog(deps.log, deps.metrics?.metrics));
  addOriginCheck(app, deps);
  if (deps.session !== undefined) addInspectorSession(app, deps.session, bodies);
  for (const { http: binding } of OPERATIONS) {
    if (binding === undefined) continue;
    // Called with another method, a literal path is not a parameter of this one.
    for (const path of pathsWithin(binding.path)) app.all(path, answerUnmatched);
    const route: Route = { binding, deps, authenticate, bodies };
    app.on(binding.method, honoPath(binding.path), (context) => answerRoute(route, context));
  }
  addReadiness(app, deps.engine, deps.log);
  addMcp(app, deps.mcp, authenticate);
  if (deps.metrics !== undefined) {
    const isKeyed = deps.session !== undefined || hasCredentials(deps.auth);
    addMetrics(app, deps.metrics, isKeyed ? authenticate : undefined, deps.engine);
  }
  addDocumentation(app, deps.version);
  if (deps.inspector === true) addInspector(app);
  app.notFound(answerUnmatched);
  app.onError((error, context) => answerFailure(deps.log, error, context));
  return app;
}

/** Milliseconds for which a result is cached: anyone may ask, and not every request should reach the database. */
const KEPT_MS = 500;

/** Reports without a key whether queries can be answered. @param engine undefined while it is being opened */
function addReadiness(app: HttpApp, engine: () => MemoryEngine | undefined, log: Log): void {
  let kept: { readonly at: number; readonly isReady: Promise<boolean> } | undefined;
  let wasReady = true;
  const isReady = async (): Promise<boolean> => {
    const opened = engine();
    // The reason is in the answers of other calls; anyone may ask here.
    const reason = await opened?.ready().then(() => undefined, reasonCode);
    const isReady = opened !== undefined && reason === undefined;
    if (opened !== undefined && isReady !== wasReady) {
      log("warn", isReady ? "the memory answers again" : `the memory cannot answer (${reason})`);
      wasReady = isReady;
    }
    return isReady;
  };
  app.get(READY_PATH, async (context) => {
    context.set("route", READY_PATH);
    const now = performance.now();
    if (kept === undefined || now - kept.at > KEPT_MS) kept = { at: now, isReady: isReady() };
    if (await kept.isReady) return answerJson({ status: "ready" });
    return refuse(503, "not_ready", "The memory cannot answer", { "retry-after": "1" });
  });
  app.all(READY_PATH, (context) => {
    context.set("route", READY_PATH);
    return refuseMethod("GET, HEAD");
  });
}

/**
 * With keys, or an explicit waiver by the operator, callers are served under any name, and the browser hides answers from foreign pages.
 * Health and readiness reveal nothing secret. MCP requires its own origin check. A one-time link opens only this server's page: pages of
 * other local programs are foreign.
 */
function addOriginCheck(app: HttpApp, deps: HttpAppDeps): void {
  const { auth, cors, allowedHosts = [], allowsUnauthenticated = false } = deps;
  const isExact = deps.session !== undefined;
  const rules = { allowedHosts, corsOrigins: cors.origins, isExact, isConfigurable: !isExact };
  const check = createOriginCheck(rules);
  const isGuarded = isExact || (!hasCredentials(auth) && !allowsUnauthenticated);
  app.use(async (context, next) => {
    const request = context.req.raw;
    const { path } = context.req;
    const isOpen = OPEN_PATHS.includes(path);
    const isChecked = isGuarded && !isOpen;
    const refusal =
      (isOpen ? undefined : refuseUnreadable(request)) ??
      (isChecked ? check.host(request) : undefined) ??
      answerPreflight(cors, request) ??
      (isChecked || MCP_PATHS.includes(path) ? check.origin(request, isPage(path)) : undefined);
    if (refusal === undefined) await next();
    else context.res = refusal;
    if (cors.origins.length === 0) return;
    addCorsHeaders(context.res.headers, cors, request.headers.get("origin"));
  });
}

/** Whether a path is a page without memories, which other sites may link to. */
function isPage(path: string): boolean {
  return DOCUMENTATION_PATHS.some((page) => page === path) || `${path}/`.startsWith(INSPECTOR_PATH);
}

/** The same keys and names as for all routes; the protocol itself handles methods and bodies. */
function addMcp(app: HttpApp, mcp: McpEndpoint | undefined, authenticate: Authenticate): void {
  if (mcp === undefined) return;
  for (const path of MCP_PATHS) {
    app.all(path, (context) => {
      context.set("route", MCP_PATH);
      return answerMcp(mcp, authenticate, context.req.raw, context.env?.turn ?? (() => {}));
    });
  }
}

async function answerRoute(route: Route, context: Context<AppEnv>): Promise<Response> {
  const { binding, deps, authenticate, bodies } = route;
  const request = context.req.raw;
  context.set("route", binding.path);
  const caller = binding.isPublic
    ? { boundUserId: undefined }
    : authenticate(request.headers.get("authorization") ?? undefined);
  if (!binding.isPublic && deps.engine() === undefined)
    return refuse(503, "not_ready", "Engine not initialized");
  if (binding.request.body === undefined)
    return await answerCall(route, context, caller, undefined);
  const options = {
    ...bodies,
    isOptional: binding.bodyIsOptional === true,
    owner: caller.boundUserId,
    turn: (of: "server" | "caller") => context.env?.turn?.(request, of),
  };
  return await withJsonBody(request, options, (body) => answerCall(route, context, caller, body));
}

async function answerCall(
  { binding, deps, authenticate }: Route,
  context: Context<AppEnv>,
  caller: Caller,
  body: unknown,
): Promise<Response> {
  const request = context.req.raw;
  // Health checks may use a different address each time.
  const asked = readQuery(binding.isPublic ? "" : request.url);
  const parts: HttpParts = {
    params: context.req.param(),
    ...asked,
    idempotencyKey: request.headers.get("idempotency-key") ?? undefined,
    body,
  };
  const isStream = binding === feedOperation.http && wantsStream(request);
  const since = isStream ? request.headers.get("last-event-id") || undefined : undefined;
  const call = binding.prepare(since === undefined ? parts : partsSince(parts, since));
  const beginTurn = (): void => context.env?.turn?.(request, "server");
  if (binding.takesFile !== true) beginTurn();
  const engine = deps.engine();
  const callContext: CallContext = {
    engine: () => {
      if (engine === undefined) throw new Error("a public operation asked for the engine");
      return engine;
    },
    caller,
    userId: binding.takesOwner
      ? optionalOwner(caller, asked.query[OWNER_PARAMETER])
      : caller.boundUserId,
    operator: deps.session === undefined ? "api-operator" : "inspector",
    version: deps.version,
    client: clientOf(request.headers),
    examine: deps.examine,
    file: binding.takesFile === true ? arriving(request, beginTurn) : undefined,
    // A getter, because it costs as much as the rest of a small request; only long work needs it.
    get signal() {
      return request.signal;
    },
  };
  const answer = await call(callContext);
  if (isStream) {
    const pageAfter = async (cursor: string) => {
      // The key may have been revoked.
      authenticate(request.headers.get("authorization") ?? undefined);
      return await binding.prepare(partsSince(parts, cursor))(callContext);
    };
    const signal = AbortSignal.any([request.signal, ...(deps.closing ? [deps.closing] : [])]);
    // SAFETY: the form of the operation's answer.
    return answerStream(
      answer as FeedPage,
      pageAfter as (cursor: string) => Promise<FeedPage>,
      signal,
    );
  }
  // SAFETY: what answers with bytes answers with a blob.
  if (binding.response.shape.kind === "bytes")
    return answerBlob(answer as KeptBlob, request.headers);
  return answerJson(answer);
}

/** The body piece by piece; after the last one the caller waits for the server. */
async function* arriving({ body }: Request, beginTurn: () => void): AsyncGenerator<Uint8Array> {
  yield* body ?? [];
  beginTurn();
}

function partsSince(parts: HttpParts, since: string): HttpParts {
  return { ...parts, query: { ...parts.query, since } };
}

/** The calling program: its own name for itself, else the first word of its `User-Agent`. */
function clientOf(headers: Headers): string | undefined {
  return headers.get("svc-client") ?? headers.get("user-agent")?.trim().split(/\s/, 1)[0];
}

/** The listener gives a request without a readable `Host` only a path, not a full address. */
function pathOf(request: Request): string {
  return request.url.startsWith("/") ? request.url.replace(/[?#].*$/s, "") : getPath(request);
}

/** The key of a blob may contain slashes, plain or encoded. */
function honoPath(path: string): string {
  return path.replace(/\{(\w+_key)\}$/, ":$1{[\\s\\S]+}").replaceAll(/\{(\w+)\}/g, ":$1");
}

/**
 * Gives the answer to HEAD the length that GET's has. The router drops the body, and the socket would then send `Content-Length: 0`,
 * which is wrong (RFC 9110, 8.6).
 */
function headLength(): MiddlewareHandler<AppEnv> {
  return async (context, next) => {
    await next();
    // An answer without a body has its right length, or, as 304, none.
    if (context.req.method !== "HEAD" || context.res.body === null) return;
    const { byteLength } = await context.res.clone().arrayBuffer();
    context.res.headers.set("content-length", String(byteLength));
  };
}

/** The query of a URL: all values of each parameter, and the last value of each. Linear in its length. */
function readQuery(url: string): Pick<HttpParts, "query" | "queryLists"> {
  const at = url.indexOf("?");
  if (at < 0) return { query: {}, queryLists: {} };
  const query = new Map<string, string>();
  const lists = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(url.slice(at))) {
    query.set(name, value);
    const list = lists.get(name);
    if (list === undefined) lists.set(name, [value]);
    else list.push(value);
  }
  return { query: Object.fromEntries(query), queryLists: Object.fromEntries(lists) };
}

type KnownPath = { readonly path: string; readonly pattern: RegExp; readonly method: string };

const KNOWN_PATHS: readonly KnownPath[] = [
  ...OPERATIONS.flatMap(({ http }) => http ?? []),
  ...DOCUMENTATION_PATHS.map((path) => ({ path, method: "get" })),
].map(({ path, method }) => ({
  path,
  pattern: new RegExp(
    `^${path
      .replaceAll(".", "\\.")
      .replace(/\{\w+_key\}$/, ".+")
      .replaceAll(/\{\w+\}/g, "[^/]+")}$`,
  ),
  method: method.toUpperCase(),
}));

/** The literal paths that a path with parameters also matches; their operations come first in the table. */
function pathsWithin(path: string): readonly string[] {
  const pattern = KNOWN_PATHS.find((known) => known.path === path)?.pattern;
  const paths = new Set(KNOWN_PATHS.map((known) => known.path));
  return [...paths].filter(
    (other) => other !== path && !other.includes("{") && pattern?.test(other) === true,
  );
}

/** A path with a redundant slash is redirected, a known path has other methods, and anything else does not exist. */
function answerUnmatched(context: Context<AppEnv>): Response {
  const url = new URL(context.req.raw.url);
  const known = knownAt(url.pathname);
  if (known[0] !== undefined) {
    context.set("route", known[0].path);
    return refuseMethod(methodsOf(known).join(", "));
  }
  const trimmed = url.pathname.replace(/\/+$/, "");
  const [meant] = trimmed === url.pathname ? [] : knownAt(trimmed);
  if (meant !== undefined) {
    context.set("route", meant.path);
    return new Response(null, { status: 307, headers: { location: `${trimmed}${url.search}` } });
  }
  return refuse(404, "route_not_found", "Not Found");
}

/** A literal path is not a parameter value of another. */
function knownAt(path: string): readonly KnownPath[] {
  const written = KNOWN_PATHS.filter((known) => known.path === path);
  return written.length > 0 ? written : KNOWN_PATHS.filter(({ pattern }) => pattern.test(path));
}

/** Every GET route also answers HEAD. */
function methodsOf(known: readonly KnownPath[]): readonly string[] {
  const methods = known.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  return [...new Set(methods)];
}

/** The web pages that may call. No origins: none, and CORS headers are never sent. */
export type CorsSettings = {
  /** Exact origins such as `http://localhost:5173`, or `*`. */
  readonly origins: readonly string[];
  /** Ignored with `*`. */
  readonly allowCredentials: boolean;
};

const MAX_AGE_SECONDS = 600;

/** A warning about these settings for the operator. */
export function corsWarning(cors: CorsSettings): string | undefined {
  return cors.allowCredentials && cors.origins.includes("*")
    ? "api.cors_allow_credentials is ignored because api.cors_origins contains *"
    : undefined;
}

/** The headers that let a page of this origin read an answer; empty if not allowed. */
function corsHeaders(cors: CorsSettings, origin: string | null): Record<string, string> {
  if (cors.origins.length === 0) return {};
  if (cors.origins.includes("*")) return { "access-control-allow-origin": "*" };
  if (origin === null || !cors.origins.includes(origin)) return { vary: "Origin" };
  return {
    "access-control-allow-origin": origin,
    vary: "Origin",
    ...(cors.allowCredentials ? { "access-control-allow-credentials": "true" } : {}),
  };
}

/** Answers a browser's preflight; undefined if the request is not one or CORS is off. */
function answerPreflight(cors: CorsSettings, request: Request): Response | undefined {
  if (cors.origins.length === 0 || request.method !== "OPTIONS") return undefined;
  const origin = request.headers.get("origin");
  const method = request.headers.get("access-control-request-method");
  if (origin === null || method === null) return undefined;
  const headers = corsHeaders(cors, origin);
  if (headers["access-control-allow-origin"] === undefined) {
    return refuse(400, "foreign_origin", "Disallowed CORS origin", headers);
  }
  return new Response("OK", {
    status: 200,
    headers: {
      ...headers,
      "access-control-allow-methods": "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT",
      "access-control-allow-headers": request.headers.get("access-control-request-headers") ?? "*",
      "access-control-max-age": String(MAX_AGE_SECONDS),
    },
  });
}

/** Adds `corsHeaders` to an answer, keeping its own `Vary`. */
function addCorsHeaders(headers: Headers, cors: CorsSettings, origin: string | null): void {
  const { vary, ...rest } = corsHeaders(cors, origin);
  for (const [name, value] of Object.entries(rest)) headers.set(name, value);
  const known = headers.get("vary");
  if (vary === undefined || known === vary) return;
  headers.set("vary", known === null ? vary : `${known}, ${vary}`);
}
