import { parseOptionalText, parseSessionId, parseUserId } from "../../domain/arguments.ts";
import { unitCosine } from "../../domain/embedding-models.ts";
import { parseMember, SCOPES, type Scope } from "../../domain/enums.ts";
import { erasedBy } from "../../domain/erasure.ts";
import { invalid, SvcError } from "../../domain/errors.ts";
import { parseInstantInput } from "../../domain/lifecycle.ts";
import { copyMetadata } from "../../domain/metadata.ts";
import type { MemoryEvent } from "../../domain/node.ts";
import { ALL_OWNERS } from "../../domain/owner.ts";
import {
  type CaptureClock,
  type FrameObservation,
  type KeptReason,
  quotesTheSame,
  type SourceKind,
} from "../../domain/records/observation.ts";
import { uuidV5 } from "../../lib/hashing.ts";
import { addSeconds, fromEpochMicros, type Instant, toEpochMillis } from "../../lib/instant.ts";
import type { JsonObject } from "../../lib/json.ts";
import { pause, untilAborted } from "../../lib/pause.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { Footage, FootageInput, Picture, SampledFrame } from "../../ports/footage.ts";
import type { VisionModel } from "../../ports/models.ts";
import type { EventLog } from "../../ports/store/events.ts";
import type { ExtractionQueue } from "../../ports/store/work.ts";
import type { Gate } from "../concurrency.ts";
import type { EngineDeps } from "../deps.ts";
import type { NamedRecords } from "../owners.ts";
import type { ExtractionStart, IngestInput } from "../write/api.ts";
import { ingest, type KeptWith } from "../write/ingest.ts";
import { type StoreDeps, store } from "../write/store.ts";
import type { ObserveInput } from "./api.ts";

type Extracting = ExtractionStart & {
  process(bounds: {
    readonly userId: string;
    readonly limit: number;
    readonly budgetMs: number;
  }): Promise<number>;
};

export type ObserveDeps = EngineDeps<StoreDeps["store"] & ExtractionQueue> & {
  readonly steps: StoreDeps["steps"];
  /** Undefined: nothing is extracted. */
  readonly extractions: Extracting | undefined;
  /** Observes one source at a time. */
  readonly gate: Gate;
  /** Aborted when the engine begins to close. */
  readonly closing: AbortSignal;
};

export type Scene = {
  readonly wish: Wish;
  readonly footage: Footage;
  readonly vision: VisionModel;
  readonly capturedAt: Instant;
  readonly captureClock: CaptureClock;
  readonly signal: AbortSignal;
};

export type KeptFrame = SampledFrame & { readonly reason: KeptReason };

type Seen = KeptFrame & { readonly picture: Picture; readonly eventTime: Instant };

export type Wish = {
  readonly source: FootageInput;
  readonly userId: string;
  readonly scope: Scope;
  readonly capturedAt: Instant | undefined;
  readonly sourceName: string | undefined;
  readonly sessionId: string | undefined;
  /** Keys are checked when a frame is stored. */
  readonly metadata: JsonObject;
  readonly signal: AbortSignal | undefined;
  readonly onFrame: ObserveInput["onFrame"];
};

export function parseObserveInput(input: ObserveInput): Wish {
  return {
    userId: parseUserId(input.userId),
    source: parseSource(input.source),
    scope: parseMember(SCOPES, input.scope ?? "personal", "scope"),
    capturedAt: parseInstantInput(input.capturedAt, "captured_at"),
    sourceName: parseName(input.sourceName, "source_name"),
    sessionId: parseSessionId(input.sessionId),
    metadata: copyMetadata(input.metadata) ?? {},
    signal: input.signal ?? undefined,
    onFrame: input.onFrame,
  };
}

function parseSource(source: unknown): FootageInput {
  if (source instanceof Uint8Array) {
    if (source.length === 0) throw invalid("source", "has no bytes");
    return { bytes: source };
  }
  if (typeof source !== "string") throw invalid("source", "must be a path or bytes");
  if (source === "" || source.includes("\0")) throw invalid("source", "is no path of a file");
  return { path: source };
}

function parseName(value: unknown, field: string): string | undefined {
  const name = parseOptionalText(value, field);
  if (name?.trim() === "") throw invalid(field, "is blank; leave it out or name the source");
  return name;
}

type FrameStep = {
  readonly observation: FrameObservation;
  /** The description to compare the next one with; undefined: unchanged. */
  readonly shown: string | undefined;
  /** Why no further frames are tried. */
  readonly stop: SvcError | undefined;
};

type Outcome = Pick<FrameObservation, "status"> & Partial<FrameObservation>;

