/**
 * Every way in which a call can fail, by code. Callers branch on the code, never on the message. `retry` says whether the same
 * call may succeed later unchanged.
 */
export const ERROR_CATALOGUE = {
  /** An argument breaks a documented rule. `data.field` names it. */
  invalid_argument: { retry: false },
  /** A speaker's name is not acceptable, or a metadata key is reserved. `data.field`. */
  invalid_speaker: { retry: false },
  /** A request identifier was reused with different inputs. `data.request_id`. */
  request_conflict: { retry: false },
  /**
   * A lifecycle operation that the state of the memory does not allow, or one that was done before with different inputs.
   * `data.action`, `data.id`, and if a state is the reason `data.from`, `data.to`. Nothing was changed.
   */
  invalid_transition: { retry: false },
  /** A memory that is to be restored was replaced. `data.id`, `data.standing_id`: what stands in its place. Nothing was changed. */
  memory_replaced: { retry: false },
  /** What a profile is made from changed while it was made. Nothing was changed; calling again makes it from what is there now. */
  stale_profile: { retry: true },
  /** What a summary is made from changed while it was made. Nothing was changed. */
  stale_consolidation: { retry: true },
  /** An answer cites a memory that was not in the context of its retrieval. `data.field`. Nothing was recorded. */
  bad_citation: { retry: false },
  /** No such object for this owner. `data.kind`, `data.id`. */
  not_found: { retry: false },
  /** The caller's identity does not own what it names. */
  forbidden: { retry: false },
  /** No credential, or a wrong one. */
  unauthenticated: { retry: false },
  /** A request body, or a picture of an export, is larger than the limit. `data.max_bytes`; of an export `data.path`, `data.line`. */
  too_large: { retry: false },
  /** A non-loopback bind without credentials. `data.host`. */
  unauthenticated_bind: { retry: false },
  /** The address to listen on is in use or not available. `data.host`, `data.port`. */
  bind_failed: { retry: true },
  /** A setting is missing, unknown or out of range. `data.setting`. Never holds a secret's value. */
  invalid_config: { retry: false },
  /** The path is not a pack. `data.path`. Nothing was changed. */
  not_a_pack: { retry: false },
  /** The file to import is damaged, truncated, or not an export. `data.path`, `data.line`. Nothing was imported. */
  not_an_export: { retry: false },
  /** The pack was written by a newer version of this program. `data.found`, `data.supported`. Nothing was changed. */
  pack_too_new: { retry: false },
  pack_too_old: { retry: false },
  /** The pack cannot be opened for writing. `data.path`. Nothing was changed. */
  pack_read_only: { retry: false },
  /**
   * An encrypted pack without its key or with another one, or a key for an unencrypted pack. `data.path`. Nothing was changed.
   */
  encryption_failed: { retry: false },
  /** The pack, or the schema of a database, is not that of the expected namespace. `data.path`, `data.expected`, `data.found`. Nothing was changed. */
  namespace_mismatch: { retry: false },
  /** The folder or database is no workspace, or not all of it is there. `data.path`. Nothing was changed. */
  workspace_damaged: { retry: false },
  /** The workspace is open elsewhere, in this process or another one. `data.path`. */
  workspace_in_use: { retry: true },
  /** As many namespaces as may be open are held, or the workspace is to close while some are; nobody uses them. `data.namespaces`: their names. */
  workspace_full: { retry: true },
  /** A namespace was used after its release, or its workspace after `close`; or a pack could not be closed. */
  workspace_closed: { retry: false },
  /** The pack is open elsewhere and cannot be shared: in another engine, or another process. `data.path`. Nothing was changed. */
  pack_in_use: { retry: true },
  /** A page is not what was written: the disk failed, or somebody changed the file. `data.path`. */
  pack_damaged: { retry: false },
  /** The pack cannot be read or written: permissions, hardware, corruption. `data.path`, `data.reason`. */
  storage_failed: { retry: true },
  /** No room left on the disk. The operation was rolled back. `data.path`. */
  disk_full: { retry: true },
  /** Another process held the pack for longer than the busy limit. The operation was rolled back. */
  storage_busy: { retry: true },
  /**
   * The server of the database cannot be reached, or ended the connection. `data.path`. What was being written may have been: a
   * call with a request identifier can be repeated.
   */
  storage_unavailable: { retry: true },
  /** The model could not embed a text. Never holds the text. */
  embedding_failed: { retry: true },
  /** Stored vectors and the configured model do not match. `data.stored`, `data.configured`. */
  embedding_mismatch: { retry: false },
  /** A language model or a local model could not answer. Never holds a text or a credential. */
  model_failed: { retry: true },
  /** A model did not answer in time. */
  model_timeout: { retry: true },
  /** The source was accepted, but its node could not be written yet. `data.event_id`, `data.reason_code`. */
  materialization_failed: { retry: true },
  /**
   * The message was accepted, but nothing could be extracted from it yet: the same call would keep it twice. `data.event_id`,
   * `data.reason_code`.
   */
  extraction_failed: { retry: false },
  /** Photos and videos cannot be observed, because nobody has turned it on. `data.setting`. Nothing was read, asked or stored. */
  vision_disabled: { retry: false },
  /** The vision model could not describe a picture. Never holds the description or a credential. */
  vision_failed: { retry: true },
  /**
   * An observation ended before its time, or could not store every description. `data.report` says what was done; what was
   * stored stays. The same call goes on with what is missing.
   */
  observation_failed: { retry: true },
  /** What is to be observed is no photo or video that can be read here: `data.source`. Nothing was stored. */
  unsupported_source: { retry: false },
  /** The frames of a video could not be decoded. `data.source`. Nothing was stored. */
  frame_decode_failed: { retry: false },
  /** The engine was closed. */
  engine_closed: { retry: false },
  /** The pack was locked. Unlocking it with its key makes the call possible. */
  pack_locked: { retry: true },
  /** This kind of pack, or this server, does not offer the operation. `data.path` of a pack. Nothing was changed. */
  unsupported: { retry: false },
  /** A broken invariant of this program. */
  internal: { retry: false },
} as const satisfies Record<string, { retry: boolean }>;
