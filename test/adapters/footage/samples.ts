import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32, deflateSync } from "node:zlib";
import { whyNo } from "../../../scripts/check/test-programs.ts";
import { createFootageReader } from "../../../src/adapters/footage/footage-reader.ts";
import { FOOTAGE_LIMITS, type FootageLimits } from "../../../src/adapters/footage/protocol.ts";
import { createSystemClock } from "../../../src/adapters/system/system.ts";
import type { FootageInput, FootageOptions } from "../../../src/ports/footage.ts";

export const NO_FFMPEG = whyNo("ffmpeg");

export const OPTIONS: FootageOptions = {
  fps: 1,
  frameWidth: 320,
  changeThreshold: 0.55,
  maxGapSeconds: 30,
};

export function folder(): string {
  return mkdtempSync(join(tmpdir(), "svc-footage-test-"));
}

/** Opens a source with the limits of the program, or narrower ones. */
export function openFootage(
  input: FootageInput,
  options: Partial<FootageOptions> = {},
  limits: FootageLimits = FOOTAGE_LIMITS,
) {
  const reader = createFootageReader({
    clock: createSystemClock(),
    environment: process.env,
    limits,
  });
  return reader.open(input, { ...OPTIONS, ...options });
}

/** The code and message with which a source is refused. */
export async function refusal(
  input: FootageInput,
  options: Partial<FootageOptions> = {},
  limits?: FootageLimits,
): Promise<string> {
  try {
    await (await openFootage(input, options, limits)).close();
    return "opened";
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error)) throw error;
    return `${error.code}: ${error.message}`;
  }
}

export function write(path: string, content: Uint8Array | string): string {
  writeFileSync(path, content);
  return path;
}

/** Makes a video with ffmpeg. @param words the inputs and options before its path */
export function makeVideo(path: string, words: readonly string[]): string {
  const command = ["ffmpeg", "-v", "error", "-y", ...words, path];
  const { exitCode, stderr } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new Error(stderr.toString());
  return path;
}

export type Colour = readonly [number, number, number, number?];

/** A PNG whose pixels a function gives, without or with transparency. */
export function png(
  width: number,
  height: number,
  colourOf: (x: number, y: number) => Colour,
  chunks: readonly Buffer[] = [],
): Buffer {
  const channels = colourOf(0, 0).length;
  const raw = Buffer.alloc((width * channels + 1) * height);
  for (let y = 0, at = 0; y < height; y++) {
    at += 1;
    for (let x = 0; x < width; x++) for (const part of colourOf(x, y)) raw[at++] = part ?? 0;
  }
  return rawPng(width, height, channels === 4 ? 6 : 2, deflateSync(raw), chunks);
}

/** A PNG with any claim of its size and any compressed content. */
export function rawPng(
  width: number,
  height: number,
  colourType: number,
  content: Uint8Array,
  chunks: readonly Buffer[] = [],
): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, colourType], 8);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", head),
    ...chunks,
    chunk("IDAT", content),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

export function chunk(name: string, content: Uint8Array): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(content.length, 0);
  head.write(name, 4);
  const end = Buffer.alloc(4);
  end.writeUInt32BE(crc32(Buffer.concat([head.subarray(4), content])), 0);
  return Buffer.concat([head, content, end]);
}

/** EXIF with an orientation, a time and an offset, from its byte order on. */
export function exif(tags: {
  readonly orientation?: number;
  readonly time?: string;
  readonly offset?: string;
}): Buffer {
  const texts = [
    ...(tags.time === undefined ? [] : [{ tag: 0x9003, text: `${tags.time}\0` }]),
    ...(tags.offset === undefined ? [] : [{ tag: 0x9011, text: `${tags.offset}\0` }]),
  ];
  const subAt = 8 + 2 + 2 * 12 + 4;
  const textsAt = subAt + 2 + texts.length * 12 + 4;
  const block = Buffer.alloc(textsAt + texts.reduce((sum, { text }) => sum + text.length, 0));
  block.write("MM\0*", 0, "latin1");
  block.writeUInt32BE(8, 4);
  const entry = (at: number, tag: number, type: number, count: number, value: number): void => {
    block.writeUInt16BE(tag, at);
    block.writeUInt16BE(type, at + 2);
    block.writeUInt32BE(count, at + 4);
    if (type === 3) block.writeUInt16BE(value, at + 8);
    else block.writeUInt32BE(value, at + 8);
  };
  block.writeUInt16BE(2, 8);
  entry(10, 0x0112, 3, 1, tags.orientation ?? 1);
  entry(22, 0x8769, 4, 1, subAt);
  block.writeUInt16BE(texts.length, subAt);
  let place = textsAt;
  for (const [i, { tag, text }] of texts.entries()) {
    const at = subAt + 2 + i * 12;
    entry(at, tag, 2, text.length, place);
    // What fits into four bytes stands in the place of where it stands.
    if (text.length <= 4) block.write(text.padEnd(4, "\0"), at + 8, "latin1");
    else block.write(text, place, "latin1");
    place += text.length;
  }
  return block;
}

/** A segment of a JPEG with EXIF. */
export function exifSegment(block: Uint8Array): Buffer {
  const head = Buffer.from("\xff\xe1\0\0Exif\0\0", "latin1");
  head.writeUInt16BE(block.length + 8, 2);
  return Buffer.concat([head, block]);
}

/** A JPEG with segments right after its beginning. */
export async function jpeg(picture: Uint8Array, ...segments: readonly Buffer[]): Promise<Buffer> {
  const plain = Buffer.from(await new Bun.Image(picture).jpeg({ quality: 95 }).bytes());
  return Buffer.concat([plain.subarray(0, 2), ...segments, plain.subarray(2)]);
}

/** The colours of some pixels of a picture: red, green and blue, each rounded to 0, 128 or 255. */
export async function colours(
  picture: Uint8Array,
  ...places: readonly (readonly [number, number])[]
): Promise<readonly string[]> {
  const { PNG } = await import("pngjs");
  const { data, width } = PNG.sync.read(await new Bun.Image(picture).png().buffer());
  return places.map(([x, y]) => {
    const at = (y * width + x) * 4;
    return [...data.subarray(at, at + 3)]
      .map((part) => Math.min(255, Math.round(part / 128) * 128))
      .join(" ");
  });
}