/** @param previous description @throws the abort reason */
export async function observeFrame(
  deps: ObserveDeps,
  scene: Scene,
  frame: KeptFrame,
  previous: string | undefined,
): Promise<FrameStep> {
  const slot = await findFrame(deps.store, keyOf(deps, scene, frame));
  if (slot.event !== undefined) return await passedOver(scene, frame, slot.event);
  const picture = await scene.footage.picture(frame.index);
  const seen: Seen = { ...frame, picture, eventTime: momentOf(scene, frame) };
  const said = await describe(deps, scene, seen, previous);
  if (said.failure !== undefined || said.outcome.status === "repeat") {
    const observation = tell(seen, said.outcome);
    return { observation, shown: undefined, stop: said.failure };
  }
  const { outcome, stop } = await admit(deps, scene, seen, { ...slot, ...said });
  return {
    observation: tell(seen, { ...said.outcome, ...outcome }),
    shown: said.description,
    stop,
  };
}

export function keyOf(
  { settings }: Pick<ObserveDeps, "settings">,
  given: Pick<Scene, "wish" | "vision"> & { readonly footage: Pick<Footage, "sha256"> },
  frame: Partial<Pick<KeptFrame, "timeS">>,
): FrameKey {
  const { wish, footage, vision } = given;
  return {
    userId: wish.userId,
    scope: wish.scope,
    sourceSha256: footage.sha256,
    timeS: frame.timeS,
    visionModel: vision.modelName,
    promptVersion: settings.observation.promptVersion,
  };
}

/** A frame that was observed before. */
async function passedOver(
  scene: Scene,
  frame: KeptFrame,
  { id, content, metadata }: MemoryEvent,
): Promise<FrameStep> {
  const isForgotten = erasedBy(metadata) !== undefined;
  const known = metadata?.["frame_sha256"];
  const sha256 =
    typeof known === "string" ? known : (await scene.footage.picture(frame.index)).sha256;
  const seen = { ...frame, picture: { sha256 }, eventTime: momentOf(scene, frame) };
  return {
    observation: tell(seen, { status: "already_observed", eventId: id }),
    shown: isForgotten ? undefined : content,
    stop: undefined,
  };
}

type Said = {
  readonly outcome: Outcome;
  readonly description: string;
  readonly thumbnail: Uint8Array | undefined;
  readonly failure: SvcError | undefined;
};

/** A failure here would recur with every frame. */
async function describe(
  deps: ObserveDeps,
  { footage, vision, signal, wish: { userId } }: Scene,
  { index, picture }: Seen,
  previous: string | undefined,
): Promise<Said> {
  const { timeoutMs, repeatSimilarity, keepThumbnails, thumbnailWidth } = deps.settings.observation;
  const begun = performance.now();
  let outcome: Outcome = { status: "admitted" };
  try {
    const description = await vision.describe({
      image: picture.bytes,
      mediaType: picture.mediaType,
      prompt: describePrompt(footage.kind),
      timeoutMs,
      signal,
    });
    outcome = { ...outcome, description, describeSeconds: secondsSince(begun) };
    const similarity = await similarityOf(deps, userId, previous, description);
    if (similarity !== undefined) outcome = { ...outcome, similarity: rounded(similarity, 4) };
    const isRepeat = similarity !== undefined && similarity >= repeatSimilarity;
    if (isRepeat) outcome = { ...outcome, status: "repeat" };
    const thumbnail =
      keepThumbnails && !isRepeat ? await footage.thumbnail(index, thumbnailWidth) : undefined;
    return { outcome, description, thumbnail, failure: undefined };
  } catch (error) {
    signal.throwIfAborted();
    const failure = asOurs(error);
    const failed = { ...outcome, status: "failed", error: textOf(failure) } as const;
    return { outcome: failed, description: "", thumbnail: undefined, failure };
  }
}

/** The cosine of two descriptions; undefined: their quotes differ. */
async function similarityOf(
  { embedder }: Pick<ObserveDeps, "embedder">,
  userId: string,
  previous: string | undefined,
  description: string,
): Promise<number | undefined> {
  if (previous === undefined || !quotesTheSame(previous, description)) return undefined;
  const [one, other] = await Promise.all(
    [previous, description].map((text) => embedder.embedDocument(text, userId)),
  );
  return one === undefined || other === undefined ? undefined : unitCosine(one, other);
}

type Slot = Pick<Said, "description" | "thumbnail"> & { readonly id: MemoryEvent["id"] };

