/**
 * Whether a JPEG has its end, and a GIF that of its first picture: their decoders fill up with grey what is cut off. Other files are whole
 * here, since their decoders refuse such.
 */
export function isWhole(file: Buffer): boolean {
  if (file.toString("latin1", 0, 2) === "\xff\xd8") return hasJpegEnd(file);
  if (/^GIF8[79]a$/.test(file.toString("latin1", 0, 6))) return hasGifPicture(file);
  return true;
}

const END_OF_IMAGE = 0xd9;
const START_OF_SCAN = 0xda;

function hasJpegEnd(file: Buffer): boolean {
  let at = 2;
  while (at + 1 < file.length) {
    const marker = file[at + 1];
    if (file[at] !== 0xff) return false;
    if (marker === END_OF_IMAGE) return true;
    if (marker === 0xff) at += 1;
    else if (at + 4 > file.length) return false;
    else at += 2 + file.readUInt16BE(at + 2);
    if (marker === START_OF_SCAN) at = scanEnd(file, at);
  }
  return false;
}

/** The next marker that does not belong to the data of a scan, as stuffed bytes and restarts do. */
function scanEnd(file: Buffer, start: number): number {
  for (let at = file.indexOf(0xff, start); at >= 0; at = file.indexOf(0xff, at + 1)) {
    const next = file[at + 1] ?? 0;
    if (next !== 0 && (next < 0xd0 || next > 0xd7)) return at;
  }
  return file.length;
}

const EXTENSION = 0x21;
const PICTURE = 0x2c;

function hasGifPicture(file: Buffer): boolean {
  let at = 13 + paletteBytes(file[10] ?? 0);
  while (file[at] === EXTENSION) at = blocksEnd(file, at + 2);
  if (file[at] !== PICTURE) return false;
  const data = at + 10 + paletteBytes(file[at + 9] ?? 0) + 1;
  return blocksEnd(file, data) <= file.length;
}

function paletteBytes(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

/** Behind the empty block that ends a row of blocks. */
function blocksEnd(file: Buffer, start: number): number {
  let at = start;
  while (at < file.length && file[at] !== 0) at += (file[at] ?? 0) + 1;
  return at + 1;
}
