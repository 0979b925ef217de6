import type { Json } from "../lib/json.ts";
import type { Uuid } from "../lib/uuid.ts";
import { type ObservationReport, observationReportForm } from "./records/observation.ts";

/** The reason in a `storage_failed` if the file was deleted, moved or replaced while it was open. Nothing was stored. */
export const PACK_MOVED = "pack_moved";
/** The reason in a `storage_failed` for a file next to the pack that another user may have made. Nothing was opened. */
export const UNSAFE_FILE = "unsafe_file";
/** The reason in a `storage_failed` for a log that was written for another state of the pack. Nothing was opened. */
export const FOREIGN_LOG = "foreign_log";

export type ErrorCode = keyof typeof ERROR_CATALOGUE;
/** The codes of a class. */
type CodeOf<Name extends string> = {
  [Code in ErrorCode]: (typeof ERROR_CATALOGUE)[Code]["of"] extends Name ? Code : never;
}[ErrorCode];
export type ErrorData = { readonly [key: string]: Json };

/**
 * The only error that the engine throws deliberately. Every instance is also an instance of the class of its code, so that callers may
 * branch on either. The message says what failed, which value, and how to fix it; it never holds a secret or the text of a memory.
 */
export class SvcError extends Error {
  readonly code: ErrorCode;
  readonly data: ErrorData;

  constructor(code: ErrorCode, message: string, data: ErrorData = {}, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.data = data;
    // Code that throws names only the code. The classes only add accessors: nothing stays undefined.
    Object.setPrototypeOf(this, ERROR_CLASSES[this.name]?.prototype ?? SvcError.prototype);
  }

  /** The name of the class of this code. */
  override get name(): string {
    return ERROR_CATALOGUE[this.code].of;
  }
}

/** An argument breaks a rule, or conflicts with an earlier call. Nothing was changed. */
export class InvalidArgumentError extends SvcError {
  declare readonly code:
    | "invalid_argument"
    | "invalid_speaker"
    | "invalid_transition"
    | "memory_replaced"
    | "request_conflict"
    | "stale_profile"
    | "bad_citation"
    | "unauthenticated_bind"
    | "namespace_mismatch";

  /** The argument at fault, if there is one. */
  get field(): string | undefined {
    return textOf(this.data, "field");
  }
}

/** A speaker's name is not acceptable, or a metadata key is reserved. */
export class SpeakerError extends InvalidArgumentError {
  declare readonly code: "invalid_speaker";
}

/** The state of the memory does not allow the operation, or it was done before with different inputs. */
export class InvalidTransitionError extends InvalidArgumentError {
  declare readonly code: "invalid_transition" | "memory_replaced";
}

/** A request identifier was used before with different inputs. */
export class RequestConflictError extends InvalidArgumentError {
  declare readonly code: "request_conflict";
}

/** The sources of a profile changed while it was made. */
export class StaleProfileError extends InvalidArgumentError {
  declare readonly code: "stale_profile";
}

/** The sources of a summary changed while it was made. */
export class StaleConsolidationError extends SvcError {
  declare readonly code: "stale_consolidation";
}

/** An answer cites a memory that was not in its context. */
export class BadCitationError extends InvalidArgumentError {
  declare readonly code: "bad_citation";
}

/** A server reachable from the network would have started without credentials. */
export class UnauthenticatedBindError extends InvalidArgumentError {
  declare readonly code: "unauthenticated_bind";
}

/** A pack is not that of the expected namespace. */
export class NamespaceIdentityError extends InvalidArgumentError {
  declare readonly code: "namespace_mismatch";
}

/** A workspace cannot be opened, or was used after its end. */
export class WorkspaceError extends SvcError {
  declare readonly code: CodeOf<"WorkspaceError">;
}

/** There is no such object for this owner. */
export class NotFoundError extends SvcError {
  declare readonly code: "not_found";
}

/** A setting is missing, unknown or out of range. */
export class ConfigError extends SvcError {
  declare readonly code: "invalid_config";
}

/** A pack cannot be opened or used as it is. Nothing was changed. */
export class PackError extends SvcError {
  declare readonly code: CodeOf<
    "PackError" | "EncryptionError" | "PackInUseError" | "PackLockedError"
  >;
}

