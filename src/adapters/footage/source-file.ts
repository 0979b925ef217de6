import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { tooLarge } from "./limits.ts";
import { Refusal } from "./messages.ts";

const PIECE_BYTES = 2 ** 20;
/** How a file is opened: a pipe that nobody writes would be waited for without end. */
export const READ_WITHOUT_WAITING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** What tells whether a file has changed. */
export type FileState = { readonly size: bigint; readonly mtimeNs: bigint; readonly ino: bigint };

/** The content of a file. @throws Refusal if it is none, or larger than `limit` bytes */
export async function readSource(path: string, limit: number): Promise<Buffer> {
  return await withSource(path, async (file, { size }) => {
    if (size > limit) {
      throw new Refusal("unsupported_source", tooLarge("it has", limit));
    }
    return await file.readFile();
  });
}

/** The SHA-256 of a file, in hex, and the state in which it was read. @throws Refusal if it is no file */
export async function hashSource(
  path: string,
): Promise<{ readonly sha256: string; readonly state: FileState }> {
  return await withSource(path, async (file, state) => {
    const hash = new Bun.CryptoHasher("sha256");
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    for (;;) {
      const { bytesRead } = await file.read(piece, 0, PIECE_BYTES, null);
      if (bytesRead === 0) return { sha256: hash.digest("hex"), state };
      hash.update(piece.subarray(0, bytesRead));
    }
  });
}

/** Whether a file is still as it was. */
export async function isUnchanged(path: string, was: FileState): Promise<boolean> {
  return await withSource(path, async (_, is) => {
    return is.size === was.size && is.mtimeNs === was.mtimeNs && is.ino === was.ino;
  });
}

async function withSource<T>(
  path: string,
  work: (file: FileHandle, state: FileState) => Promise<T>,
): Promise<T> {
  const file = await open(path, READ_WITHOUT_WAITING);
  try {
    const state = await file.stat({ bigint: true });
    if (!state.isFile())
      throw new Refusal("unsupported_source", "it is no file but a device or pipe");
    return await work(file, state);
  } finally {
    await file.close();
  }
}
