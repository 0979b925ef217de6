import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Subprocess } from "bun";
import { SvcError } from "../../domain/errors.ts";
import { fromDate, fromEpochMicros, type Instant, parseInstant } from "../../lib/instant.ts";
import { shownName } from "../../lib/text.ts";
import type {
  Footage,
  FootageClock,
  FootageOptions,
  FootageReader,
  SampledFrame,
} from "../../ports/footage.ts";
import type { Clock } from "../../ports/system.ts";
import { EMBEDDED } from "../native/embedded.ts";
import { unpack } from "../native/extract.ts";
import { isRunning } from "../native/process-identity.ts";
import { removeFile } from "../native/system-files.ts";
import {
  type ChildAnswer,
  type ChildBounds,
  type ChildRequest,
  type ExifTime,
  FOOTAGE_LIMITS,
  type FootageLimits,
  type Packet,
  packetHead,
  Refusal,
  type RefusalCode,
  readPackets,
  tooLarge,
} from "./protocol.ts";
import { type Found, findSource, identifyPhoto, mediaKind, nameOf } from "./source.ts";

const THUMBNAIL_QUALITY = 80;

type FootageReaderOptions = {
  readonly clock: Clock;
  /** Its `PATH` locates `ffmpeg` and `ffprobe`. */
  readonly environment: Environment;
  /** Default: {@link FOOTAGE_LIMITS}. */
  readonly limits?: FootageLimits | undefined;
};

/** The child's result for a source, and the frames it examined. */
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

/** Puts the pictures into the store, up to a limit of bytes, and the frames into their list. @returns the child's result for the source */
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