/** No key, or a wrong one, for an encrypted pack; or a key for an unencrypted one. */
export class EncryptionError extends PackError {
  declare readonly code: "encryption_failed";
}

/** The pack is open elsewhere and cannot be shared. */
export class PackInUseError extends PackError {
  declare readonly code: "pack_in_use";
}

/** The pack is locked and needs its key. */
export class PackLockedError extends PackError {
  declare readonly code: "pack_locked";
}

/** A failure of files, disk or other processes. The operation was rolled back. */
export class StorageError extends SvcError {
  declare readonly code: CodeOf<"StorageError">;
}

/** A text could not be embedded, or the stored vectors come from another model. */
export class EmbeddingError extends SvcError {
  declare readonly code: CodeOf<"EmbeddingError">;
}

/** A language model or a local model did not answer. */
export class ModelError extends SvcError {
  declare readonly code: CodeOf<"ModelError">;
}

/** The source is stored, but its result is not there yet. */
class AcceptedError extends SvcError {
  /** The accepted event. */
  get eventId(): string {
    return textOf(this.data, "event_id") ?? "";
  }

  /** The cause, as a category. */
  get reasonCode(): string {
    return textOf(this.data, "reason_code") ?? "";
  }
}

/** The source is stored, but its memory is not built yet. */
export class MaterializationError extends AcceptedError {
  declare readonly code: "materialization_failed";
}

/** The message is stored and can be found, but nothing was extracted from it yet. */
export class ExtractionError extends AcceptedError {
  declare readonly code: "extraction_failed";
}

/** A photo or video could not be observed. */
export class VisionError extends SvcError {
  declare readonly code: CodeOf<
    `Vision${string}` | "ObservationError" | "UnsupportedSourceError" | "FrameDecodeError"
  >;
}

/** Observation is turned off. */
export class VisionDisabledError extends VisionError {
  declare readonly code: "vision_disabled";
}

/** An observation ended early, or could not store every description. */
export class ObservationError extends VisionError {
  declare readonly code: "observation_failed";

  /** What was done until then. */
  get report(): ObservationReport {
    return observationReportForm.read(this.data["report"] ?? null, "report");
  }
}

/** The source is not a photo or video that can be read. */
export class UnsupportedSourceError extends VisionError {
  declare readonly code: "unsupported_source";
}

/** The frames of a video could not be decoded. */
export class FrameDecodeError extends VisionError {
  declare readonly code: "frame_decode_failed";
}

/** The engine was closed before the call. */
export class EngineClosedError extends SvcError {
  declare readonly code: "engine_closed";
}

/** This pack, or this configuration, does not offer the operation. */
export class UnsupportedError extends SvcError {
  declare readonly code: "unsupported";
}

/** The classes by name, which survives minification. */
const ERROR_CLASSES: Readonly<Record<string, { readonly prototype: SvcError }>> = {
  InvalidArgumentError,
  SpeakerError,
  RequestConflictError,
  InvalidTransitionError,
  StaleProfileError,
  StaleConsolidationError,
  BadCitationError,
  NotFoundError,
  SvcError,
  UnauthenticatedBindError,
  ConfigError,
  PackError,
  EncryptionError,
  NamespaceIdentityError,
  WorkspaceError,
  PackInUseError,
  StorageError,
  EmbeddingError,
  ModelError,
  MaterializationError,
  ExtractionError,
  VisionDisabledError,
  VisionError,
  ObservationError,
  UnsupportedSourceError,
  FrameDecodeError,
  EngineClosedError,
  PackLockedError,
  UnsupportedError,
};

function textOf(data: ErrorData, key: string): string | undefined {
  const value = data[key];
  return typeof value === "string" ? value : undefined;
}

export function invalid(field: string, message: string): SvcError {
  return new SvcError("invalid_argument", `${field}: ${message}`, { field });
}

/** There is no such object for this owner. */
export function missing(kind: string, id: string, message: string): SvcError {
  return new SvcError("not_found", message, { kind, id });
}

export function missingNode(id: Uuid): SvcError {
  return missing("node", id, `Node '${id}' not found`);
}