async function admit(
  deps: ObserveDeps,
  scene: Scene,
  seen: Seen,
  { id, description, thumbnail }: Slot,
): Promise<{ readonly outcome: Outcome; readonly stop: SvcError | undefined }> {
  const begun = performance.now();
  const { memory, blobs } = frameMemory(deps, scene, seen, { description, thumbnail });
  try {
    const { extraction } = await admitFrame(deps, memory, { eventId: id, blobs }, scene.signal);
    const admitSeconds = secondsSince(begun);
    return {
      outcome: { status: "admitted", eventId: id, extraction, admitSeconds },
      stop: undefined,
    };
  } catch (error) {
    scene.signal.throwIfAborted();
    const there = await deps.store.event(id, scene.wish.userId).catch(() => undefined);
    // Another process was faster.
    if (there !== undefined) {
      return { outcome: { status: "already_observed", eventId: id }, stop: undefined };
    }
    const failure = asOurs(error);
    const isOfFrame = failure.code === "invalid_argument" || failure.code === "invalid_speaker";
    const outcome = { status: "failed", error: textOf(failure) } as const;
    return { outcome, stop: isOfFrame ? undefined : failure };
  }
}

/** A frame in the report. */
export function tell(
  given: Omit<Seen, "picture"> & { readonly picture: Pick<Picture, "sha256"> },
  outcome: Outcome,
): FrameObservation {
  const { index, timeS, change, reason, eventTime, picture } = given;
  return {
    index,
    timeS,
    frameSha256: picture.sha256,
    change,
    keptReason: reason,
    similarity: undefined,
    eventId: undefined,
    eventTime,
    extraction: undefined,
    error: undefined,
    description: undefined,
    describeSeconds: undefined,
    admitSeconds: undefined,
    ...outcome,
  };
}

function momentOf({ capturedAt }: Scene, { timeS = 0 }: KeptFrame): Instant {
  const second = addSeconds(capturedAt, Math.floor(timeS)) ?? capturedAt;
  const micros = Math.round((timeS % 1) * 1e6);
  return micros === 0 ? second : fromEpochMicros(Math.round(toEpochMillis(second) * 1000) + micros);
}

export function asOurs(error: unknown): SvcError {
  if (error instanceof SvcError) return error;
  const name = error instanceof Error ? error.name : "Error";
  return new SvcError("internal", `an unexpected failure (${name})`, {}, { cause: error });
}

function textOf(error: SvcError): string {
  return `${error.name}: ${error.message}`;
}

