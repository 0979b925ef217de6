import { SvcError } from "../../domain/errors.ts";
import {
  CAPTURE_CLOCKS,
  type FrameObservation,
  type ObservationReport,
  type ObservationStatus,
  observationReportForm,
} from "../../domain/records/observation.ts";
import { shownName } from "../../lib/text.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { Footage, FootageReader } from "../../ports/footage.ts";
import type { VisionModel } from "../../ports/models.ts";
import type { ObserveInput } from "./api.ts";
import {
  asOurs,
  findFrame,
  type KeptFrame,
  keyOf,
  type ObserveDeps,
  observeFrame,
  parseObserveInput,
  type Scene,
  tell,
  type Wish,
} from "./observe-frame.ts";

/** Like `observeSource`, but fails at the end if a frame could not be stored. @returns the ids of the admitted events */
export async function observe(deps: ObserveDeps, input: ObserveInput): Promise<readonly Uuid[]> {
  const report = await observeSource(deps, input);
  if (report.failed > 0) throw incomplete(report);
  return report.eventIds;
}

/** Describes and stores the frames of a photo or video that show something new. */
export async function observeSource(
  deps: ObserveDeps,
  input: ObserveInput,
): Promise<ObservationReport> {
  const { footage: reader, visionModel: vision } = deps;
  if (reader === undefined || vision === undefined) throw visionDisabled();
  if (deps.isReadOnly === true) {
    throw new SvcError(
      "pack_read_only",
      "nothing can be observed: the memory is open for reading only",
    );
  }
  const wish = parseObserveInput(input);
  const signal = anyOf(deps.closing, wish.signal);
  try {
    return await deps.gate(async () => {
      const { source, sourceName } = wish;
      const known = await knownPhoto(deps, wish, { reader, vision });
      if (known !== undefined) return known;
      const { observation: settings } = deps.settings;
      const footage = await reader.open(source, { ...settings, sourceName, signal });
      try {
        return await look(deps, {
          wish,
          footage,
          vision,
          signal,
          capturedAt: wish.capturedAt ?? footage.capturedAt,
          captureClock: wish.capturedAt === undefined ? footage.captureClock : "given",
        });
      } finally {
        await footage.close();
      }
    }, signal);
  } catch (error) {
    if (!deps.closing.aborted) throw error;
    throw new SvcError("engine_closed", "the engine was closed; open it again");
  }
}

/** The report for a photo already observed, which need not be decoded. */
async function knownPhoto(
  deps: ObserveDeps,
  wish: Wish,
  { reader, vision }: { readonly reader: FootageReader; readonly vision: VisionModel },
): Promise<ObservationReport | undefined> {
  const identity = await reader.identify(wish.source, wish.sourceName);
  if (identity === undefined) return undefined;
  const { event } = await findFrame(
    deps.store,
    keyOf(deps, { wish, vision, footage: identity }, {}),
  );
  const clock = CAPTURE_CLOCKS.find((one) => one === event?.metadata?.["capture_clock"]);
  if (event?.eventTime === undefined || clock === undefined) return undefined;
  const frame = { index: 0, timeS: undefined, change: undefined, reason: "first" } as const;
  const footage = { ...identity, kind: "photo", frames: [frame] } as const;
  const capturedAt = wish.capturedAt ?? event.eventTime;
  const captureClock = wish.capturedAt === undefined ? clock : "given";
  const seen = { ...frame, picture: identity, eventTime: capturedAt };
  const observation = tell(seen, { status: "already_observed", eventId: event.id });
  wish.onFrame?.(observation, 1, 1);
  return report(deps, { footage, vision, capturedAt, captureClock }, [observation]);
}

async function look(deps: ObserveDeps, scene: Scene): Promise<ObservationReport> {
  const frames = scene.footage.frames.flatMap((frame): readonly KeptFrame[] =>
    frame.reason === undefined ? [] : [{ ...frame, reason: frame.reason }],
  );
  const observations: FrameObservation[] = [];
  let previous: string | undefined;
  for (const frame of frames) {
    scene.signal.throwIfAborted();
    const step = observeFrame(deps, scene, frame, previous).catch((error: unknown) => {
      scene.signal.throwIfAborted();
      throw stopped(report(deps, scene, observations), asOurs(error));
    });
    const { observation, shown, stop } = await step;
    previous = shown ?? previous;
    observations.push(observation);
    scene.wish.onFrame?.(observation, observations.length, frames.length);
    if (stop !== undefined) throw stopped(report(deps, scene, observations), stop);
  }
  return report(deps, scene, observations);
}

type Reported = Pick<Scene, "vision" | "capturedAt" | "captureClock"> & {
  readonly footage: Pick<Footage, "kind" | "name" | "path" | "sha256" | "frames">;
};

function report(
  { settings, extractions }: ObserveDeps,
  { footage, vision, capturedAt, captureClock }: Reported,
  observations: readonly FrameObservation[],
): ObservationReport {
  const { frames } = footage;
  const having = (status: ObservationStatus) => observations.filter((one) => one.status === status);
  const admitted = having("admitted");
  return {
    source: footage.name,
    kind: footage.kind,
    sourcePath: footage.path,
    sourceSha256: footage.sha256,
    capturedAt,
    captureClock,
    visionModel: vision.modelName,
    describePromptVersion: settings.observation.promptVersion,
    extract: settings.observation.extract && extractions !== undefined,
    frames: frames.length,
    keyframes: frames.filter(({ reason }) => reason !== undefined).length,
    described: observations.filter(({ description }) => description !== undefined).length,
    repeatsDropped: having("repeat").length,
    alreadyObserved: having("already_observed").length,
    admitted: admitted.length,
    failed: having("failed").length,
    eventIds: admitted.flatMap(({ eventId }) => eventId ?? []),
    keyframeLog: frames.map((frame) => ({ ...frame, kept: frame.reason !== undefined })),
    observations,
  };
}

function stopped(done: ObservationReport, cause: SvcError): SvcError {
  return new SvcError(
    "observation_failed",
    `${shownName(done.source)}: ended before its time, with ${done.admitted} of ${done.keyframes} frames stored: ${cause.message}`,
    dataOf(done),
    { cause },
  );
}

function incomplete(done: ObservationReport): SvcError {
  const first = done.observations.find(({ error }) => error !== undefined)?.error ?? "";
  return new SvcError(
    "observation_failed",
    `${shownName(done.source)}: ${done.failed} of ${done.keyframes} frames could not be stored, ${done.admitted} were: ${first}`,
    dataOf(done),
  );
}

function dataOf(done: ObservationReport) {
  return { report: observationReportForm.json(done) };
}

function visionDisabled(): SvcError {
  return new SvcError(
    "vision_disabled",
    "photos and videos are not observed, because no vision model is on: set SVC_VISION__ENABLED=true, and SVC_VISION__PROVIDER (ollama, openai or anthropic) and SVC_VISION__MODEL for the model that is shown the pictures",
    { setting: "vision.enabled" },
  );
}

function anyOf(closing: AbortSignal, own: Wish["signal"]): AbortSignal {
  return own === undefined ? closing : AbortSignal.any([closing, own]);
}