/** The absolute path of a program. Folders that depend on the working directory are excluded: it may belong to anyone. */
function findProgram(name: string, environment: Environment): string | undefined {
  const folders = (environment["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => isAbsolute(folder));
  const path = Bun.which(name, { PATH: folders.join(delimiter), cwd: "/" });
  return path !== null && isAbsolute(path) ? path : undefined;
}

/** What is known about a capture time. */
type ClockEvidence = {
  readonly exif?: ExifTime | undefined;
  /** The time in the container of a video; without an offset it is UTC. */
  readonly created?: string | undefined;
  readonly durationS?: number | undefined;
  /** Microseconds since the Unix epoch; undefined for bytes. */
  readonly modifiedMicros: number | undefined;
};

/** Milliseconds since the Unix epoch of the first and the last representable instant. */
const FIRST_MS = Date.parse("0001-01-02T00:00Z");
const LAST_MS = Date.parse("9999-12-30T00:00Z");

type CaptureTime = { readonly capturedAt: Instant; readonly captureClock: FootageClock };

function captureTime(evidence: ClockEvidence, now: () => Instant): CaptureTime {
  const exif = evidence.exif === undefined ? undefined : exifInstant(evidence.exif);
  if (exif !== undefined) return { capturedAt: exif, captureClock: "exif" };
  const container = evidence.created === undefined ? undefined : containerInstant(evidence.created);
  if (container !== undefined) return { capturedAt: container, captureClock: "container" };
  const file = fileInstant(evidence);
  if (file !== undefined) return { capturedAt: file, captureClock: "file" };
  return { capturedAt: now(), captureClock: "now" };
}

/** With an offset, the moment; without or with an invalid one, the local time of this machine on that date. */
function exifInstant({ local, offset }: ExifTime): Instant | undefined {
  const exact = parseInstant(`${local}${offset ?? ""}`);
  if (typeof exact === "object") return exact.instant;
  const date = new Date(local);
  return isInYears(date.getTime()) ? fromDate(date) : undefined;
}

function containerInstant(created: string): Instant | undefined {
  const parsed = parseInstant(created);
  if (typeof parsed === "object") return parsed.instant;
  const utc = parsed === "naive" ? parseInstant(`${created.trim()}Z`) : "malformed";
  return typeof utc === "object" ? utc.instant : undefined;
}

/** A video's file time is when it ended. */
function fileInstant({ modifiedMicros, durationS }: ClockEvidence): Instant | undefined {
  if (modifiedMicros === undefined) return undefined;
  const micros = modifiedMicros - Math.round((durationS ?? 0) * 1e6);
  return isInYears(micros / 1000) ? fromEpochMicros(micros) : undefined;
}

function isInYears(ms: number): boolean {
  return ms >= FIRST_MS && ms <= LAST_MS;
}

type Environment = Readonly<Record<string, string | undefined>>;

type AskOptions = ChildBounds & {
  readonly environment: Environment;
  /** For the error if the child fails, or takes too long or too much memory. */
  readonly code: RefusalCode;
  readonly signal?: AbortSignal | undefined;
};

const LOOK_MS = 50;

const ENDED = "what decodes it crashed";

/** Variables that a child needs to find its temporary files and, on Windows, to start at all. */
const PASSED_ON = ["TMPDIR", "TEMP", "TMP", "SystemRoot"] as const;

/** Has a child process read a file, and yields its answers as they arrive. @throws Refusal; the reason of `signal` */
async function* askChild(
  request: ChildRequest,
  body: Uint8Array | undefined,
  options: AskOptions,
): AsyncGenerator<Packet<ChildAnswer>> {
  const { code, signal } = options;
  signal?.throwIfAborted();
  const child = startChild(options.environment);
  const life = watch(child, options);
  try {
    // Its input stays open: closing it would end the child.
    child.stdin.write(packetHead(request, body?.length ?? 0));
    if (body !== undefined) child.stdin.write(body);
    void Promise.resolve(child.stdin.flush()).catch(() => life.end(new Refusal(code, ENDED)));
    for await (const packet of readPackets<ChildAnswer>(child.stdout)) {
      const { message } = packet;
      if (message.kind === "done") return;
      if (message.kind === "failed") throw new Refusal(message.code, message.reason);
      if (message.kind === "tool") life.toolPid = message.pid;
      else yield packet;
    }
    throw new Refusal(code, ENDED);
  } catch (error) {
    throw (
      life.reason ?? (error instanceof Refusal ? error : new Refusal(code, ENDED, { cause: error }))
    );
  } finally {
    life.stop();
    await child.exited;
  }
}

type Life = {
  toolPid: number | undefined;
  readonly reason: unknown;
  end(reason: unknown): void;
  stop(): void;
};

/** Ends a child that takes too long or too much memory, or whose caller has left. */
function watch(child: Subprocess, { limitMs, memoryBytes, code, signal }: AskOptions): Life {
  let ending: unknown;
  const kill = (): void => {
    // First the program it started, which would otherwise live until its next write.
    if (life.toolPid !== undefined) killProcess(life.toolPid);
    child.kill("SIGKILL");
  };
  const end = (reason: unknown): void => {
    ending ??= reason;
    kill();
  };
  const abort = (): void => end(signal?.reason);
  const timer = setTimeout(
    () => end(new Refusal(code, `reading it took more than ${limitMs / 1000} s`)),
    limitMs,
  );
  const look = setInterval(async () => {
    const pids = life.toolPid === undefined ? [child.pid] : [child.pid, life.toolPid];
    const bytes = await memoryOf(pids);
    if (bytes === undefined || bytes <= memoryBytes) return;
    end(
      new Refusal(code, `reading it took more than ${Math.floor(memoryBytes / 1e6)} MB of memory`),
    );
  }, LOOK_MS);
  signal?.addEventListener("abort", abort, { once: true });
  const life: Life = {
    toolPid: undefined,
    get reason() {
      return ending;
    },
    end,
    stop: () => {
      clearTimeout(timer);
      clearInterval(look);
      signal?.removeEventListener("abort", abort);
      kill();
    },
  };
  return life;
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has already ended.
  }
}

function startChild(environment: Environment) {
  const env: Record<string, string> = { BUN_BE_BUN: "1", LC_ALL: "C", AV_LOG_FORCE_NOCOLOR: "1" };
  for (const name of PASSED_ON) {
    const value = environment[name];
    if (value !== undefined) env[name] = value;
  }
  return Bun.spawn([process.execPath, "--no-env-file", childPath()], {
    // A bunfig.toml in the working directory could load code into it.
    cwd: "/",
    env,
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  });
}

/**
 * The script of the child process: from source the module, in the executable a bundle of it, unpacked and verified.
 * @throws SvcError storage_failed if it cannot be unpacked
 */
function childPath(): string {
  const bundle = EMBEDDED["footage-child"];
  return bundle === undefined
    ? fileURLToPath(new URL("./child.ts", import.meta.url))
    : unpack(bundle);
}

/** Bytes of a page of memory where `/proc` counts in pages. */
const PAGE_BYTES = 4096;
const KIB = 1024;

/** Total memory of processes in bytes; an ended process uses none. Undefined: this system has no cheap way to measure it. */
async function memoryOf(pids: readonly number[]): Promise<number | undefined> {
  switch (process.platform) {
    case "linux":
      return pids.reduce((sum, pid) => sum + residentPages(pid) * PAGE_BYTES, 0);
    case "darwin": {
      const child = Bun.spawn(["/bin/ps", "-o", "rss=", "-p", pids.join(",")], {
        cwd: "/",
        env: {},
        stderr: "ignore",
      });
      const text = await new Response(child.stdout).text();
      return text.split("\n").reduce((sum, line) => sum + Number(line) * KIB, 0);
    }
    default:
      return undefined;
  }
}

function residentPages(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "latin1").split(" ")[1]);
  } catch {
    // It has ended.
    return 0;
  }
}

