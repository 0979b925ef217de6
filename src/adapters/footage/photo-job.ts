import readExif from "exif-reader";
import { PNG } from "pngjs";
import { type ExifTime, type PhotoRequest, Refusal, type Send } from "./protocol.ts";
import { isRiff, isStillBrand, isTiff, readSource } from "./source.ts";
import { startTool } from "./tool.ts";

const QUALITY = 92;

const HEAD_BYTES = 64;

/** How to turn a picture upright, by EXIF orientation: degrees clockwise, then mirrored horizontally. */
const TURNS: Readonly<Record<number, { readonly degrees: number; readonly isMirrored: boolean }>> =
  {
    2: { degrees: 0, isMirrored: true },
    3: { degrees: 180, isMirrored: false },
    4: { degrees: 180, isMirrored: true },
    5: { degrees: 90, isMirrored: true },
    6: { degrees: 90, isMirrored: false },
    7: { degrees: 270, isMirrored: true },
    8: { degrees: 270, isMirrored: false },
  };

/** Reads a photo: its hash, its time, and the picture, upright on white as JPEG. @throws Refusal */
export async function runPhotoJob(
  request: PhotoRequest,
  body: Uint8Array,
  send: Send,
): Promise<void> {
  const { source, limits } = request;
  const file =
    "path" in source ? await readSource(source.path, limits.bytes) : Buffer.from(body.buffer);
  if (file.length === 0) throw new Refusal("unsupported_source", "it is empty");
  const sha256 = new Bun.CryptoHasher("sha256").update(file).digest("hex");
  const { time, orientation } = photoTags(file);
  const picture = await pictureOf(file, orientation, request, send);
  await send({ kind: "source", sha256, exif: time });
  await send({ kind: "picture" }, picture);
}

async function pictureOf(
  file: Buffer,
  orientation: number,
  { ffmpeg, limits }: PhotoRequest,
  send: Send,
): Promise<Uint8Array> {
  const head = file.toString("latin1", 0, HEAD_BYTES);
  // Other systems decode TIFF themselves.
  const isOurs = isTiff(head) && process.platform === "linux";
  const content = isOurs ? await fromTiff(file, ffmpeg, limits, send) : file;
  try {
    const image = new Bun.Image(content, { maxPixels: limits.pixels });
    const { format } = await image.metadata();
    if (!isWhole(file)) throw new Refusal("unsupported_source", "it is cut off");
    // JPEG and HEIC are turned by their decoders.
    const turn = ["jpeg", "heic", "avif"].includes(format) ? undefined : TURNS[orientation];
    if (turn !== undefined) image.rotate(turn.degrees);
    if (turn?.isMirrored) image.flop();
    image.resize(limits.edge, limits.edge, { fit: "inside", withoutEnlargement: true });
    if (!["png", "webp", "gif"].includes(format)) return await jpegOf(image);
    const flat = onWhite(await image.png({ compressionLevel: 1 }).buffer());
    return await jpegOf(flat === undefined ? image : new Bun.Image(flat));
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal("unsupported_source", whyNot(error, head, limits.pixels), { cause: error });
  }
}

function isAnimatedWebp(head: string): boolean {
  return isRiff(head, "WEBP") && head.slice(12, 16) === "VP8X" && (head.charCodeAt(20) & 2) !== 0;
}

async function jpegOf(image: Bun.Image): Promise<Uint8Array> {
  return await image.jpeg({ quality: QUALITY }).bytes();
}

function whyNot(error: unknown, head: string, pixels: number): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
    case "ERR_IMAGE_TOO_MANY_PIXELS":
      return `it has more than ${Math.floor(pixels / 1e6)} million pixels`;
    case "ERR_IMAGE_FORMAT_UNSUPPORTED":
      return isStillBrand(head)
        ? "HEIC, HEIF and AVIF need a decoder of the system, which is missing here; convert it to JPEG"
        : "its format needs a decoder of the system, which is missing here; convert it to JPEG";
    case "ERR_IMAGE_DECODE_FAILED":
      return isAnimatedWebp(head)
        ? "it is an animation as WebP, of which no picture can be read"
        : "it is damaged";
    default:
      return "it holds no picture that can be read";
  }
}

