import type { ByteReader } from "./byte-reader.ts";

/** A frame of one of the streams of an AVI file. */
export type AviFrame = { readonly stream: number; readonly size: number };

/**
 * The frames of an AVI file as ffmpeg writes it into a pipe, in their order. What is asked of the reader between two frames is the
 * content of the first of them: exactly `size` bytes. @throws Error if it is cut off or no such file
 */
export async function* aviFrames(reader: ByteReader): AsyncGenerator<AviFrame> {
  const opening = await reader.take(12);
  if (opening === undefined) return;
  if (textOf(opening, 0) !== "RIFF" || textOf(opening, 8) !== "AVI ")
    throw new Error("no AVI file");
  for (let head = await reader.take(8); head !== undefined; head = await reader.take(8)) {
    const name = textOf(head, 0);
    const size = new DataView(head.buffer).getUint32(4, true);
    const stream = /^(\d\d)d[bc]$/.exec(name)?.[1];
    if (stream !== undefined) yield { stream: Number(stream), size };
    else if (name !== "LIST") await reader.skip(size);
    else if (await isFrameList(reader)) continue;
    else await reader.skip(size - 4);
    await reader.skip(size % 2);
  }
}

/** Whether what follows the head of a list are the frames; then they are read one after another. */
async function isFrameList(reader: ByteReader): Promise<boolean> {
  const kind = await reader.take(4);
  return kind !== undefined && textOf(kind, 0) === "movi";
}

function textOf(bytes: Uint8Array, start: number): string {
  return Buffer.from(bytes.subarray(start, start + 4)).toString("latin1");
}
