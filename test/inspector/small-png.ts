import { deflateSync } from "node:zlib";
import type { PNG } from "pngjs";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const COLOURS = 256;

/** A picture of a page as a PNG of its 256 most frequent colours; the others, edges of letters, get the nearest of them. */
export function smallPng({ width, height, data }: PNG): Buffer {
  const pixels = Array.from({ length: width * height }, (_, at) => data.readUIntBE(at * 4, 3));
  const counts = new Map<number, number>();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const palette = [...counts]
    .toSorted(([a, many], [b, more]) => more - many || a - b)
    .slice(0, COLOURS)
    .map(([colour]) => colour);
  const places = new Map(palette.map((colour, place) => [colour, place]));
  const rows = Buffer.alloc((width + 1) * height);
  for (const [at, pixel] of pixels.entries()) {
    const place = places.get(pixel) ?? nearest(palette, pixel);
    places.set(pixel, place);
    rows[at + Math.floor(at / width) + 1] = place;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits a pixel, each the place of a colour in the palette.
  header.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.from(palette.flatMap((one) => [one >> 16, (one >> 8) & 255, one & 255]));
  return Buffer.concat([
    SIGNATURE,
    chunk("IHDR", header),
    chunk("PLTE", colours),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function nearest(palette: readonly number[], colour: number): number {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const [place, other] of palette.entries()) {
    const distance = [16, 8, 0].reduce((sum, shift) => {
      return sum + (((colour >> shift) & 255) - ((other >> shift) & 255)) ** 2;
    }, 0);
    if (distance < least) [best, least] = [place, distance];
  }
  return best;
}

function chunk(name: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name), content]);
  const whole = Buffer.alloc(named.length + 8);
  whole.writeUInt32BE(content.length, 0);
  named.copy(whole, 4);
  whole.writeUInt32BE(Bun.hash.crc32(named), named.length + 4);
  return whole;
}
