import { extname } from "node:path";

export type MediaKind = "photo" | "video";

/** Bytes of the beginning that tell what a file is. */
export const LEADING_BYTES = 16;

const SUFFIXES: Readonly<Record<MediaKind, readonly string[]>> = {
  photo: ["jpg", "jpeg", "png", "webp", "gif", "bmp", "tif", "tiff", "heic", "heif", "avif"],
  video: ["mp4", "m4v", "mov", "mkv", "webm", "avi", "mpg", "mpeg"],
};

/** Brands of ISO media files with a still picture. */
const STILL_BRANDS = [
  "heic",
  "heix",
  "hevc",
  "hevx",
  "heim",
  "heis",
  "mif1",
  "msf1",
  "avif",
  "avis",
];
/** First boxes of QuickTime files that are older than brands. */
const MOVIE_BOXES = ["moov", "mdat", "wide", "free"];

/** What a name and, if the name does not tell, the first bytes say. Undefined: neither does. */
export function mediaKind(name: string, leading: Uint8Array): MediaKind | undefined {
  const suffix = extname(name).slice(1).toLowerCase();
  if (SUFFIXES.photo.includes(suffix)) return "photo";
  if (SUFFIXES.video.includes(suffix)) return "video";
  return kindOfContent(leading);
}

/** What files of a kind begin with, as latin-1; two of them tell their kind only after a length. */
const BEGINNINGS: Readonly<Record<MediaKind, readonly string[]>> = {
  photo: ["\xff\xd8\xff", "\x89PNG\r\n\x1a\n", "GIF87a", "GIF89a", "BM", "II*\0", "MM\0*"],
  video: ["\x1aE\xdf\xa3", "\0\0\x01\xba", "\0\0\x01\xb3"],
};

function kindOfContent(leading: Uint8Array): MediaKind | undefined {
  const text = Buffer.from(leading.subarray(0, LEADING_BYTES)).toString("latin1");
  const box = text.slice(4, 8);
  if (isStillBrand(text)) return "photo";
  if (box === "ftyp" || MOVIE_BOXES.includes(box)) return "video";
  if (isRiff(text, "WEBP") || BEGINNINGS.photo.some((start) => text.startsWith(start)))
    return "photo";
  if (isRiff(text, "AVI ") || BEGINNINGS.video.some((start) => text.startsWith(start)))
    return "video";
  return undefined;
}

/** @param leading the first bytes, as latin-1 */
export function isRiff(leading: string, kind: string): boolean {
  return leading.startsWith("RIFF") && leading.slice(8, 12) === kind;
}

/** @param leading the first bytes, as latin-1 */
export function isTiff(leading: string): boolean {
  return leading.startsWith("II*\0") || leading.startsWith("MM\0*");
}

/** Whether a file holds a picture as HEIC, HEIF or AVIF. @param leading its first bytes, as latin-1 */
export function isStillBrand(leading: string): boolean {
  return leading.slice(4, 8) === "ftyp" && STILL_BRANDS.includes(leading.slice(8, 12));
}
