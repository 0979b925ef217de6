import { erasedBy } from "../../domain/erasure.ts";
import { SvcError } from "../../domain/errors.ts";
import type { MemoryEvent } from "../../domain/event.ts";
import { quotesTheSame } from "../../domain/observation/quoted-values.ts";
import type { FrameObservation } from "../../domain/records/observation.ts";
import { addSeconds, fromEpochMicros, type Instant, toEpochMillis } from "../../lib/instant.ts";
import { unitCosine } from "../../lib/unit-cosine.ts";
import type { Footage, Picture } from "../../ports/footage.ts";
import { admitFrame } from "./admit-frame.ts";
import type { ObserveDeps } from "./deps.ts";
import { type FrameKey, findFrame } from "./find-frame.ts";
import { frameMemory } from "./frame-memory.ts";
import { describePrompt } from "./prompt.ts";
import type { KeptFrame, Scene, Seen } from "./scene.ts";

/** What became of a frame. */
export type FrameStep = {
  readonly observation: FrameObservation;
  /** The description that the next one is compared with; undefined: the same as before. */
  readonly shown: string | undefined;
  /** Why no further frame is tried; undefined: the next one is. */
  readonly stop: SvcError | undefined;
};

type Outcome = Pick<FrameObservation, "status"> & Partial<FrameObservation>;

/** Observes one frame. @param previous the description before it @throws the reason of the signal */
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

/** What makes a frame the same one in every call. */
export function keyOf(
  { settings }: Pick<ObserveDeps, "settings">,
  {
    wish,
    footage,
    vision,
  }: Pick<Scene, "wish" | "vision"> & { readonly footage: Pick<Footage, "sha256"> },
  frame: Partial<Pick<KeptFrame, "timeS">>,
): FrameKey {
  return {
    userId: wish.userId,
    scope: wish.scope,
    sourceSha256: footage.sha256,
    timeS: frame.timeS,
    visionModel: vision.modelName,
    promptVersion: settings.observation.promptVersion,
  };
}

/** A frame that was observed before. Of one that was forgotten nothing is compared. */
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

/** Asks the model, and compares what it says. What fails here would fail for the next frame, too. */
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

/** The cosine of two descriptions; undefined: they differ in what they quote, or there is nothing to compare. */
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

/** A frame as the report has it. */
export function tell(
  {
    index,
    timeS,
    change,
    reason,
    eventTime,
    picture,
  }: Omit<Seen, "picture"> & {
    readonly picture: Pick<Picture, "sha256">;
  },
  outcome: Outcome,
): FrameObservation {
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

/** A failure as one that callers know. */
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
