import { refuse } from "../listener/answers.ts";

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

/** The headers that let a page of this origin read an answer; empty if it may not. */
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
export function answerPreflight(cors: CorsSettings, request: Request): Response | undefined {
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

/** Puts `corsHeaders` into an answer; what it depends on by itself stays in `Vary`. */
export function addCorsHeaders(headers: Headers, cors: CorsSettings, origin: string | null): void {
  const { vary, ...rest } = corsHeaders(cors, origin);
  for (const [name, value] of Object.entries(rest)) headers.set(name, value);
  const known = headers.get("vary");
  if (vary === undefined || known === vary) return;
  headers.set("vary", known === null ? vary : `${known}, ${vary}`);
}
