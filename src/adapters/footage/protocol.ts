import type { Verdict } from "../../domain/records/observation.ts";

export type ChildBounds = {
  readonly limitMs: number;
  /** Memory of the child and the program that it starts. */
  readonly memoryBytes: number;
};

export type FootageLimits = {
  readonly photo: ChildBounds & {
    readonly bytes: number;
    readonly pixels: number;
    /** Longer edge, in pixels, of the picture shown to a model. */
    readonly edge: number;
  };
  readonly video: ChildBounds & {
    readonly frames: number;
    /** Of a frame. */
    readonly pixels: number;
    /** Bytes that ffmpeg may allocate at once. */
    readonly allocation: number;
    /** Bytes of all kept pictures. */
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

/** Says that something exceeds a size, as in `it has more than 128 MiB`. */
export function tooLarge(what: string, bytes: number): string {
  return `${what} more than ${Math.floor(bytes / MIB)} MiB`;
}

/** Where the child finds the file: at a path, or after the request, in its body. */
export type Source = { readonly path: string } | { readonly inBody: true };

export type PhotoRequest = {
  readonly job: "photo";
  readonly source: Source;
  /** Absolute path of ffmpeg, for formats that only it reads. */
  readonly ffmpeg: string | undefined;
  readonly limits: { readonly bytes: number; readonly pixels: number; readonly edge: number };
};

export type VideoRequest = {
  readonly job: "video";
  readonly path: string;
  /** Absolute paths; without `ffprobe` time and length are unknown. */
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

/** An EXIF time: `YYYY-MM-DDTHH:MM:SS`, and the UTC offset as written. */
export type ExifTime = { readonly local: string; readonly offset: string | undefined };

export type ChildAnswer =
  /** A program whose memory counts was started, or has ended. */
  | { readonly kind: "tool"; readonly pid: number | undefined }
  | {
      readonly kind: "source";
      readonly sha256: string;
      readonly exif?: ExifTime | undefined;
      /** For a video, as in its container. */
      readonly created?: string | undefined;
      readonly durationS?: number | undefined;
    }
  | { readonly kind: "picture" }
  /** An examined frame; if it is kept, its JPEG is in the body. */
  | ({ readonly kind: "frame"; readonly index: number; readonly timeS: number } & Verdict)
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly code: RefusalCode; readonly reason: string };

export type RefusalCode = "unsupported_source" | "frame_decode_failed";

/** A file that cannot be observed. The message completes "NAME cannot be observed:". */
export class Refusal extends Error {
  readonly code: RefusalCode;

  constructor(code: RefusalCode, reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.code = code;
  }
}

export type Send = (answer: ChildAnswer, body?: Uint8Array) => Promise<void>;

/** A packet in the pipe between the process and its child: a message, and its bytes. */
export type Packet<Message> = { readonly message: Message; readonly body: Uint8Array };

const HEADER_BYTES = 8;
const MAX_BYTES = 256 * 2 ** 20;

/** The header of a packet: two lengths, and the message as JSON. */
export function packetHead(message: object, bodyBytes: number): Uint8Array {
  const text = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(HEADER_BYTES + text.length);
  head.writeUInt32LE(text.length, 0);
  head.writeUInt32LE(bodyBytes, 4);
  head.set(text, HEADER_BYTES);
  return head;
}

/** The packets of a stream, to its end. @throws Error if it is truncated or malformed */
export async function* readPackets<Message>(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<Packet<Message>> {
  const reader = createByteReader(stream);
  for (;;) {
    const packet = await readPacket<Message>(reader);
    if (packet === undefined) return;
    yield packet;
  }
}

/** The next packet; undefined at the end. @throws Error if it is truncated or malformed */
export async function readPacket<Message>(
  reader: ByteReader,
): Promise<Packet<Message> | undefined> {
  const lengths = await reader.take(HEADER_BYTES);
  if (lengths === undefined) return undefined;
  const view = new DataView(lengths.buffer);
  const [textBytes, bodyBytes] = [view.getUint32(0, true), view.getUint32(4, true)];
  if (textBytes + bodyBytes > MAX_BYTES) throw new Error("this is no stream of packets");
  const text = await reader.take(textBytes);
  const body = bodyBytes === 0 ? new Uint8Array(0) : await reader.take(bodyBytes);
  if (text === undefined || body === undefined) throw new Error("the stream was cut off");
  return { message: JSON.parse(Buffer.from(text).toString()), body };
}

/** Reads a stream in chunks of given sizes. */
export type ByteReader = {
  /** The next bytes, a copy. Undefined at the end of the stream. @throws Error if it ends within them */
  take(size: number): Promise<Uint8Array | undefined>;
  /** Like `take`, without keeping them. @returns whether there were that many */
  skip(size: number): Promise<boolean>;
};

export function createByteReader(stream: ReadableStream<Uint8Array>): ByteReader {
  const reader = stream.getReader();
  let piece: Uint8Array = new Uint8Array(0);
  /** Whether there is a non-empty chunk. */
  const fill = async (): Promise<boolean> => {
    while (piece.length === 0) {
      const next = await reader.read();
      if (next.done) return false;
      piece = next.value;
    }
    return true;
  };
  return {
    take: async (size) => {
      const bytes = new Uint8Array(size);
      let filled = 0;
      while (filled < size) {
        if (!(await fill())) {
          if (filled === 0) return undefined;
          throw new Error("the stream was cut off");
        }
        const part = piece.subarray(0, size - filled);
        bytes.set(part, filled);
        filled += part.length;
        piece = piece.subarray(part.length);
      }
      return bytes;
    },
    skip: async (size) => {
      let left = size;
      while (left > 0) {
        if (!(await fill())) return false;
        const part = Math.min(left, piece.length);
        left -= part;
        piece = piece.subarray(part);
      }
      return true;
    },
  };
}
