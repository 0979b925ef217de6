import type { Json } from "../lib/json.ts";

/**
 * Every way in which a call can fail, by code. Callers branch on the code, never on the message.
 * `retry` says whether the same call may succeed later without being changed.
 */
export const ERROR_CATALOGUE = {
  /** An argument breaks a documented rule. `data.field` names it. */
  invalid_argument: { retry: false },
  /** A speaker name or a reserved metadata key is not acceptable. `data.field`. */
  invalid_speaker: { retry: false },
  /** A request identifier was reused with other inputs. `data.request_id`. */
  request_conflict: { retry: false },
  /**
   * A lifecycle operation that the state of the memory does not allow, or one that was done before with other inputs.
   * `data.action`, `data.id`, and where it is about a state `data.from`, `data.to`. Nothing was changed.
   */
  invalid_transition: { retry: false },
  /** An answer cites what was not in the context of its retrieval. `data.field`. Nothing was recorded. */
  bad_citation: { retry: false },
  /** No such object for this owner. `data.kind`, `data.id`. */
  not_found: { retry: false },
  /** The caller's identity does not own what it names. */
  forbidden: { retry: false },
  /** No credential, or a wrong one. */
  unauthenticated: { retry: false },
  /** The request body is larger than the limit. `data.max_bytes`. */
  too_large: { retry: false },
  /** A non-loopback bind without credentials. `data.host`. */
  unauthenticated_bind: { retry: false },
  /** The address to listen on is taken or not available. `data.host`, `data.port`. */
  bind_failed: { retry: true },
  /** A setting is missing, unknown or out of range. `data.setting`. Never holds a secret's value. */
  invalid_config: { retry: false },
  /** The path holds something that is no pack. `data.path`. Nothing was changed. */
  not_a_pack: { retry: false },
  /** The file to import is damaged, cut off, or no export. `data.path`, `data.line`. Nothing was imported. */
  not_an_export: { retry: false },
  /** The pack was written by a newer version of this program. `data.found`, `data.supported`. Nothing was changed. */
  pack_too_new: { retry: false },
  /** The pack cannot be opened for writing. `data.path`. Nothing was changed. */
  pack_read_only: { retry: false },
  /** An encrypted pack without its key or with another one, or a key for a plain pack. `data.path`. Nothing was changed. */
  encryption_failed: { retry: false },
  /** Somebody has the pack open who cannot share it: another engine, or another process. `data.path`. Nothing was changed. */
  pack_in_use: { retry: true },
  /** A page is not what was written to it: the disk failed, or somebody changed the file. `data.path`. */
  pack_damaged: { retry: false },
  /** The pack cannot be read or written: permissions, hardware, corruption. `data.path`. */
  storage_failed: { retry: true },
  /** No room left on the disk. The operation was rolled back. `data.path`. */
  disk_full: { retry: true },
  /** Another process held the pack for longer than the busy limit. The operation was rolled back. */
  storage_busy: { retry: true },
  /** The model could not embed a text. Never holds the text. */
  embedding_failed: { retry: true },
  /** Stored vectors and the configured model do not match. `data.stored`, `data.configured`. */
  embedding_mismatch: { retry: false },
  /** A language model or a local model could not answer. Never holds a text or a credential. */
  model_failed: { retry: true },
  /** A model did not answer within its limit. */
  model_timeout: { retry: true },
  /** The source was accepted, its node could not be written yet. `data.event_id`, `data.reason_code`. */
  materialization_failed: { retry: true },
  /** The engine was closed. */
  engine_closed: { retry: false },
  /** The pack was locked. Unlocking it with its key makes the call possible. */
  pack_locked: { retry: true },
  /** The pack is of a kind that does not offer the operation. `data.path`. Nothing was changed. */
  unsupported: { retry: false },
  /** A broken invariant of this program. */
  internal: { retry: false },
} as const satisfies Record<string, { retry: boolean }>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;
export type ErrorData = { readonly [key: string]: Json };

/**
 * The only error that leaves the engine on purpose.
 * The message says what failed, which value, and how to mend it; it never holds a secret or the text of a memory.
 */
export class SvcError extends Error {
  override readonly name = "SvcError";
  readonly code: ErrorCode;
  readonly data: ErrorData;

  constructor(code: ErrorCode, message: string, data: ErrorData = {}, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.data = data;
  }
}

/** An `invalid_argument` error about one field. */
export function invalid(field: string, message: string): SvcError {
  return new SvcError("invalid_argument", `${field}: ${message}`, { field });
}

/** The category under which a failure is recorded and reported: a code, never a message. 1 to 100 ASCII letters, digits, `_`. */
export function reasonCode(error: unknown): string {
  if (error instanceof SvcError) return error.code;
  const name = error instanceof Error ? error.name : "Error";
  return /^\w{1,100}$/.test(name) ? name : "Error";
}
