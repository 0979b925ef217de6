import { SvcError } from "../../domain/errors.ts";
import { shownName } from "../../lib/shown-name.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Footage, FootageOptions, FootageReader, SampledFrame } from "../../ports/footage.ts";
import { captureTime } from "./capture-clock.ts";
import { askChild, type Environment } from "./child-process.ts";
import { findProgram } from "./find-program.ts";
import { type Found, findSource } from "./find-source.ts";
import { createFrameStore, type FrameStore } from "./frame-store.ts";
import { identifyPhoto, nameOf } from "./identify-photo.ts";
import { FOOTAGE_LIMITS, type FootageLimits, tooLarge } from "./limits.ts";
import { mediaKind } from "./media-kind.ts";
import { type ChildAnswer, type ChildRequest, Refusal } from "./messages.ts";
import { inTemporaryFile } from "./temporary-file.ts";

/** Quality of thumbnails. */
const THUMBNAIL_QUALITY = 80;

export type FootageReaderOptions = {
  readonly clock: Clock;
  /** Its `PATH` tells where `ffmpeg` and `ffprobe` are. */
  readonly environment: Environment;
  /** Default: {@link FOOTAGE_LIMITS}. */
  readonly limits?: FootageLimits | undefined;
};

/** What the child said of a source, and which frames it looked at. */
type Reading = {
  readonly source: Extract<ChildAnswer, { readonly kind: "source" }>;
  readonly frames: readonly SampledFrame[];
};

type Reader = Required<Omit<FootageReaderOptions, "limits">> & { readonly limits: FootageLimits };

/** Reads photos and videos in child processes; videos with the ffmpeg of the system. */
export function createFootageReader(options: FootageReaderOptions): FootageReader {
  const reader: Reader = { ...options, limits: options.limits ?? FOOTAGE_LIMITS };
  return {
    identify: identifyPhoto,
    open: async (input, wanted) => {
      const found = findSource(input, wanted.sourceName);
      const store = createFrameStore();
      try {
        return await openFootage(reader, found, wanted, store);
      } catch (error) {
        store.close();
        if (!(error instanceof Refusal)) throw error;
        const name = found.name ?? "the content";
        const message = `${shownName(name)} cannot be observed: ${error.message}`;
        throw new SvcError(error.code, message, { source: name }, { cause: error });
      }
    },
  };
}

/** @throws Refusal */
async function openFootage(
  reader: Reader,
  found: Found,
  wanted: FootageOptions,
  store: FrameStore,
): Promise<Footage> {
  const kind = mediaKind(found.fileName ?? "", found.leading);
  if (kind === undefined) {
    throw new Refusal(
      "unsupported_source",
      "neither its name nor its content is that of a photo or video",
    );
  }
  const read = kind === "photo" ? readPhoto : readVideo;
  const { source, frames } = await read(reader, found, wanted, store);
  const evidence = { ...source, modifiedMicros: found.modifiedMicros };
  return {
    kind,
    name: nameOf(found, source.sha256),
    path: found.path,
    sha256: source.sha256,
    ...captureTime(evidence, () => reader.clock.now()),
    frames,
    ...picturesOf(store, kind === "photo" ? source.sha256 : undefined),
  };
}

function picturesOf(
  store: FrameStore,
  photoHash: string | undefined,
): Pick<Footage, "picture" | "thumbnail" | "close"> {
  return {
    picture: async (index) => {
      const bytes = store.get(index);
      const sha256 = photoHash ?? new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
      return { bytes, mediaType: "image/jpeg", sha256 };
    },
    thumbnail: async (index, width) =>
      await new Bun.Image(store.get(index))
        .resize(width, width, { fit: "inside", withoutEnlargement: true })
        .jpeg({ quality: THUMBNAIL_QUALITY })
        .bytes(),
    close: async () => store.close(),
  };
}

async function readPhoto(
  { environment, limits: { photo } }: Reader,
  { path, bytes }: Found,
  { signal }: FootageOptions,
  store: FrameStore,
): Promise<Reading> {
  if (bytes !== undefined && bytes.length > photo.bytes) {
    throw new Refusal("unsupported_source", tooLarge("it has", photo.bytes));
  }
  const request: ChildRequest = {
    job: "photo",
    source: path === undefined ? { inBody: true } : { path },
    ffmpeg: findProgram("ffmpeg", environment),
    limits: photo,
  };
  const options = { ...photo, environment, code: "unsupported_source", signal } as const;
  const frames = [{ index: 0, timeS: undefined, change: undefined, reason: "first" }] as const;
  return {
    source: await gather(askChild(request, bytes, options), store, [], photo.bytes),
    frames,
  };
}

async function readVideo(
  reader: Reader,
  found: Found,
  wanted: FootageOptions,
  store: FrameStore,
): Promise<Reading> {
  const { path, bytes } = found;
  const {
    environment,
    limits: { video },
  } = reader;
  const ffmpeg = findProgram("ffmpeg", environment);
  if (ffmpeg === undefined) {
    throw new Refusal(
      "frame_decode_failed",
      "videos need ffmpeg, which is not installed (apt-get install ffmpeg, brew install ffmpeg, winget install ffmpeg)",
    );
  }
  if (path === undefined) {
    return await inTemporaryFile(
      bytes ?? new Uint8Array(0),
      async (copy) => await readVideo(reader, { ...found, path: copy }, wanted, store),
    );
  }
  const { fps, frameWidth, changeThreshold, maxGapSeconds, signal } = wanted;
  const request: ChildRequest = {
    ...{ job: "video", path, ffmpeg, ffprobe: findProgram("ffprobe", environment) },
    ...{ fps, frameWidth, changeThreshold, maxGapSeconds, limits: video },
  };
  const options = { ...video, environment, code: "frame_decode_failed", signal } as const;
  const frames: SampledFrame[] = [];
  return {
    source: await gather(askChild(request, undefined, options), store, frames, video.kept),
    frames,
  };
}

/** Puts the pictures into the store, up to a limit of bytes, and the frames into their list. @returns what the child said of the source */
async function gather(
  answers: ReturnType<typeof askChild>,
  store: FrameStore,
  frames: SampledFrame[],
  limit: number,
): Promise<Reading["source"]> {
  let source: Reading["source"] | undefined;
  for await (const { message, body } of answers) {
    if (message.kind === "source") source = message;
    if (message.kind === "picture") store.add(0, body);
    if (message.kind !== "frame") continue;
    const { index, timeS, change, reason } = message;
    frames.push({ index, timeS, change, reason });
    if (reason !== undefined) store.add(index, body);
    if (store.bytes > limit) {
      throw new Refusal("frame_decode_failed", tooLarge("its kept frames have", limit));
    }
  }
  if (source === undefined) throw new Error("the child said nothing of the source");
  return source;
}
