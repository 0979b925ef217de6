import { inflateSync } from "node:zlib";

const PNG_COLOUR_TYPE = 25;
const WITH_ALPHA = 6;
const BYTES_A_PIXEL = 4;
/** Bytes before the pixels of a BMP file. */
const BMP_HEAD = 54;

/**
 * A picture laid on white, as BMP: what is transparent would become black, and writing with it.
 * @param png as Bun writes it: 8 bits a colour, not interlaced
 * @returns undefined if it has no transparency
 */
export function onWhite(png: Buffer): Buffer | undefined {
  if (png[PNG_COLOUR_TYPE] !== WITH_ALPHA) return undefined;
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const rows = unfiltered(inflateSync(pixelData(png)), width * BYTES_A_PIXEL, height);
  const rowBytes = Math.ceil((width * 3) / 4) * 4;
  const bmp = bmpHead(width, height, rowBytes);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const from = (y * width + x) * BYTES_A_PIXEL;
      const to = BMP_HEAD + y * rowBytes + x * 3;
      const alpha = (rows[from + 3] ?? 0) / 255;
      for (let colour = 0; colour < 3; colour++) {
        bmp[to + 2 - colour] = Math.round(255 + ((rows[from + colour] ?? 0) - 255) * alpha);
      }
    }
  }
  return bmp;
}

/** The content of all IDAT chunks. */
function pixelData(png: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 8; at + 8 <= png.length; ) {
    const size = png.readUInt32BE(at);
    if (png.toString("latin1", at + 4, at + 8) === "IDAT")
      parts.push(png.subarray(at + 8, at + 8 + size));
    at += 12 + size;
  }
  return Buffer.concat(parts);
}

/** Undoes the filters of the rows: four bytes a pixel, each row after the number of its filter. */
function unfiltered(data: Buffer, rowBytes: number, height: number): Uint8Array {
  const rows = new Uint8Array(rowBytes * height);
  for (let y = 0; y < height; y++) {
    const row = rows.subarray(y * rowBytes, (y + 1) * rowBytes);
    const above =
      y === 0 ? new Uint8Array(rowBytes) : rows.subarray((y - 1) * rowBytes, y * rowBytes);
    const from = y * (rowBytes + 1);
    unfilterRow(data[from] ?? 0, data.subarray(from + 1, from + 1 + rowBytes), above, row);
  }
  return rows;
}

function unfilterRow(filter: number, data: Uint8Array, above: Uint8Array, row: Uint8Array): void {
  for (let i = 0; i < row.length; i++) {
    // Outside of a row there are zeros.
    const left = row[i - BYTES_A_PIXEL] ?? 0;
    const corner = above[i - BYTES_A_PIXEL] ?? 0;
    row[i] = (data[i] ?? 0) + predicted(filter, left, above[i] ?? 0, corner);
  }
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const [toLeft, toUp] = [Math.abs(up - corner), Math.abs(left - corner)];
  const toCorner = Math.abs(left + up - 2 * corner);
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}

function bmpHead(width: number, height: number, rowBytes: number): Buffer {
  const bmp = Buffer.alloc(BMP_HEAD + rowBytes * height);
  bmp.write("BM", 0, "latin1");
  bmp.writeUInt32LE(bmp.length, 2);
  bmp.writeUInt32LE(BMP_HEAD, 10);
  bmp.writeUInt32LE(40, 14);
  bmp.writeInt32LE(width, 18);
  // Below zero: the first row is the topmost.
  bmp.writeInt32LE(-height, 22);
  bmp.writeUInt16LE(1, 26);
  bmp.writeUInt16LE(24, 28);
  bmp.writeUInt32LE(rowBytes * height, 34);
  return bmp;
}
