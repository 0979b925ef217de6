import { reportError } from "../contract/error-map.ts";
import { answerJson } from "../web/answers.ts";

/**
 * The answer to a request that failed.
 * @param onUnexpected is told what the caller must not see
 */
export function toErrorResponse(error: unknown, onUnexpected: (error: unknown) => void): Response {
  const report = reportError(error);
  if (!report.treatment.exposed) onUnexpected(error);
  return answerJson(
    report.accepted === undefined
      ? { detail: report.message }
      : { detail: report.message, ...report.accepted, accepted: true },
    report.treatment.httpStatus,
    report.code === "unauthenticated" ? { "www-authenticate": "Bearer" } : {},
  );
}
