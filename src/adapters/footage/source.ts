import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, extname } from "node:path";
import { SvcError } from "../../domain/errors.ts";
import { shownName } from "../../lib/text.ts";
import type { FootageInput, PhotoIdentity } from "../../ports/footage.ts";
import { FOOTAGE_LIMITS, Refusal, tooLarge } from "./protocol.ts";

export type Found = {
  /** Undefined: unnamed bytes. */
  readonly name: string | undefined;
  /** The name whose suffix determines the kind. */
  readonly fileName: string | undefined;
  /** Absolute, links resolved. */
  readonly path: string | undefined;
  readonly bytes: Uint8Array | undefined;
  readonly leading: Uint8Array;
  /** Since the Unix epoch; undefined for bytes. */
  readonly modifiedMicros: number | undefined;
};

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  ELOOP: "its links lead in a circle",
  ENAMETOOLONG: "there is no such file",
};

/** @throws SvcError not_found if there is no file or it is a folder, unsupported_source if it is no file or cannot be read */
export function findSource(input: FootageInput, sourceName: string | undefined): Found {
  if ("bytes" in input) {
    const { bytes } = input;
    const leading = bytes.subarray(0, LEADING_BYTES);
    return {
      name: sourceName,
      fileName: sourceName,
      path: undefined,
      bytes,
      leading,
      modifiedMicros: undefined,
    };
  }
  const name = basename(input.path);
  try {
    // The target of a link may have another name.
    return { ...lookAt(realpathSync(input.path)), name: sourceName ?? name, fileName: name };
  } catch (error) {
    if (error instanceof SvcError || !(error instanceof Error)) throw error;
    const code = "code" in error ? String(error.code) : "";
    const reason = REASONS[code];
    if (reason !== undefined) throw missingFile(input.path, reason);
    throw unreadable(name, `it cannot be read (${code || error.message})`, error);
  }
}

function lookAt(path: string): Omit<Found, "name" | "fileName"> {
  const file = openSync(path, READ_WITHOUT_WAITING);
  try {
    const stat = fstatSync(file, { bigint: true });
    if (stat.isDirectory()) throw missingFile(path, "it is a folder");
    if (!stat.isFile()) throw unreadable(basename(path), "it is no file but a device or pipe");
    const leading = new Uint8Array(LEADING_BYTES);
    const count = readSync(file, leading);
    const modifiedMicros = Number(stat.mtimeNs / 1000n);
    return { path, bytes: undefined, leading: leading.subarray(0, count), modifiedMicros };
  } finally {
    closeSync(file);
  }
}

function missingFile(path: string, reason: string): SvcError {
  return new SvcError("not_found", `${shownName(path)} cannot be observed: ${reason}`, {
    kind: "file",
    id: path,
  });
}

function unreadable(name: string, reason: string, cause?: unknown): SvcError {
  const message = `${shownName(name)} cannot be observed: ${reason}`;
  return new SvcError("unsupported_source", message, { source: name }, { cause });
}

/** Hex digits of the hash in the name of unnamed bytes. */
const HASH_IN_NAME = 12;

export function nameOf({ name }: Pick<Found, "name">, sha256: string): string {
  return name ?? `bytes:${sha256.slice(0, HASH_IN_NAME)}`;
}

/** @throws SvcError as `FootageReader.identify` */
export async function identifyPhoto(
  input: FootageInput,
  sourceName: string | undefined,
): Promise<PhotoIdentity | undefined> {
  const found = findSource(input, sourceName);
  const { path, bytes = new Uint8Array(0), leading, fileName = "" } = found;
  const size = path === undefined ? bytes.length : Bun.file(path).size;
  const isReadable = size <= FOOTAGE_LIMITS.photo.bytes;
  if (!isReadable || mediaKind(fileName, leading) !== "photo") return undefined;
  try {
    const sha256 =
      path === undefined
        ? new Bun.CryptoHasher("sha256").update(bytes).digest("hex")
        : (await hashSource(path)).sha256;
    return { name: nameOf(found, sha256), path, sha256 };
  } catch (error) {
    // Opening it reports the error.
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

const PIECE_BYTES = 2 ** 20;
/** How a file is opened: a pipe without a writer would block forever. */
const READ_WITHOUT_WAITING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

type FileState = { readonly size: bigint; readonly mtimeNs: bigint; readonly ino: bigint };

/** The content of a file. @throws Refusal if there is none, or it exceeds `limit` bytes */
export async function readSource(path: string, limit: number): Promise<Buffer> {
  return await withSource(path, async (file, { size }) => {
    if (size > limit) {
      throw new Refusal("unsupported_source", tooLarge("it has", limit));
    }
    return await file.readFile();
  });
}

/** The SHA-256 of a file, in hex, and its state when read. @throws Refusal if it is not a file */
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

type MediaKind = "photo" | "video";

export const LEADING_BYTES = 16;

const SUFFIXES: Readonly<Record<MediaKind, readonly string[]>> = {
  photo: ["jpg", "jpeg", "png", "webp", "gif", "bmp", "tif", "tiff", "heic", "heif", "avif"],
  video: ["mp4", "m4v", "mov", "mkv", "webm", "avi", "mpg", "mpeg"],
};

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
/** First boxes of QuickTime files older than brands. */
const MOVIE_BOXES = ["moov", "mdat", "wide", "free"];

/** The kind by the name or else by the first bytes. Undefined: unknown. */
export function mediaKind(name: string, leading: Uint8Array): MediaKind | undefined {
  const suffix = extname(name).slice(1).toLowerCase();
  if (SUFFIXES.photo.includes(suffix)) return "photo";
  if (SUFFIXES.video.includes(suffix)) return "video";
  return kindOfContent(leading);
}

/** Magic bytes of each kind, as latin-1; in two kinds they follow a length. */
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
