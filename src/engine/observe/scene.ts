import type { CaptureClock, KeptReason } from "../../domain/records/observation.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Footage, Picture, SampledFrame } from "../../ports/footage.ts";
import type { VisionModel } from "../../ports/vision-model.ts";
import type { Wish } from "./parse-input.ts";

/** A source that is being observed. */
export type Scene = {
  readonly wish: Wish;
  readonly footage: Footage;
  readonly vision: VisionModel;
  readonly capturedAt: Instant;
  readonly captureClock: CaptureClock;
  readonly signal: AbortSignal;
};

export type KeptFrame = SampledFrame & { readonly reason: KeptReason };

/** A frame with its picture, and the moment that it shows. */
export type Seen = KeptFrame & { readonly picture: Picture; readonly eventTime: Instant };
