import type { Scope } from "../../domain/enums.ts";
import type { InstantInput } from "../../domain/lifecycle.ts";
import type { FrameObservation, ObservationReport } from "../../domain/records/observation.ts";
import type { Uuid } from "../../lib/uuid.ts";

/** A photo or a video. For optional members `undefined` and `null` both mean absent. */
export type ObserveInput = {
  /** The path of the file, or its bytes. */
  readonly source: string | Uint8Array;
  readonly userId: string;
  /** When it was taken or begun. Default: the time in the file, else the file's own; for bytes, now. */
  readonly capturedAt?: InstantInput | null | undefined;
  /** Default: the name of the file; for bytes `bytes:` and the beginning of their SHA-256. */
  readonly sourceName?: string | null | undefined;
  /** Default: `photo:` or `video:` and the name. */
  readonly sessionId?: string | null | undefined;
  /** Stored with every description, except keys that describe the source. */
  readonly metadata?: Readonly<Record<string, unknown>> | null | undefined;
  /** Default `personal`. */
  readonly scope?: Scope | null | undefined;
  /** Ends the call before the next frame with the signal's reason; admitted frames stay. */
  readonly signal?: AbortSignal | null | undefined;
  /** Called after each frame, with the number done and the total. */
  readonly onFrame?:
    | ((frame: FrameObservation, done: number, keyframes: number) => void)
    | null
    | undefined;
};

/** How photos and videos are observed. */
export type ObservationSettings = {
  /** Milliseconds for one description. */
  readonly timeoutMs: number;
  readonly promptVersion: number;
  readonly extract: boolean;
  readonly extractionRetryDelaysMs: readonly number[];
  readonly fps: number;
  readonly frameWidth: number;
  readonly changeThreshold: number;
  readonly maxGapSeconds: number;
  readonly repeatSimilarity: number;
  readonly thumbnailWidth: number;
  readonly keepThumbnails: boolean;
};

/** Memories from pictures. */
export type ObserveMethods = {
  /**
   * Describes a photo, or the new frames of a video, and stores an event for each; a repeated call continues. One call runs at a
   * time.
   * @returns the admitted events
   * @throws SvcError vision_disabled, invalid_argument, not_found, unsupported_source, frame_decode_failed before anything is
   * stored; observation_failed if a frame was not stored
   */
  observe(input: ObserveInput): Promise<readonly Uuid[]>;
  /** Like `observe`, with a report of every frame. @throws SvcError as `observe`; observation_failed only if it ended early */
  observeSource(input: ObserveInput): Promise<ObservationReport>;
};
