import readExif from "exif-reader";
import { isRiff, isTiff } from "./media-kind.ts";
import type { ExifTime } from "./protocol.ts";

/** Bytes of EXIF that are looked at: those of a segment of a JPEG. */
const MAX_EXIF_BYTES = 2 ** 16;

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

/** What stands before the block in JPEG, HEIC, AVIF and WebP, or in PNG. */
const MARKS = ["Exif\0\0", "eXIf"].flatMap((mark) => [`${mark}II*\0`, `${mark}MM\0*`]);

/** The block with the tags, from its byte order on. */
function exifBlock(file: Buffer): Buffer | undefined {
  if (isTiff(file.toString("latin1", 0, 12))) return file;
  for (const mark of MARKS) {
    const at = file.indexOf(mark, 0, "latin1");
    if (at >= 0) return file.subarray(at + mark.length - 4).subarray(0, MAX_EXIF_BYTES);
  }
  // In a chunk of WebP it may begin without a mark, after its name and its length.
  const chunk = isRiff(file.toString("latin1", 0, 12), "WEBP")
    ? file.indexOf("EXIF", 0, "latin1")
    : -1;
  return chunk < 0 ? undefined : file.subarray(chunk + 8).subarray(0, MAX_EXIF_BYTES);
}
