import { type Context, Hono } from "hono";
import { getPath } from "hono/utils/url";
import type { KeptBlob } from "../../domain/node.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import { type Caller, optionalOwner } from "../contract/core/caller.ts";
import type { Examine } from "../contract/core/examination.ts";
import type { Log } from "../contract/core/log.ts";
import type { HttpBinding } from "../contract/core/operation.ts";
import { OPERATIONS } from "../contract/core/operations.ts";
import { OWNER_PARAMETER } from "../contract/core/request.ts";
import { healthOperation } from "../contract/service/operations.ts";
import { answerJson, refuse } from "../listener/answers.ts";
import {
  type Authenticate,
  type AuthSettings,
  createAuthenticate,
  hasCredentials,
} from "../listener/auth.ts";
import { type BodyLimits, createBodyLimits, withJsonBody } from "../listener/body.ts";
import type { BodyTimes } from "../listener/body-clock.ts";
import { answerMcp, MCP_PATH, MCP_PATHS, type McpEndpoint } from "../listener/mcp-endpoint.ts";
import { createOriginCheck, type OriginRules, refuseUnreadable } from "../listener/origin-check.ts";
import { accessLog, answerFailure } from "./access-log.ts";
import type { AppEnv, HttpApp } from "./app-env.ts";
import { answerBlob } from "./blob-answer.ts";
import { addCorsHeaders, answerPreflight, type CorsSettings } from "./cors.ts";
import { addDocumentation, DOCUMENTATION_PATHS } from "./documentation.ts";
import { headLength } from "./head-length.ts";
import { addInspector, INSPECTOR_PATH } from "./inspector.ts";
import { addInspectorSession, type InspectorSession } from "./inspector-session.ts";
import { addMetrics, type MetricsAccess } from "./metrics-endpoint.ts";
import { readQuery } from "./query.ts";
import { addReadiness, READY_PATH } from "./readiness.ts";
import { answerUnmatched, pathsWithin } from "./unmatched.ts";

/** What tells everybody whether the server runs, and whether it can answer. */
const OPEN_PATHS: readonly (string | undefined)[] = [healthOperation.http?.path, READY_PATH];

export type HttpAppDeps = {
  /** Undefined while it is being opened. */
  readonly engine: () => MemoryEngine | undefined;
  readonly version: string;
  readonly auth: AuthSettings;
  readonly cors: CorsSettings;
  /** Answers MCP. Default: nothing does. */
  readonly mcp?: McpEndpoint | undefined;
  /** Names of the server in addition to the loopback ones. Default: none. */
  readonly allowedHosts?: OriginRules["allowedHosts"] | undefined;
  /** Whether everybody may call it without a key, including web pages. Default false. */
  readonly allowsUnauthenticated?: boolean | undefined;
  /** How long a caller may take to send a body. Default: 60 s, checked every 5 s. */
  readonly bodyTimes?: Partial<BodyTimes> | undefined;
  /** The only way in, by a link that opens it once; then `auth` counts for nothing. Default: the keys of `auth`. */
  readonly session?: InspectorSession | undefined;
  /** Whether the inspector's page is served. Default false. */
  readonly inspector?: boolean | undefined;
  /** Answers what is wrong with the pack. Default: nobody does. */
  readonly examine?: Examine | undefined;
  /** Counts requests and answers `/metrics`. Default: that path does not exist. */
  readonly metrics?: MetricsAccess | undefined;
  readonly log: Log;
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
    // By another method, a path that is written out is not a parameter of this one.
    for (const path of pathsWithin(binding.path)) app.all(path, answerUnmatched);
    const route: Route = { binding, deps, authenticate, bodies };
    app.on(binding.method, honoPath(binding.path), (context) => answerRoute(route, context));
  }
  addReadiness(app, deps.engine);
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

/**
 * If callers send keys, or the operator explicitly waived them, they are served under any name, and the browser keeps the answer
 * from foreign pages. Health and readiness disclose nothing secret. MCP requires its own check of pages. What one link opens is for the page
 * of this server alone: pages of other programs of this machine are foreign.
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

/** Whether a path is a page without memories, which links of other sites may open. */
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
  { binding, deps }: Route,
  context: Context<AppEnv>,
  caller: Caller,
  body: unknown,
): Promise<Response> {
  const request = context.req.raw;
  // Who asks whether it runs may make each address another one.
  const asked = readQuery(binding.isPublic ? "" : request.url);
  const call = binding.prepare({
    params: context.req.param(),
    ...asked,
    idempotencyKey: request.headers.get("idempotency-key") ?? undefined,
    body,
  });
  context.env?.turn?.(request, "server");
  const engine = deps.engine();
  const answer = await call({
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
    // A getter, because it costs as much as the rest of a small request; only long work needs it.
    get signal() {
      return request.signal;
    },
  });
  // SAFETY: what answers with bytes answers with a blob.
  if (binding.response.shape.kind === "bytes")
    return answerBlob(answer as KeptBlob, request.headers);
  return answerJson(answer);
}

/** The program that calls: what it calls itself, else the first word of its `User-Agent`. */
function clientOf(headers: Headers): string | undefined {
  return headers.get("svc-client") ?? headers.get("user-agent")?.trim().split(/\s/, 1)[0];
}

/** The listener gives a request without a readable `Host` only a path, not a full address. */
function pathOf(request: Request): string {
  return request.url.startsWith("/") ? request.url.replace(/[?#].*$/s, "") : getPath(request);
}

/** The key of a blob may have slashes in it, as they are or encoded. */
function honoPath(path: string): string {
  return path.replace(/\{(\w+_key)\}$/, ":$1{[\\s\\S]+}").replaceAll(/\{(\w+)\}/g, ":$1");
}
