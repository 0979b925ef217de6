import type { Context, MiddlewareHandler } from "hono";
import { describeCause, type Log } from "../contract/core/log.ts";
import type { AppEnv } from "./app-env.ts";
import { toErrorResponse } from "./error-response.ts";
import type { Metrics } from "./metrics-endpoint.ts";
import { parseTraceparent } from "./trace-context.ts";

/** In place of the route, where there is none. */
export const UNMATCHED = "unmatched";
/** Logged status if the caller hung up before the answer. */
const CALLER_GONE = 499;

/**
 * One line per request: method, the route with its `{name}`s, status, milliseconds, and the caller's trace. Never the path
 * itself, a query, a header or a body: identifiers and names of owners are private too.
 */
export function accessLog(log: Log, metrics?: Metrics): MiddlewareHandler<AppEnv> {
  return async (context, next) => {
    const started = performance.now();
    const end = metrics?.begin();
    await next();
    const answered = {
      method: context.req.method,
      route: context.get("route") ?? UNMATCHED,
      status: context.res.status,
    };
    const ms = performance.now() - started;
    end?.({ ...answered, seconds: ms / 1000 });
    log(answered.status >= 500 ? "warn" : "info", "request", {
      ...answered,
      ms: Math.round(ms * 10) / 10,
      ...traceFields(context.req.raw),
    });
  };
}

/** The answer to a failed request. If the caller hung up, nothing is wrong here; any other unexpected failure is logged. */
export function answerFailure(log: Log, error: Error, context: Context<AppEnv>): Response {
  const request = context.req.raw;
  if (error.name === "AbortError" && request.signal.aborted) {
    return new Response(null, { status: CALLER_GONE });
  }
  return toErrorResponse(error, (cause) => {
    log("error", `unexpected failure: ${describeCause(cause)}`, traceFields(request));
  });
}

function traceFields({ headers }: Request): Record<string, string> {
  const trace = parseTraceparent(headers.get("traceparent"));
  return trace === undefined ? {} : { trace_id: trace.traceId, parent_span_id: trace.parentSpanId };
}