/** Pictures waiting to be described, by number. */
type FrameStore = {
  readonly bytes: number;
  /** @throws SvcError disk_full */
  add(index: number, picture: Uint8Array): void;
  /** @throws Error if there is none */
  get(index: number): Uint8Array;
  close(): void;
};

type Place = { readonly start: number; readonly size: number; readonly tag: Buffer };

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;

/**
 * A store in a temporary file, so that a long video does not fill the memory. The file has no name and is encrypted with a key of this
 * process: it cannot be read once the process has ended.
 * @throws SvcError disk_full
 */
function createFrameStore(): FrameStore {
  const path = join(tmpdir(), `svc-frames-${process.pid}-${randomBytes(6).toString("hex")}`);
  const file = inTemporaryRoom(() => openSync(path, "wx+", 0o600));
  const key = randomBytes(32);
  const places = new Map<number, Place>();
  let end = 0;
  let isNamed = false;
  try {
    removeFile(path);
  } catch {
    // Windows may refuse it while the file is open.
    isNamed = true;
  }
  return {
    get bytes() {
      return end;
    },
    add: (index, picture) => {
      const cipher = createCipheriv(CIPHER, key, ivOf(index));
      const content = Buffer.concat([cipher.update(picture), cipher.final()]);
      inTemporaryRoom(() => {
        for (let written = 0; written < content.length; ) {
          written += writeSync(file, content, written, content.length - written, end + written);
        }
      });
      places.set(index, { start: end, size: content.length, tag: cipher.getAuthTag() });
      end += content.length;
    },
    get: (index) => {
      const place = places.get(index);
      if (place === undefined) throw new Error(`frame ${index} is not kept`);
      const content = Buffer.alloc(place.size);
      for (let read = 0; read < place.size; ) {
        const count = readSync(file, content, read, place.size - read, place.start + read);
        if (count === 0) throw new Error(`frame ${index} is cut off`);
        read += count;
      }
      const decipher = createDecipheriv(CIPHER, key, ivOf(index)).setAuthTag(place.tag);
      return Buffer.concat([decipher.update(content), decipher.final()]);
    },
    close: () => {
      closeSync(file);
      if (isNamed) removeFile(path);
    },
  };
}

/** Each number is used once per key. */
function ivOf(index: number): Buffer {
  const iv = Buffer.alloc(IV_BYTES);
  iv.writeUInt32LE(index, 0);
  return iv;
}

const PREFIX = "svc-video-";

/** Uses a private file and removes it, along with those of processes killed meanwhile. */
async function inTemporaryFile<T>(
  content: Uint8Array,
  work: (path: string) => Promise<T>,
): Promise<T> {
  removeLeftovers();
  const path = join(tmpdir(), `${PREFIX}${process.pid}-${randomBytes(6).toString("hex")}`);
  try {
    inTemporaryRoom(() => writeFileSync(path, content, { mode: 0o600, flag: "wx" }));
    return await work(path);
  } finally {
    removeFile(path);
  }
}

function removeLeftovers(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = /^svc-video-(\d+)-[0-9a-f]{12}$/.exec(name)?.[1];
    if (pid === undefined || isRunning(Number(pid))) continue;
    try {
      removeFile(join(tmpdir(), name));
    } catch {
      // It is another user's.
    }
  }
}

/** Writes into the folder for temporary files. @throws SvcError disk_full if it is full; any other error of the work */
function inTemporaryRoom<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code !== "ENOSPC" && code !== "EDQUOT") throw cause;
    const path = tmpdir();
    const message = `the folder ${path} has no room for pictures: make room there or point TMPDIR to another one`;
    throw new SvcError("disk_full", message, { path }, { cause });
  }
}
