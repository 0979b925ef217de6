import type { ErrorCode } from "../../domain/errors.ts";
import { reportError } from "../contract/core/error-map.ts";
import { withoutPlace } from "../contract/core/pack-place.ts";
import { answerJson } from "../listener/answers.ts";

/** Seconds after which a database that was started again answers. */
const RETRY_SECONDS = "1";
const HEADERS: Partial<Record<ErrorCode, Readonly<Record<string, string>>>> = {
  unauthenticated: { "www-authenticate": "Bearer" },
  storage_unavailable: { "retry-after": RETRY_SECONDS },
};

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
    HEADERS[report.code] ?? {},
  );
}
