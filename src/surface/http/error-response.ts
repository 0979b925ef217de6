import { reportError } from "../contract/error-map.ts";
import { describeCause, type Log } from "../contract/log.ts";

/** The answer to a request that failed; what the caller must not see goes to the log. */
export function toErrorResponse(error: unknown, log: Log): Response {
  const report = reportError(error);
  if (!report.treatment.exposed) log("error", `unexpected failure: ${describeCause(error)}`);
  return Response.json(
    report.accepted === undefined
      ? { detail: report.message }
      : { detail: report.message, ...report.accepted, accepted: true },
    {
      status: report.treatment.httpStatus,
      headers: report.code === "unauthenticated" ? { "www-authenticate": "Bearer" } : {},
    },
  );
}
