import readExif from "exif-reader";
import { isRiff, isTiff } from "./media-kind.ts";
import type { ExifTime } from "./messages.ts";

/** Bytes of EXIF that are looked at; a camera writes some thousands. */
const MAX_EXIF_BYTES = 2 ** 20;

/** The tag that says where the photo's own tags are. */
const PHOTO_TAGS = 0x8769;
/** Orientation, DateTimeOriginal and OffsetTimeOriginal. */
const WANTED = [0x0112, PHOTO_TAGS, 0x9003, 0x9011];
const ENTRY_BYTES = 12;
/** Values, or characters, of a wanted tag. */
const MAX_VALUES = 64;

/** What is wanted of a photo's EXIF. */
export type PhotoTags = {
  /** DateTimeOriginal and its offset. Undefined: there is none, or it is no time that has ever been. */
  readonly time: ExifTime | undefined;
  /** 1 to 8, as EXIF numbers them; 1 is upright. */
  readonly orientation: number;
};

const NO_TAGS: PhotoTags = { time: undefined, orientation: 1 };

/** Damaged EXIF counts as none: it says nothing about the picture. */
export function photoTags(file: Buffer): PhotoTags {
  const block = exifBlock(file);
  if (block === undefined) return NO_TAGS;
  try {
    const { Image, Photo } = readExif(onlyWanted(block));
    const date = Photo?.DateTimeOriginal ?? Image?.["DateTimeOriginal"];
    const orientation = Image?.Orientation;
    return {
      time: timeOf(block, date, Photo?.OffsetTimeOriginal),
      orientation: typeof orientation === "number" ? orientation : 1,
    };
  } catch {
    return NO_TAGS;
  }
}

function timeOf(block: Buffer, date: unknown, offset: unknown): ExifTime | undefined {
  if (!(date instanceof Date) || Number.isNaN(date.getTime())) return undefined;
  const local = date.toISOString().slice(0, 19);
  // The library carries a 13th month over into the next year: then what it read is not what stands there.
  if (!block.includes(local.replaceAll("-", ":").replace("T", " "))) return undefined;
  return {
    local,
    offset: typeof offset === "string" ? offset.split("\0", 1)[0]?.trim() : undefined,
  };
}

/**
 * The block with no other tags than those that are wanted. The library reads all, and each of 5,000 may claim to be as long as the block:
 * that would take gigabytes.
 */
function onlyWanted(block: Buffer): Buffer {
  const copy = Buffer.from(block);
  const view = new DataView(copy.buffer, copy.byteOffset, copy.length);
  const isLittle = copy[0] === 0x49;
  const photo = keepWanted(view, view.getUint32(4, isLittle), isLittle);
  if (photo !== undefined) keepWanted(view, photo, isLittle);
  return copy;
}

/** Takes the type from all other tags of a directory, and the next one from it. @returns where the photo's own tags are */
function keepWanted(view: DataView, start: number, isLittle: boolean): number | undefined {
  let photo: number | undefined;
  const end = start + 2 + view.getUint16(start, isLittle) * ENTRY_BYTES;
  for (let at = start + 2; at < end; at += ENTRY_BYTES) {
    const tag = view.getUint16(at, isLittle);
    const isShort = view.getUint32(at + 4, isLittle) <= MAX_VALUES;
    if (tag === PHOTO_TAGS) photo = view.getUint32(at + 8, isLittle);
    if (!isShort || !WANTED.includes(tag)) view.setUint16(at + 2, 0, isLittle);
  }
  if (end + 4 <= view.byteLength) view.setUint32(end, 0, isLittle);
  return photo;
}

/** The block with the tags, from its byte order on. */
function exifBlock(file: Buffer): Buffer | undefined {
  const start = file.toString("latin1", 0, 12);
  if (isTiff(start)) return file;
  const found = inContainer(file, start);
  if (found === undefined || found.length > MAX_EXIF_BYTES) return undefined;
  return found.toString("latin1", 0, 6) === "Exif\0\0" ? found.subarray(6) : found;
}

function inContainer(file: Buffer, start: string): Buffer | undefined {
  if (start.startsWith("\xff\xd8")) return inJpeg(file);
  if (start.startsWith("\x89PNG"))
    return inChunks(file, { first: 8, name: "eXIf", isLittle: false });
  if (isRiff(start, "WEBP")) return inChunks(file, { first: 12, name: "EXIF", isLittle: true });
  return inBoxes(file, start);
}

/** The first APP1 segment with EXIF, before the picture begins. */
function inJpeg(file: Buffer): Buffer | undefined {
  let at = 2;
  while (at + 10 <= file.length && file[at] === 0xff) {
    const marker = file[at + 1];
    const size = file.readUInt16BE(at + 2);
    if (marker === 0xda || size < 2) return undefined;
    const content = file.subarray(at + 4, at + 2 + size);
    if (marker === 0xe1 && content.toString("latin1", 0, 6) === "Exif\0\0") return content;
    at += 2 + size;
  }
  return undefined;
}

/** PNG has length, name, content and sum; WebP name, length and content, made even. */
function inChunks(
  file: Buffer,
  {
    first,
    name,
    isLittle,
  }: { readonly first: number; readonly name: string; readonly isLittle: boolean },
): Buffer | undefined {
  let at = first;
  while (at + 8 <= file.length) {
    const found = file.toString("latin1", isLittle ? at : at + 4, isLittle ? at + 4 : at + 8);
    const size = isLittle ? file.readUInt32LE(at + 4) : file.readUInt32BE(at);
    if (found === name) return file.subarray(at + 8, at + 8 + size);
    at += 8 + size + (isLittle ? size % 2 : 4);
  }
  return undefined;
}

/** HEIC and AVIF have it anywhere; what announces it is long enough to be nothing else. */
function inBoxes(file: Buffer, start: string): Buffer | undefined {
  if (start.slice(4, 8) !== "ftyp") return undefined;
  for (const order of ["II*\0", "MM\0*"]) {
    const at = file.indexOf(`Exif\0\0${order}`, 0, "latin1");
    if (at >= 0) return file.subarray(at, at + MAX_EXIF_BYTES);
  }
  return undefined;
}