/** There is no such event for this owner. */
export function missingEvent(id: Uuid): SvcError {
  return missing("event", id, `Event '${id}' not found`);
}

/** The category under which a failure is recorded and reported: a code, not a message. 1 to 100 ASCII letters, digits, `_`. */
export function reasonCode(error: unknown): string {
  if (error instanceof SvcError) return error.code;
  const name = error instanceof Error ? error.name : "Error";
  return /^\w{1,100}$/.test(name) ? name : "Error";
}

/** Rejects a pack or database made by a build before the first release. */
export function developmentPack(path: string): SvcError {
  return new SvcError(
    "pack_too_old",
    `${path}: was made by a development build of svc, and this version does not read it. Nothing was changed; write a file with svc export of the build that made it, and read that file with svc import of this one.`,
    { path },
  );
}

/**
 * Every way in which a call can fail, by code. Callers branch on the code, never on the message. `retry` says whether the same
 * call may succeed later unchanged, `of` names the class.
 */
export const ERROR_CATALOGUE = {
  /** An argument breaks a documented rule. `data.field` names it. */
  invalid_argument: { retry: false, of: "InvalidArgumentError" },
  /** A speaker's name is not acceptable, or a metadata key is reserved. `data.field`. */
  invalid_speaker: { retry: false, of: "SpeakerError" },
  /** A request identifier was reused with different inputs. `data.request_id`. */
  request_conflict: { retry: false, of: "RequestConflictError" },
  /**
   * A lifecycle operation that the state of the memory does not allow, or one that was done before with different inputs.
   * `data.action`, `data.id`, and if a state is the reason `data.from`, `data.to`. Nothing was changed.
   */
  invalid_transition: { retry: false, of: "InvalidTransitionError" },
  /** The memory to restore was replaced. `data.id`, `data.standing_id`: its replacement. Nothing was changed. */
  memory_replaced: { retry: false, of: "InvalidTransitionError" },
  /** The sources of a profile changed while it was made. Nothing was changed; a repeated call uses the current ones. */
  stale_profile: { retry: true, of: "StaleProfileError" },
  /** The sources of a summary changed while it was made. Nothing was changed. */
  stale_consolidation: { retry: true, of: "StaleConsolidationError" },
  /** An answer cites a memory that was not in the context of its retrieval. `data.field`. Nothing was recorded. */
  bad_citation: { retry: false, of: "BadCitationError" },
  /** No such object for this owner. `data.kind`, `data.id`. */
  not_found: { retry: false, of: "NotFoundError" },
  /** The caller's identity does not own the named object. */
  forbidden: { retry: false, of: "SvcError" },
  /** No credential, or a wrong one. */
  unauthenticated: { retry: false, of: "SvcError" },
  /** A request body, or a picture of an export, is larger than the limit. `data.max_bytes`; of an export `data.path`, `data.line`. */
  too_large: { retry: false, of: "SvcError" },
  /** A non-loopback bind without credentials. `data.host`. */
  unauthenticated_bind: { retry: false, of: "UnauthenticatedBindError" },
  /** The address to listen on is in use or not available. `data.host`, `data.port`. */
  bind_failed: { retry: true, of: "SvcError" },
  /** A setting is missing, unknown or out of range. `data.setting`. Never holds a secret's value. */
  invalid_config: { retry: false, of: "ConfigError" },
  /** The path is not a pack. `data.path`. Nothing was changed. */
  not_a_pack: { retry: false, of: "PackError" },
  /** The file to import is damaged, truncated, or not an export. `data.path`, `data.line`. Nothing was imported. */
  not_an_export: { retry: false, of: "SvcError" },
  /** The pack was written by a newer version of this program. `data.found`, `data.supported`. Nothing was changed. */
  pack_too_new: { retry: false, of: "PackError" },
  pack_too_old: { retry: false, of: "PackError" },
  /** The pack cannot be opened for writing. `data.path`. Nothing was changed. */
  pack_read_only: { retry: false, of: "PackError" },
  /**
   * An encrypted pack without its key or with another one, or a key for an unencrypted pack. `data.path`. Nothing was changed.
   */
  encryption_failed: { retry: false, of: "EncryptionError" },
  /** The pack, or the schema of a database, is not that of the expected namespace. `data.path`, `data.expected`, `data.found`. Nothing was changed. */
  namespace_mismatch: { retry: false, of: "NamespaceIdentityError" },
  /** The folder or database is not a workspace, or is incomplete. `data.path`. Nothing was changed. */
  workspace_damaged: { retry: false, of: "WorkspaceError" },
  /** The workspace is open elsewhere, in this process or another one. `data.path`. */
  workspace_in_use: { retry: true, of: "WorkspaceError" },
  /**
   * The maximum number of namespaces is held, or the workspace is closing while some are; none can be released. `data.namespaces`: their
   * names.
   */
  workspace_full: { retry: true, of: "WorkspaceError" },
  /** A namespace was used after its release, or its workspace after `close`; or a pack could not be closed. */
  workspace_closed: { retry: false, of: "WorkspaceError" },
  /** The pack is open elsewhere and cannot be shared: in another engine, or another process. `data.path`. Nothing was changed. */
  pack_in_use: { retry: true, of: "PackInUseError" },
  /** A page differs from what was written: the disk failed, or the file was changed. `data.path`. */
  pack_damaged: { retry: false, of: "StorageError" },
  /** The pack cannot be read or written: permissions, hardware, corruption. `data.path`, `data.reason`. */
  storage_failed: { retry: true, of: "StorageError" },
  /** No room left on the disk. The operation was rolled back. `data.path`. */
  disk_full: { retry: true, of: "StorageError" },
  /** Another process held the pack for longer than the busy limit. The operation was rolled back. */
  storage_busy: { retry: true, of: "StorageError" },
  /**
   * The server of the database cannot be reached, or ended the connection. `data.path`. What was being written may have been: a
   * call with a request identifier can be repeated.
   */
  storage_unavailable: { retry: true, of: "StorageError" },
  /** The model could not embed a text. Never holds the text. */
  embedding_failed: { retry: true, of: "EmbeddingError" },
  /** Stored vectors and the configured model do not match. `data.stored`, `data.configured`. */
  embedding_mismatch: { retry: false, of: "EmbeddingError" },
  /** A language model or a local model could not answer. Never holds a text or a credential. */
  model_failed: { retry: true, of: "ModelError" },
  /** A model did not answer in time. */
  model_timeout: { retry: true, of: "ModelError" },
  /** The source was stored, but its node could not be written yet. `data.event_id`, `data.reason_code`. */
  materialization_failed: { retry: true, of: "MaterializationError" },
  /**
   * The message was stored, but nothing could be extracted from it yet: repeating the call would store it twice. `data.event_id`,
   * `data.reason_code`.
   */
  extraction_failed: { retry: false, of: "ExtractionError" },
  /** Observation of photos and videos is turned off. `data.setting`. Nothing was read, asked or stored. */
  vision_disabled: { retry: false, of: "VisionDisabledError" },
  /** The vision model could not describe a picture. Never holds the description or a credential. */
  vision_failed: { retry: true, of: "VisionError" },
  /**
   * An observation ended early, or could not store every description. `data.report` says what was done; what was stored stays. Repeating
   * the call continues with the rest.
   */
  observation_failed: { retry: true, of: "ObservationError" },
  /** The source is not a photo or video that can be read: `data.source`. Nothing was stored. */
  unsupported_source: { retry: false, of: "UnsupportedSourceError" },
  /** The frames of a video could not be decoded. `data.source`. Nothing was stored. */
  frame_decode_failed: { retry: false, of: "FrameDecodeError" },
  engine_closed: { retry: false, of: "EngineClosedError" },
  /** The pack was locked. Unlock it with its key and repeat the call. */
  pack_locked: { retry: true, of: "PackLockedError" },
  /** This kind of pack, or this server, does not offer the operation. `data.path` of a pack. Nothing was changed. */
  unsupported: { retry: false, of: "UnsupportedError" },
  /** A broken invariant of this program. */
  internal: { retry: false, of: "SvcError" },
} as const satisfies Record<string, { retry: boolean; of: string }>;
