import type { ErrorCode } from "../../domain/errors.ts";

/** No page may frame the answer. */
export const NO_FRAME = "frame-ancestors 'none'";

/** An answer may contain memories: caches must not keep it, and browsers must not interpret it as anything but JSON. */
const JSON_HEADERS = {
  "content-type": "application/json",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
  "content-security-policy": NO_FRAME,
};

/** A JSON answer with the common headers. */
export function answerJson(
  body: object,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json(body, { status, headers: { ...JSON_HEADERS, ...headers } });
}

/** Error codes of requests rejected before they reach the engine. Answers also use the engine's own codes. */
export const REFUSAL_CODES = [
  "invalid_host",
  "foreign_host",
  "foreign_origin",
  "session_ended",
  "route_not_found",
  "method_not_allowed",
  "request_timeout",
  "not_ready",
  "shutting_down",
] as const;

export type RefusalCode = (typeof REFUSAL_CODES)[number];

/** The answer to a method that a path does not support. */
export function refuseMethod(allow: string): Response {
  return refuse(405, "method_not_allowed", `Method Not Allowed: here ${allow} can be called`, {
    allow,
  });
}

/** The answer to a rejected request: `{detail, code}`. */
export function refuse(
  status: number,
  code: RefusalCode | ErrorCode,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return answerJson({ detail, code }, status, headers);
}
