import type { ChildBounds } from "./child-process.ts";

/** Limits of what is read. */
export type FootageLimits = {
  readonly photo: ChildBounds & {
    readonly bytes: number;
    readonly pixels: number;
    /** Pixels of the longer edge of the picture that a model is shown. */
    readonly edge: number;
  };
  readonly video: ChildBounds & {
    /** Frames that are looked at. */
    readonly frames: number;
    /** Of a frame. */
    readonly pixels: number;
    /** Bytes that ffmpeg may take at once. */
    readonly allocation: number;
    /** Bytes of all pictures that are kept. */
    readonly kept: number;
  };
};

const MIB = 2 ** 20;

export const FOOTAGE_LIMITS: FootageLimits = {
  photo: { limitMs: 60_000, memoryBytes: 1024 * MIB, bytes: 128 * MIB, pixels: 128e6, edge: 2048 },
  video: {
    limitMs: 3_600_000,
    memoryBytes: 1024 * MIB,
    frames: 50_000,
    pixels: 36e6,
    allocation: 512 * MIB,
    kept: 2048 * MIB,
  },
};

/** Says that something is larger than so many bytes, as in `it has more than 128 MiB`. */
export function tooLarge(what: string, bytes: number): string {
  return `${what} more than ${Math.floor(bytes / MIB)} MiB`;
}
