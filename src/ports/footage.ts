import type { CaptureClock, KeptReason, SourceKind } from "../domain/records/observation.ts";
import type { Instant } from "../lib/instant.ts";

/** What is observed: a file, or the content of one. */
export type FootageInput = { readonly path: string } | { readonly bytes: Uint8Array };

export type FootageOptions = {
  /** The name of the source. Default: that of the file, or `bytes:` and 12 hex digits of the hash. */
  readonly sourceName?: string | undefined;
  /** Frames of a video that are looked at, a second; above 0. */
  readonly fps: number;
  /** Pixels to which frames of a video are scaled across. */
  readonly frameWidth: number;
  /** Change against the frame kept last from which on a frame is kept. */
  readonly changeThreshold: number;
  /** Seconds after the frame kept last from which on a frame is kept in any case. */
  readonly maxGapSeconds: number;
  readonly signal?: AbortSignal | undefined;
};

/** A frame that was looked at. */
export type SampledFrame = {
  /** From 0. */
  readonly index: number;
  /** Seconds from the beginning of the video; undefined for a photo. */
  readonly timeS: number | undefined;
  /** Score against the frame kept last, three decimals; undefined for the first. */
  readonly change: number | undefined;
  /** Undefined: it is not kept. */
  readonly reason: KeptReason | undefined;
};

/** A picture as a vision model is shown it: upright, without the metadata of its file. */
export type Picture = {
  readonly bytes: Uint8Array;
  readonly mediaType: "image/jpeg";
  /** Of a photo the hash of its file, of a frame that of `bytes`: 64 hex digits. */
  readonly sha256: string;
};

/** By what a photo is known again. The members are those of its footage. */
export type PhotoIdentity = Pick<Footage, "name" | "path" | "sha256">;

/** Where the time of capture comes from: the photo's EXIF, the video's container, the file, or nowhere. */
export type FootageClock = Exclude<CaptureClock, "given">;

/** A photo, or a video with the frames to be described. */
export type Footage = {
  readonly kind: SourceKind;
  readonly name: string;
  /** Absolute, links resolved; undefined for bytes. */
  readonly path: string | undefined;
  /** Of the whole file: 64 hex digits. */
  readonly sha256: string;
  /** Of a video the time of its first frame. */
  readonly capturedAt: Instant;
  readonly captureClock: FootageClock;
  /** All that were looked at, in order. A photo is one frame that is kept. */
  readonly frames: readonly SampledFrame[];
  /** The picture of a kept frame. */
  picture(index: number): Promise<Picture>;
  /** A JPEG of a kept frame, quality 80, that fits into a square of `width` pixels and is never enlarged. */
  thumbnail(index: number, width: number): Promise<Uint8Array>;
  /** Forgets the pictures; also after failures. */
  close(): Promise<void>;
};

/**
 * Opens photos and videos. For callers: all decoding is over when `open` answers, so that what is broken is refused before any
 * model is asked; it may take minutes for a video.
 *
 * For implementers: nothing is loaded before the first call. No file, however made, can take the process down, make it read
 * another file or an address, or hold more than a bounded amount of memory. Pictures that wait on disk cannot be read by others, nor by
 * anybody after the end of the process.
 */
export type FootageReader = {
  /**
   * What a photo is, without decoding it: for a photo that is known already. Undefined for a video.
   * @throws SvcError not_found, unsupported_source
   */
  identify(input: FootageInput, sourceName: string | undefined): Promise<PhotoIdentity | undefined>;
  /**
   * @throws SvcError not_found for a missing file or a folder, unsupported_source, frame_decode_failed, disk_full; the reason of `signal`
   */
  open(input: FootageInput, options: FootageOptions): Promise<Footage>;
};
