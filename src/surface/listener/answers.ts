import type { ErrorCode } from "../../domain/errors.ts";

/** No page shows the answer in a frame. */
export const NO_FRAME = "frame-ancestors 'none'";

/** An answer may contain memories: no cache keeps it, and no browser interprets it as anything but JSON. */
const JSON_HEADERS = {
  "content-type": "application/json",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
  "content-security-policy": NO_FRAME,
};

/** A JSON answer with the headers that every one of them carries. */
export function answerJson(
  body: object,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json(body, { status, headers: { ...JSON_HEADERS, ...headers } });
}

/** Reasons for refusing requests that never reach the engine, by code. Answers also use the engine's own codes. */
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

/** The answer to a path that does not take the method of the request. */
export function refuseMethod(allow: string): Response {
  return refuse(405, "method_not_allowed", "Method Not Allowed", { allow });
}

/** The answer to a refused request: `{detail, code}`. */
export function refuse(
  status: number,
  code: RefusalCode | ErrorCode,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return answerJson({ detail, code }, status, headers);
}
