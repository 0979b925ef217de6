import type { JsonObject } from "../../lib/json.ts";
import type { KeptWith } from "../write/ingest.ts";
import type { FrameMemory } from "./admit-frame.ts";
import type { ObserveDeps } from "./deps.ts";
import type { Scene, Seen } from "./scene.ts";

type Described = {
  readonly description: string;
  /** Undefined: none is kept. */
  readonly thumbnail: Uint8Array | undefined;
};

/** The memory of a frame, and what is kept with it. */
export function frameMemory(
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
