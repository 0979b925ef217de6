import {
  createSelection,
  GREYS_HEIGHT,
  GREYS_WIDTH,
  type Greys,
} from "../../domain/records/observation.ts";
import {
  type ByteReader,
  createByteReader,
  Refusal,
  type Send,
  type VideoRequest,
} from "./protocol.ts";
import { hashSource, isUnchanged } from "./source.ts";
import { startTool } from "./tool.ts";

const MAX_PICTURE_BYTES = 256 * 2 ** 20;
const QUALITY = 90;
const NO_CONTAINER = "its content is none of MP4, MOV, Matroska, WebM, AVI and MPEG";
const NO_INDEX = "it is no MP4 or MOV, or one that is cut off";
/** ffmpeg's messages about a truncated MP4, Matroska or WebM. */
const CUT_OFF = /partial file|File ended prematurely/;
const MAX_TOLD = 200;

/** Reads a video: its hash, its time, the examined frames and the kept pictures. @throws Refusal */
export async function runVideoJob(request: VideoRequest, send: Send): Promise<void> {
  const { sha256, state } = await hashSource(request.path);
  if (state.size === 0n) throw new Refusal("unsupported_source", "it is empty");
  const probed = await probeVideo(request, send);
  if ((probed.durationS ?? 0) * request.fps > request.limits.frames) throw tooLong(request);
  await send({ kind: "source", sha256, ...probed });
  const count = await decode(request, send);
  if (count === 0) throw undecodable("it has no frame");
  if (await isUnchanged(request.path, state)) return;
  throw undecodable("it was changed while it was read");
}

async function decode(request: VideoRequest, send: Send): Promise<number> {
  const tool = await startTool([request.ffmpeg, ...decodeArguments(request)], send);
  let count = 0;
  try {
    count = await selectFrames(request, createByteReader(tool.output), send);
  } catch (error) {
    tool.kill();
    const { complaint } = await tool.ended();
    throw error instanceof Refusal ? error : ffmpegFailed(request, complaint);
  }
  const { exitCode, complaint } = await tool.ended();
  // Of a truncated file ffmpeg decodes what is there, and reports success.
  if (exitCode === 0 && !CUT_OFF.test(complaint)) return count;
  throw ffmpegFailed(request, complaint);
}

/** ffmpeg's many messages about videos that are not its fault. */
function ffmpegFailed({ path, limits }: VideoRequest, complaint: string): Refusal {
  if (complaint.includes("Format not on whitelist")) return undecodable(NO_CONTAINER);
  if (complaint.includes("moov atom not found")) return undecodable(NO_INDEX);
  if (CUT_OFF.test(complaint)) return undecodable("it is cut off");
  if (complaint.includes("matches no streams")) return undecodable("it has no moving picture");
  if (complaint.includes("exceeds specified max pixel count")) {
    return undecodable(
      `its frames have more than ${Math.floor(limits.pixels / 1e6)} million pixels`,
    );
  }
  const last = complaint.split("\n").at(-1)?.replace(`file:${path}: `, "").slice(0, MAX_TOLD);
  return undecodable(`ffmpeg failed (${last || "it says no reason"})`);
}

function undecodable(reason: string): Refusal {
  return new Refusal("frame_decode_failed", reason);
}

/** Every examined frame, as a BMP. */
function decodeArguments(request: VideoRequest): readonly string[] {
  const { fps, frameWidth: width } = request;
  const fit = "force_original_aspect_ratio=decrease:force_divisible_by=2";
  return [
    // Frames that no other depends on are skipped, which saves up to a half; the previous one is shown at most 0.1 s earlier.
    ...["-skip_frame", "noref"],
    ...readingOf(request),
    // A capital V excludes cover pictures. Rounding up gives the frame shown at its time, not one half a second later.
    ...["-map", "0:V:0", "-vf"],
    `setpts=PTS-STARTPTS,fps=${fps}:round=up,scale=${width}:${4 * width}:${fit},format=bgr24`,
    ...["-c:v", "bmp", "-f", "image2pipe", "pipe:1"],
  ];
}

/** The supported containers, excluding playlists and file lists, which refer to other files. */
const DEMUXERS = "mov,matroska,avi,mpeg,mpegvideo";

/**
 * Arguments with which ffmpeg and ffprobe open only this video: by a name that is neither an option nor a protocol, from files alone, in
 * these containers, with limits for frame size and memory.
 */
