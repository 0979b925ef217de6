import { reportError } from "../contract/core/error-map.ts";
import { withoutPlace } from "../contract/core/pack-place.ts";
import { answerJson } from "../listener/answers.ts";

/**
 * The answer to a failed request.
 * @param onUnexpected is told what the caller must not see
 */
export function toErrorResponse(error: unknown, onUnexpected: (error: unknown) => void): Response {
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
    report.code === "unauthenticated" ? { "www-authenticate": "Bearer" } : {},
  );
}
