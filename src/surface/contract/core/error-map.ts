import { isDatabaseUrl } from "../../../domain/addresses.ts";
import {
  type ErrorCode,
  FOREIGN_LOG,
  PACK_MOVED,
  SvcError,
  UNSAFE_FILE,
} from "../../../domain/errors.ts";

/** How an error is presented on each surface. */
export type ErrorTreatment = {
  readonly httpStatus: 400 | 401 | 403 | 404 | 409 | 413 | 422 | 500 | 502 | 503 | 504 | 507;
  /** Whether the caller gets the message; otherwise a fixed text, and the cause goes to the log. */
  readonly exposed: boolean;
  /**
   * `error`: a normal result `{error}`; `conflict`: the same with `conflict: true`;
   * `accepted`: the same with the identifiers of the accepted source; `internal`: fixed text.
   */
  readonly mcp: "error" | "conflict" | "accepted" | "internal";
  /** Exit code of a command: 1 failed, 2 refused or wrong usage. */
  readonly exitCode: 1 | 2;
};

const refused = (httpStatus: ErrorTreatment["httpStatus"]): ErrorTreatment => ({
  httpStatus,
  exposed: true,
  mcp: "error",
  exitCode: 2,
});

const failed = (httpStatus: ErrorTreatment["httpStatus"]): ErrorTreatment => ({
  httpStatus,
  exposed: true,
  mcp: "error",
  exitCode: 1,
});

/** The one map from error codes to HTTP, MCP and exit codes. */
export const ERROR_MAP: Readonly<Record<ErrorCode, ErrorTreatment>> = {
  invalid_argument: refused(422),
  invalid_speaker: refused(422),
  request_conflict: { httpStatus: 409, exposed: true, mcp: "conflict", exitCode: 1 },
  invalid_transition: refused(422),
  memory_replaced: { httpStatus: 409, exposed: true, mcp: "conflict", exitCode: 1 },
  stale_profile: { httpStatus: 409, exposed: true, mcp: "conflict", exitCode: 1 },
  stale_consolidation: { httpStatus: 409, exposed: true, mcp: "conflict", exitCode: 1 },
  bad_citation: refused(400),
  not_found: failed(404),
  forbidden: refused(403),
  unauthenticated: refused(401),
  too_large: refused(413),
  unauthenticated_bind: refused(500),
  bind_failed: failed(500),
  invalid_config: refused(500),
  not_a_pack: failed(503),
  not_an_export: failed(422),
  pack_too_new: failed(503),
  pack_too_old: failed(503),
  pack_read_only: refused(503),
  encryption_failed: refused(503),
  namespace_mismatch: refused(503),
  workspace_damaged: failed(500),
  workspace_in_use: refused(503),
  workspace_full: failed(503),
  workspace_closed: failed(503),
  pack_in_use: refused(503),
  pack_damaged: failed(500),
  storage_failed: { httpStatus: 500, exposed: false, mcp: "internal", exitCode: 1 },
  disk_full: failed(507),
  storage_busy: failed(503),
  storage_unavailable: failed(503),
  embedding_failed: failed(503),
  embedding_mismatch: failed(503),
  model_failed: failed(502),
  model_timeout: failed(504),
  materialization_failed: { httpStatus: 503, exposed: true, mcp: "accepted", exitCode: 1 },
  extraction_failed: { httpStatus: 503, exposed: true, mcp: "accepted", exitCode: 1 },
  vision_disabled: refused(409),
  vision_failed: failed(502),
  observation_failed: failed(502),
  unsupported_source: refused(422),
  frame_decode_failed: failed(422),
  engine_closed: failed(503),
  pack_locked: failed(503),
  unsupported: refused(409),
  internal: { httpStatus: 500, exposed: false, mcp: "internal", exitCode: 1 },
};

/** Reasons of a `storage_failed` whose message says what to do: only the caller can act on it. */
const TOLD_REASONS: ReadonlySet<unknown> = new Set([PACK_MOVED, UNSAFE_FILE, FOREIGN_LOG]);
const TOLD = failed(500);

/** How to present any thrown value to the caller. */
export type ErrorReport = {
  readonly code: ErrorCode;
  readonly treatment: ErrorTreatment;
  /** Safe to show; a fixed text when the cause must stay in the log. */
  readonly message: string;
  /** Identifiers of stored but unfinished work. */
  readonly accepted: { readonly event_id: string; readonly reason_code: string } | undefined;
};

const INTERNAL_MESSAGE = "Internal server error";

/** Classifies a thrown value by the map. Anything but a SvcError is internal. */
export function reportError(error: unknown): ErrorReport {
  if (!(error instanceof SvcError)) return internalReport();
  const isTold = error.code === "storage_failed" && TOLD_REASONS.has(error.data["reason"]);
  const treatment = isTold ? TOLD : ERROR_MAP[error.code];
  if (!treatment.exposed) return internalReport();
  if (treatment.mcp !== "accepted") {
    return { code: error.code, treatment, message: error.message, accepted: undefined };
  }
  const eventId = error.data["event_id"];
  const reason = error.data["reason_code"];
  // Without the identifier the caller could not track its event.
  if (typeof eventId !== "string") return internalReport();
  return {
    code: error.code,
    treatment,
    message: error.message,
    accepted: {
      event_id: eventId,
      reason_code: typeof reason === "string" ? reason : error.name,
    },
  };
}

function internalReport(): ErrorReport {
  return {
    code: "internal",
    treatment: ERROR_MAP.internal,
    message: INTERNAL_MESSAGE,
    accepted: undefined,
  };
}

/** A message without the path of the pack, which is useless to a remote caller and would reveal the server's folders. */
export function withoutPlace(message: string, error: unknown): string {
  const path = error instanceof SvcError ? error.data["path"] : undefined;
  if (typeof path !== "string" || path === "") return message;
  return message.replaceAll(path, isDatabaseUrl(path) ? "<database>" : "<pack>");
}