function secondsSince(begun: number): number {
  return rounded((performance.now() - begun) / 1000, 3);
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

/** Identifies a frame across calls. */
type FrameKey = {
  readonly userId: string;
  readonly scope: Scope;
  readonly sourceSha256: string;
  /** Undefined for a photo. */
  readonly timeS: number | undefined;
  readonly visionModel: string;
  readonly promptVersion: number;
};

/** The event of a frame, or the id for it. */
type FrameSlot = {
  readonly id: Uuid;
  /** Undefined: not observed yet. A forgotten frame keeps its event, without text. */
  readonly event: MemoryEvent | undefined;
};

/** The id of an event derives from its frame, so that two processes cannot both admit it. */
export async function findFrame(
  store: Pick<EventLog, "event"> & Pick<NamedRecords, "owners">,
  key: FrameKey,
): Promise<FrameSlot> {
  const { userId } = key;
  for (const { userId: name } of await store.owners.names(userId)) {
    const event = await store.event(idOf(key, name, 0), userId);
    if (event !== undefined) return { id: event.id, event };
  }
  // The owner may have observed it under a former name.
  for (let others = 0; ; others += 1) {
    const id = idOf(key, userId, others);
    const event = await store.event(id, ALL_OWNERS);
    if (event === undefined || event.userId === userId) return { id, event };
  }
}

function idOf(key: FrameKey, name: string, others: number): Uuid {
  const { scope, sourceSha256, timeS, visionModel, promptVersion } = key;
  const frame = [name, scope, sourceSha256, timeS ?? null, visionModel, promptVersion];
  return uuidV5(
    "url",
    JSON.stringify(["svc:observe:v1", ...frame, ...(others > 0 ? [others] : [])]),
  );
}

type Described = {
  readonly description: string;
  /** Undefined: none is kept. */
  readonly thumbnail: Uint8Array | undefined;
};

function frameMemory(
  { settings }: Pick<ObserveDeps, "settings">,
  scene: Scene,
  seen: Seen,
  { description, thumbnail }: Described,
): { readonly memory: FrameMemory; readonly blobs: KeptWith["blobs"] } {
  const { wish, footage } = scene;
  const key = thumbnail && `frames/${seen.picture.sha256}.jpg`;
  const origin: JsonObject = {
    modality: footage.kind === "photo" ? "photo" : "video_frame",
    source_file: footage.name,
    source_path: footage.path ?? null,
    source_sha256: footage.sha256,
    frame_index: seen.index,
    frame_time_s: seen.timeS ?? null,
    frame_sha256: seen.picture.sha256,
    thumbnail: key ?? null,
    vision_model: scene.vision.modelName,
    describe_prompt_version: settings.observation.promptVersion,
    capture_clock: scene.captureClock,
  };
  return {
    memory: {
      content: description,
      userId: wish.userId,
      sessionId: wish.sessionId ?? `${footage.kind}:${footage.name}`,
      metadata: { ...wish.metadata, ...origin },
      eventTime: seen.eventTime,
      scope: wish.scope,
    },
    blobs:
      key === undefined || thumbnail === undefined
        ? undefined
        : [{ key, mediaType: "image/jpeg", bytes: thumbnail }],
  };
}

/** Jobs per retry of extraction. */
const RETRIED_JOBS = 10;

type FrameMemory = Pick<
  IngestInput,
  "content" | "userId" | "sessionId" | "metadata" | "eventTime" | "scope"
>;

/** Undefined: nothing is extracted. */
type Admitted = { readonly extraction: string | undefined };

/**
 * Stores a description. Its extraction is retried after each delay, then left to the queue.
 * @throws SvcError as `store`; the abort reason
 */
async function admitFrame(
  deps: ObserveDeps,
  memory: FrameMemory,
  kept: KeptWith & { readonly eventId: Uuid },
  signal: AbortSignal,
): Promise<Admitted> {
  const { extract } = deps.settings.observation;
  const input = { ...memory, role: "tool" } as const;
  if (!extract || deps.extractions === undefined) {
    // Without extraction a message is also a note with the id of its event.
    await orIndexedLater(store(deps, input, { ...kept, isRawNote: extract }));
    return { extraction: undefined };
  }
  const whole = ingest(deps, { ...input, waitForExtraction: true }, kept);
  await orExtractedLater(untilAborted(whole, signal));
  return { extraction: await settled(deps, kept.eventId, memory.userId, signal) };
}

/** The event is durable; indexing happens later. */
async function orIndexedLater(step: Promise<unknown>): Promise<void> {
  await step.catch((error: unknown) => {
    if (!(error instanceof SvcError && error.code === "materialization_failed")) throw error;
  });
}

async function orExtractedLater(step: Promise<unknown>): Promise<void> {
  await step.catch((error: unknown) => {
    if (!(error instanceof SvcError && error.code === "extraction_failed")) throw error;
  });
}

/** The status after as many retries as the settings allow. */
async function settled(
  { store: pack, extractions, clock, settings }: ObserveDeps,
  id: Uuid,
  userId: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const delayMs of settings.observation.extractionRetryDelaysMs) {
    const job = await pack.extractionJob(id, userId);
    if (job === undefined || job.status === "complete") break;
    await pause(delayMs, signal);
    await pack.retryExtraction(id, userId, { isReplan: false, at: clock.now() });
    const bounds = { userId, limit: RETRIED_JOBS, budgetMs: Number.MAX_SAFE_INTEGER };
    await untilAborted(extractions?.process(bounds) ?? Promise.resolve(0), signal);
  }
  return (await pack.extractionJob(id, userId))?.status;
}

/** Version 2 (`describe_prompt_version`): changed words are a new version. */
const ORIGIN: Readonly<Record<SourceKind, string>> = {
  photo: "This picture is a photo from the camera roll of its owner.",
  video: "This picture is a single frame of a video.",
};

const TASK = `Describe it for somebody who will later look for it by words alone and cannot see it.

Write plain text: no headings, no bullets, no remarks about the task. Write two parts, one after the other.

First, in one or two sentences: what kind of picture it is (a snapshot, a receipt, a screen, a chart, a slide, a sign ...), and what it shows: the place, the people and what they do, the objects, their colours.

Then the facts, one sentence for each:
- Name in each sentence what it is about, so that it can be understood alone.
- Copy visible text exactly as it stands, between double quotes: numbers, dates, names, prices, titles.
- Where a value is crossed out, say so, and say which value holds now.
- Give every value of a chart or a table in a sentence of its own, with its row and column.
- Where there is no text, write three to five things that can be seen.

Write only what can be seen. Do not guess what is hidden, blurred or outside of the picture.`;

/** Without file name and time, which would become facts. */
function describePrompt(kind: SourceKind): string {
  return `${ORIGIN[kind]} ${TASK}`;
}
