import { createSelection, type Verdict } from "../../domain/keyframes/selection.ts";
import {
  SIGNATURE_HEIGHT,
  SIGNATURE_WIDTH,
  signatureOf,
} from "../../domain/keyframes/signature.ts";
import { aviFrames } from "./avi-packets.ts";
import { type ByteReader, createByteReader } from "./byte-reader.ts";
import { Refusal, type Send, type VideoRequest } from "./messages.ts";
import { probeVideo } from "./probe.ts";
import { hashSource, isUnchanged } from "./source-file.ts";
import { startTool } from "./tool.ts";
import { readingOf } from "./video-input.ts";

const SIGNATURE_BYTES = SIGNATURE_WIDTH * SIGNATURE_HEIGHT * 3;
/** The largest picture of a frame. */
const MAX_JPEG_BYTES = 64 * 2 ** 20;
/** Quality of the pictures in ffmpeg's scale, 2 (best) to 31. */
const JPEG_SCALE = 3;
const NO_CONTAINER = "its content is none of MP4, MOV, Matroska, WebM, AVI and MPEG";
const NO_INDEX = "it is no MP4 or MOV, or one that is cut off";
/** What ffmpeg says of an MP4, a Matroska or a WebM that ends too early. */
const CUT_OFF = /partial file|File ended prematurely/;
/** Characters of what ffmpeg complains about that are told. */
const MAX_TOLD = 200;
/** The streams of what ffmpeg writes. */
const SIGNATURES = 0;

/** Reads a video: its hash, its time, the frames that were looked at and the pictures of those that are kept. @throws Refusal */
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

/** @returns how many frames were looked at */
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
  // Of a file that is cut off it decodes what is there, and calls that a success.
  if (exitCode === 0 && !CUT_OFF.test(complaint)) return count;
  throw ffmpegFailed(request, complaint);
}

/** What ffmpeg says in many words of videos that are no fault of its own. */
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

/** One decoding for two pictures of every frame: the small one that is compared, and the one that is kept if it changed. */
function decodeArguments(request: VideoRequest): readonly string[] {
  const { fps, frameWidth: width } = request;
  const small = `scale=${SIGNATURE_WIDTH}:${SIGNATURE_HEIGHT}:flags=area,format=bgr24`;
  const fit = "force_original_aspect_ratio=decrease:force_divisible_by=2";
  const large = `scale=${width}:${4 * width}:${fit},format=yuvj420p`;
  return [
    // Pictures that no other is made from are left out, which saves up to a half; the one before is shown at most 0.1 s earlier.
    ...["-skip_frame", "noref"],
    ...readingOf(request),
    // A stream with capital V is no picture of a cover.
    // Rounded up, a picture is the one that is shown at its time, not one of half a second later.
    ...[
      "-filter_complex",
      `[0:V:0]setpts=PTS-STARTPTS,fps=${fps}:round=up,split[a][b];[a]${small}[small];[b]${large}[large]`,
    ],
    ...["-map", "[small]", "-c:v:0", "rawvideo"],
    ...["-map", "[large]", "-c:v:1", "mjpeg", "-q:v:1", String(JPEG_SCALE), "-threads:v:1", "1"],
    ...["-flags:v", "+bitexact", "-fflags", "+bitexact", "-map_metadata", "-1"],
    ...["-f", "avi", "pipe:1"],
  ];
}

function tooLong({ fps, limits }: VideoRequest): Refusal {
  return undecodable(`it has more than ${limits.frames} frames at ${fps} a second`);
}

async function selectFrames(
  request: VideoRequest,
  reader: ByteReader,
  send: Send,
): Promise<number> {
  const selection = createSelection(request);
  const judge = async (index: number, size: number): Promise<Verdict> => {
    const { limits, fps } = request;
    const small = size === SIGNATURE_BYTES ? await reader.take(size) : undefined;
    if (small === undefined) throw new Error("no picture of that size");
    if (index === limits.frames) throw tooLong(request);
    return selection.offer(signatureOf(small), index / fps);
  };
  const waiting: Verdict[] = [];
  let [judged, done] = [0, 0];
  for await (const { stream, size } of aviFrames(reader)) {
    // So AVI says that a frame is shown for longer.
    if (size === 0) continue;
    if (stream === SIGNATURES) {
      waiting.push(await judge(judged, size));
      judged += 1;
      continue;
    }
    const verdict = waiting.shift();
    if (verdict === undefined || size > MAX_JPEG_BYTES)
      throw new Error("a picture out of its place");
    const picture = verdict.reason === undefined ? undefined : await reader.take(size);
    if (picture === undefined) await reader.skip(size);
    await send({ kind: "frame", index: done, timeS: done / request.fps, ...verdict }, picture);
    done += 1;
  }
  return done;
}
