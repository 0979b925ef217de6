import type { Verdict } from "../../domain/keyframes/selection.ts";

/** Where the child finds the file: at a path, or after the request, in its body. */
export type Source = { readonly path: string } | { readonly inBody: true };

export type PhotoRequest = {
  readonly job: "photo";
  readonly source: Source;
  /** Absolute path of ffmpeg, for what only it reads. */
  readonly ffmpeg: string | undefined;
  readonly limits: { readonly bytes: number; readonly pixels: number; readonly edge: number };
};

export type VideoRequest = {
  readonly job: "video";
  readonly path: string;
  /** Absolute paths; without `ffprobe` nothing is known of the time and the length. */
  readonly ffmpeg: string;
  readonly ffprobe: string | undefined;
  readonly fps: number;
  readonly frameWidth: number;
  readonly changeThreshold: number;
  readonly maxGapSeconds: number;
  readonly limits: {
    readonly frames: number;
    readonly pixels: number;
    readonly allocation: number;
  };
};

export type ChildRequest = PhotoRequest | VideoRequest;

/** A time as EXIF has it: `YYYY-MM-DDTHH:MM:SS`, and the offset from UTC as it stands there. */
export type ExifTime = { readonly local: string; readonly offset: string | undefined };

export type ChildAnswer =
  /** A program was started whose memory counts, or has ended. */
  | { readonly kind: "tool"; readonly pid: number | undefined }
  | {
      readonly kind: "source";
      readonly sha256: string;
      readonly exif?: ExifTime | undefined;
      /** Of a video, as its container has it. */
      readonly created?: string | undefined;
      readonly durationS?: number | undefined;
    }
  /** The photo as a JPEG in the body. */
  | { readonly kind: "picture" }
  /** A frame that was looked at; if it is kept, its JPEG in the body. */
  | ({ readonly kind: "frame"; readonly index: number; readonly timeS: number } & Verdict)
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly code: RefusalCode; readonly reason: string };

export type RefusalCode = "unsupported_source" | "frame_decode_failed";

/** A file is not what can be observed. The message completes "NAME cannot be observed:". */
export class Refusal extends Error {
  readonly code: RefusalCode;

  constructor(code: RefusalCode, reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.code = code;
  }
}

/** Gives an answer to the process that waits for it. */
export type Send = (answer: ChildAnswer, body?: Uint8Array) => Promise<void>;