function readingOf({ path, limits }: VideoRequest): readonly string[] {
  return [
    ...["-v", "error", "-max_alloc", String(limits.allocation)],
    ...["-protocol_whitelist", "file,pipe", "-format_whitelist", DEMUXERS],
    ...["-max_pixels", String(limits.pixels), "-threads", "2"],
    ...["-i", `file:${path}`],
  ];
}

function tooLong({ fps, limits }: VideoRequest): Refusal {
  return undecodable(`it has more than ${limits.frames} frames at ${fps} a second`);
}

/** @returns the number of examined frames */
async function selectFrames(
  request: VideoRequest,
  reader: ByteReader,
  send: Send,
): Promise<number> {
  const { limits, fps } = request;
  const selection = createSelection(request);
  let index = 0;
  for (let bmp = await nextBmp(reader); bmp !== undefined; bmp = await nextBmp(reader)) {
    if (index === limits.frames) throw tooLong(request);
    const timeS = index / fps;
    const verdict = selection.offer(greysOf(bmp), timeS);
    const picture =
      verdict.reason === undefined
        ? undefined
        : await new Bun.Image(bmp).jpeg({ quality: QUALITY }).bytes();
    await send({ kind: "frame", index, timeS, ...verdict }, picture);
    index += 1;
  }
  return index;
}

/** Bytes before the size of a BMP, and to its end. */
const SIZE_AT = 2;
const SIZE_END = 6;

/** The next of the pictures that ffmpeg writes one after another; undefined at the end. */
async function nextBmp(reader: ByteReader): Promise<Buffer | undefined> {
  const head = await reader.take(SIZE_END);
  if (head === undefined) return undefined;
  const size = Buffer.from(head).readUInt32LE(SIZE_AT);
  if (size <= SIZE_END || size > MAX_PICTURE_BYTES) throw new Error("a picture of no size");
  const rest = await reader.take(size - SIZE_END);
  if (rest === undefined) throw new Error("the stream was cut off");
  return Buffer.concat([head, rest]);
}

/** The mean greys of a 24-bit BMP, in 64 columns and 36 rows. */
function greysOf(bmp: Buffer): Greys {
  const [start, width] = [bmp.readUInt32LE(10), bmp.readInt32LE(18)];
  const height = Math.abs(bmp.readInt32LE(22));
  const rowBytes = Math.ceil((width * 3) / 4) * 4;
  const sums = new Float64Array(GREYS_WIDTH * GREYS_HEIGHT);
  const counts = new Uint32Array(sums.length);
  for (let y = 0; y < height; y++) {
    const row = Math.floor((y * GREYS_HEIGHT) / height) * GREYS_WIDTH;
    for (let x = 0, at = start + y * rowBytes; x < width; x++, at += 3) {
      const cell = row + Math.floor((x * GREYS_WIDTH) / width);
      const [blue = 0, green = 0, red = 0] = [bmp[at], bmp[at + 1], bmp[at + 2]];
      sums[cell] = (sums[cell] ?? 0) + 0.114 * blue + 0.587 * green + 0.299 * red;
      counts[cell] = (counts[cell] ?? 0) + 1;
    }
  }
  return sums.map((sum, cell) => sum / Math.max(1, counts[cell] ?? 0));
}

const LIMIT_MS = 120_000;

type Probed = { readonly created?: string | undefined; readonly durationS?: number | undefined };

/** Empty if ffprobe is missing, fails or takes too long: decoding will show what is wrong with a video. */
async function probeVideo(request: VideoRequest, send: Send): Promise<Probed> {
  if (request.ffprobe === undefined) return {};
  const wanted = ["-show_entries", "format=duration:format_tags=creation_time", "-of", "json"];
  const tool = await startTool([request.ffprobe, ...readingOf(request), ...wanted], send);
  const timer = setTimeout(tool.kill, LIMIT_MS);
  try {
    const text = await new Response(tool.output).text();
    const { exitCode } = await tool.ended();
    return exitCode === 0 ? probedOf(JSON.parse(text)) : {};
  } catch {
    return {};
  } finally {
    clearTimeout(timer);
  }
}

function probedOf(answer: {
  readonly format?: {
    readonly duration?: string;
    readonly tags?: { readonly creation_time?: string };
  };
}): Probed {
  const duration = Number(answer.format?.duration);
  return {
    created: answer.format?.tags?.creation_time,
    durationS: duration > 0 ? duration : undefined,
  };
}
