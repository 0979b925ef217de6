import type { CaptureClock, KeptReason, SourceKind } from "../domain/records/observation.ts";
import type { Instant } from "../lib/instant.ts";

/** A file, or its content. */
export type FootageInput = { readonly path: string } | { readonly bytes: Uint8Array };

export type FootageOptions = {
  /** Default: the name of the file, or `bytes:` and 12 hex digits of the hash. */
  readonly sourceName?: string | undefined;
  /** Sampled frames per second, above 0. */
  readonly fps: number;
  /** Width in pixels to which frames are scaled. */
  readonly frameWidth: number;
  /** A frame is kept from this difference to the last kept one. */
  readonly changeThreshold: number;
  /** A frame is kept at the latest after this many seconds. */
  readonly maxGapSeconds: number;
  readonly signal?: AbortSignal | undefined;
};

export type SampledFrame = {
  /** From 0. */
  readonly index: number;
  /** Seconds from the start; undefined for a photo. */
  readonly timeS: number | undefined;
  /** Difference from the last kept frame, three decimals; undefined for the first. */
  readonly change: number | undefined;
  /** Undefined: not kept. */
  readonly reason: KeptReason | undefined;
};

/** Upright, without metadata. */
export type Picture = {
  readonly bytes: Uint8Array;
  readonly mediaType: "image/jpeg";
  /** SHA-256 of a photo's file, or of `bytes` of a frame: 64 hex digits. */
  readonly sha256: string;
};

/** Identifies a photo. */
export type PhotoIdentity = Pick<Footage, "name" | "path" | "sha256">;

/** Source of the time: EXIF, the container, the file, or none. */
export type FootageClock = Exclude<CaptureClock, "given">;

export type Footage = {
  readonly kind: SourceKind;
  readonly name: string;
  /** Absolute, links resolved; undefined for bytes. */
  readonly path: string | undefined;
  /** SHA-256 of the whole file: 64 hex digits. */
  readonly sha256: string;
  /** For a video, the time of its first frame. */
  readonly capturedAt: Instant;
  readonly captureClock: FootageClock;
  /** All sampled frames in order; for a photo, one. */
  readonly frames: readonly SampledFrame[];
  /** Of a kept frame. */
  picture(index: number): Promise<Picture>;
  /** A JPEG of a kept frame within a square of `width` pixels, never enlarged. */
  thumbnail(index: number, width: number): Promise<Uint8Array>;
  /** Discards the pictures; also after failures. */
  close(): Promise<void>;
};

/**
 * Opens photos and videos. All decoding is over when `open` resolves, which may take minutes. For implementers: nothing is loaded before
 * the first call; no file can crash the process, make it read another file or address, or use unbounded memory; pictures on disk are
 * unreadable for others and after the process.
 */
export type FootageReader = {
  /** Identifies a photo without decoding it. Undefined for a video. @throws SvcError not_found; unsupported_source */
  identify(input: FootageInput, sourceName: string | undefined): Promise<PhotoIdentity | undefined>;
  /** @throws SvcError not_found; unsupported_source; frame_decode_failed; disk_full; the abort reason */
  open(input: FootageInput, options: FootageOptions): Promise<Footage>;
};
