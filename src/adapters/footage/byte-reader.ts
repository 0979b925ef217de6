/** Reads a stream in pieces of given sizes. */
export type ByteReader = {
  /** The next bytes, a copy. Undefined: the stream is at its end. @throws Error if it ends within them */
  take(size: number): Promise<Uint8Array | undefined>;
  /** As `take`, without keeping them. @returns whether there were so many */
  skip(size: number): Promise<boolean>;
};

export function createByteReader(stream: ReadableStream<Uint8Array>): ByteReader {
  const reader = stream.getReader();
  let piece: Uint8Array = new Uint8Array(0);
  /** Whether there is a piece with something in it. */
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