/** The first picture of a TIFF file, as BMP. @throws Refusal */
async function fromTiff(
  file: Buffer,
  ffmpeg: string | undefined,
  { pixels, edge }: PhotoRequest["limits"],
  send: Send,
): Promise<Uint8Array> {
  if (ffmpeg === undefined) {
    throw new Refusal("unsupported_source", "TIFF needs ffmpeg, which is not installed");
  }
  const only = ["-protocol_whitelist", "pipe", "-format_whitelist", "tiff_pipe"];
  // Without its size, a pipe is cut into chunks that hold no complete picture.
  const input = ["-f", "tiff_pipe", "-frame_size", String(file.length), "-i", "pipe:0"];
  const size = `w='min(${edge},iw)':h='min(${edge},ih)':force_original_aspect_ratio=decrease`;
  const output = ["-frames:v", "1", "-vf", `scale=${size}`, "-pix_fmt", "bgr24", "-c:v", "bmp"];
  const bounds = ["-v", "error", "-max_pixels", String(pixels)];
  const command = [ffmpeg, ...bounds, ...only, ...input, ...output, "-f", "image2pipe", "pipe:1"];
  const tool = await startTool(command, send, file);
  const picture = await new Response(tool.output).bytes();
  const { complaint } = await tool.ended();
  if (picture.length > 0) return picture;
  throw new Refusal(
    "unsupported_source",
    `ffmpeg cannot read it (${complaint.split("\n").at(-1)})`,
  );
}

/**
 * Whether a JPEG is complete, and a GIF's first picture: their decoders fill missing data with grey. True for other files, whose decoders
 * reject truncated ones.
 */
function isWhole(file: Buffer): boolean {
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

/** The next marker outside scan data; stuffed bytes and restarts belong to that. */
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

/** After the empty block that ends a sequence of blocks. */
function blocksEnd(file: Buffer, start: number): number {
  let at = start;
  while (at < file.length && file[at] !== 0) at += (file[at] ?? 0) + 1;
  return at + 1;
}

/** Bytes of EXIF that are read: the size of a JPEG segment. */
const MAX_EXIF_BYTES = 2 ** 16;

/** The tag that points to the photo's own tags. */
const PHOTO_TAGS = 0x8769;
/** Orientation, DateTimeOriginal and OffsetTimeOriginal. */
const WANTED = [0x0112, PHOTO_TAGS, 0x9003, 0x9011];
const ENTRY_BYTES = 12;
/** Maximum values, or characters, of a wanted tag. */
const MAX_VALUES = 64;

type PhotoTags = {
  /** DateTimeOriginal and its offset. Undefined: absent or invalid. */
  readonly time: ExifTime | undefined;
  /** 1 to 8, as EXIF numbers them; 1 is upright. */
  readonly orientation: number;
};

const NO_TAGS: PhotoTags = { time: undefined, orientation: 1 };

/** Damaged EXIF is ignored: it says nothing about the picture. */
function photoTags(file: Buffer): PhotoTags {
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
  // The library normalizes a 13th month into the next year: then its result differs from the text.
  if (!block.includes(local.replaceAll("-", ":").replace("T", " "))) return undefined;
  return {
    local,
    offset: typeof offset === "string" ? offset.split("\0", 1)[0]?.trim() : undefined,
  };
}

/**
 * The block reduced to the wanted tags. The library reads all, and each of 5,000 may claim to be as long as the block, which would take
 * gigabytes.
 */
function onlyWanted(block: Buffer): Buffer {
  const copy = Buffer.from(block);
  const view = new DataView(copy.buffer, copy.byteOffset, copy.length);
  const isLittle = copy[0] === 0x49;
  const photo = keepWanted(view, view.getUint32(4, isLittle), isLittle);
  if (photo !== undefined) keepWanted(view, photo, isLittle);
  return copy;
}

/** Clears the type of all other tags in a directory. @returns the offset of the photo's own tags */
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

/** What precedes the block in JPEG, HEIC, AVIF and WebP, or in PNG. */
const MARKS = ["Exif\0\0", "eXIf"].flatMap((mark) => [`${mark}II*\0`, `${mark}MM\0*`]);

/** The block with the tags, from its byte order mark on. */
function exifBlock(file: Buffer): Buffer | undefined {
  if (isTiff(file.toString("latin1", 0, 12))) return file;
  for (const mark of MARKS) {
    const at = file.indexOf(mark, 0, "latin1");
    if (at >= 0) return file.subarray(at + mark.length - 4).subarray(0, MAX_EXIF_BYTES);
  }
  // In a WebP chunk it may begin without a signature, after its name and its length.
  const chunk = isRiff(file.toString("latin1", 0, 12), "WEBP")
    ? file.indexOf("EXIF", 0, "latin1")
    : -1;
  return chunk < 0 ? undefined : file.subarray(chunk + 8).subarray(0, MAX_EXIF_BYTES);
}

const PNG_COLOUR_TYPE = 25;
const COLOUR = 2;
const COLOUR_WITH_ALPHA = 6;

/** A PNG on white: transparency would become black, and hide dark text. @returns undefined if it has no transparency */
function onWhite(png: Buffer): Buffer | undefined {
  if (png[PNG_COLOUR_TYPE] !== COLOUR_WITH_ALPHA) return undefined;
  const [colorType, deflateLevel, filterType] = [COLOUR, 1, 0] as const;
  return PNG.sync.write(PNG.sync.read(png), { colorType, deflateLevel, filterType });
}
