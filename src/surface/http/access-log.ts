import type { Context, MiddlewareHandler } from "hono";
import type { ErrorCode } from "../../domain/errors.ts";
import { reportError, withoutPlace } from "../contract/core/error-map.ts";
import { describeCause, type Log } from "../contract/core/log.ts";
import { answerJson } from "../listener/answers.ts";
import type { AppEnv } from "./app-env.ts";
import type { Metrics } from "./metrics-endpoint.ts";

/** Logged instead of the route if there is none. */
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

/** Seconds until a restarted database is expected to answer. */
const RETRY_SECONDS = "1";
const HEADERS: Partial<Record<ErrorCode, Readonly<Record<string, string>>>> = {
  unauthenticated: { "www-authenticate": "Bearer" },
  storage_unavailable: { "retry-after": RETRY_SECONDS },
};

/** The answer to a failed request. @param onUnexpected gets what the caller must not see */
function toErrorResponse(error: unknown, onUnexpected: (error: unknown) => void): Response {
  const report = reportError(error);
  if (!report.treatment.exposed) onUnexpected(error);
  const detail = withoutPlace(report.message, error);
  return answerJson(
    {
      detail,
      code: report.code,
      ...(report.accepted !== undefined && { ...report.accepted, accepted: true }),
    },
    report.treatment.httpStatus,
    HEADERS[report.code] ?? {},
  );
}

/** A request's trace, as sent by the caller. */
type TraceContext = {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits: the caller's span that made the request. */
  readonly parentSpanId: string;
};

/**
 * Reads a `traceparent` header (W3C Trace Context, section 3.2): undefined if it is absent or malformed, or if an identifier is
 * all zeros. For versions after `00`, the fields of `00` are read.
 */
export function parseTraceparent(header: string | null): TraceContext | undefined {
  if (header === null) return undefined;
  const fields =
    /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/.exec(
      header.trim(),
    );
  const [, version, traceId, parentSpanId, rest] = fields ?? [];
  if (traceId === undefined || parentSpanId === undefined) return undefined;
  return version === "00" && rest !== undefined ? undefined : { traceId, parentSpanId };
}
