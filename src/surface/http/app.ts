import { type Context, Hono, type Next } from "hono";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import type { Log } from "../contract/log.ts";
import type { HttpBinding, HttpParts, Operation } from "../contract/operation.ts";
import { OPERATIONS } from "../contract/operations.ts";
import { type AuthSettings, createAuthenticate } from "./auth.ts";
import { readJsonBody } from "./body.ts";
import { answerPreflight, type CorsSettings, corsHeaders } from "./cors.ts";
import { toErrorResponse } from "./error-response.ts";

export type HttpAppDeps = {
  /** Undefined while it is being opened. */
  readonly engine: () => MemoryEngine | undefined;
  readonly version: string;
  readonly auth: AuthSettings;
  readonly cors: CorsSettings;
  readonly log: Log;
};

/** What the server passes beside the request. */
export type AppBindings = {
  /** Called once the body was read: from then on the caller waits for us. */
  readonly onBodyRead?: (request: Request) => void;
};
export type HttpApp = Hono<{ Bindings: AppBindings }>;

/**
 * The HTTP interface as a fetch function. Every failure is `{detail: text}`.
 * @throws SvcError invalid_config for unusable keys
 */
export function createHttpApp(deps: HttpAppDeps): HttpApp {
  const app: HttpApp = new Hono<{ Bindings: AppBindings }>();
  const authenticate = createAuthenticate(deps.auth);
  addAccessLog(app, deps);
  for (const operation of OPERATIONS) {
    if (operation.http !== undefined) addRoute(app, operation.http, deps, authenticate);
  }
  addDocumentation(app, deps.version);
  app.notFound((context) => answerUnmatched(context.req.raw));
  app.onError((error) => toErrorResponse(error, deps.log));
  return app;
}

function addAccessLog(app: HttpApp, { cors, log }: HttpAppDeps): void {
  app.use(async (context, next) => {
    const started = performance.now();
    if (cors.origins.length === 0) await next();
    else await answerAcrossOrigins(cors, context, next);
    log("info", "request", {
      method: context.req.method,
      path: context.req.path.slice(0, 200),
      status: context.res.status,
      ms: Math.round((performance.now() - started) * 10) / 10,
    });
  });
}

async function answerAcrossOrigins(
  cors: CorsSettings,
  context: Context,
  next: Next,
): Promise<void> {
  const preflight = answerPreflight(cors, context.req.raw);
  if (preflight === undefined) await next();
  else context.res = preflight;
  const extra = corsHeaders(cors, context.req.raw.headers.get("origin"));
  for (const [name, value] of Object.entries(extra)) context.res.headers.set(name, value);
}

function addRoute(
  app: HttpApp,
  binding: HttpBinding,
  deps: HttpAppDeps,
  authenticate: ReturnType<typeof createAuthenticate>,
): void {
  app.on(binding.method, honoPath(binding.path), async (context) => {
    const request = context.req.raw;
    const caller = binding.isPublic
      ? { boundUserId: undefined }
      : authenticate(request.headers.get("authorization") ?? undefined);
    if (!binding.isPublic && deps.engine() === undefined) return notInitialized();
    const parts: HttpParts = {
      params: context.req.param(),
      ...readQuery(request.url),
      idempotencyKey: request.headers.get("idempotency-key") ?? undefined,
      body: await readBody(binding, request),
    };
    const call = binding.prepare(parts);
    context.env?.onBodyRead?.(request);
    const engine = deps.engine();
    const answer = await call({
      engine: () => {
        if (engine === undefined) throw new Error("a public operation asked for the engine");
        return engine;
      },
      caller,
      operator: "api-operator",
      version: deps.version,
      // Costs as much as the rest of a small request; only long work asks for it.
      get signal() {
        return request.signal;
      },
    });
    return Response.json(answer);
  });
}

/** Loaded on first use: serving memories needs neither the document nor the page. */
function addDocumentation(app: HttpApp, version: string): void {
  let document: Promise<object> | undefined;
  app.get("/openapi.json", async () => {
    document ??= import("./openapi.ts").then((module) => module.buildOpenApi(version));
    return Response.json(await document);
  });
  app.get("/docs", async () => {
    const { DOCS_PAGE, DOCS_POLICY } = await import("./docs-page.ts");
    return new Response(DOCS_PAGE, {
      headers: {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": DOCS_POLICY,
      },
    });
  });
}

const KNOWN_PATHS: readonly { readonly pattern: RegExp; readonly method: string }[] = [
  ...OPERATIONS.flatMap((operation: Operation) => operation.http ?? []).map((binding) => ({
    pattern: new RegExp(`^${binding.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
    method: binding.method.toUpperCase(),
  })),
  { pattern: /^\/openapi\.json$/, method: "GET" },
  { pattern: /^\/docs$/, method: "GET" },
];

/** A path with a slash too many is redirected, a known path has another method, and the rest does not exist. */
function answerUnmatched(request: Request): Response {
  const url = new URL(request.url);
  const methods = methodsOf(url.pathname);
  if (methods.length > 0) {
    const allow = methods.join(", ");
    return Response.json({ detail: "Method Not Allowed" }, { status: 405, headers: { allow } });
  }
  const trimmed = url.pathname.replace(/\/+$/, "");
  if (trimmed !== url.pathname && methodsOf(trimmed).length > 0) {
    return new Response(null, { status: 307, headers: { location: `${trimmed}${url.search}` } });
  }
  return Response.json({ detail: "Not Found" }, { status: 404 });
}

function methodsOf(path: string): string[] {
  return KNOWN_PATHS.filter((known) => known.pattern.test(path)).map((known) => known.method);
}

function notInitialized(): Response {
  return Response.json({ detail: "Engine not initialized" }, { status: 503 });
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

async function readBody({ request: shape }: HttpBinding, request: Request): Promise<unknown> {
  if (shape.body === undefined) return undefined;
  if (shape.bodyIsOptional === true && request.body === null) return {};
  const body = await readJsonBody(request);
  return shape.bodyIsOptional === true ? (body ?? {}) : body;
}

function readQuery(url: string): Pick<HttpParts, "query" | "queryLists"> {
  const at = url.indexOf("?");
  if (at < 0) return { query: {}, queryLists: {} };
  const parameters = new URLSearchParams(url.slice(at));
  const lists = [...new Set(parameters.keys())].map(
    (name) => [name, parameters.getAll(name)] as const,
  );
  return { query: Object.fromEntries(parameters), queryLists: Object.fromEntries(lists) };
}
