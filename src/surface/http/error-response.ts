import { SvcError } from "../../domain/errors.ts";
import { reportError } from "../contract/error-map.ts";
import { answerJson } from "../web/answers.ts";

/**
 * The answer to a request that failed.
 * @param onUnexpected is told what the caller must not see
 */
export function toErrorResponse(error: unknown, onUnexpected: (error: unknown) => void): Response {
  const report = reportError(error);
  if (!report.treatment.exposed) onUnexpected(error);
  const detail = withoutPath(report.message, error);
  return answerJson(
    report.accepted === undefined ? { detail } : { detail, ...report.accepted, accepted: true },
    report.treatment.httpStatus,
    report.code === "unauthenticated" ? { "www-authenticate": "Bearer" } : {},
  );
}

/** The message without the place of the pack: who asks from elsewhere has no use for it, and learns the server's folders. */
function withoutPath(message: string, error: unknown): string {
  const path = error instanceof SvcError ? error.data["path"] : undefined;
  return typeof path === "string" && path !== "" ? message.replaceAll(path, "<pack>") : message;
}
