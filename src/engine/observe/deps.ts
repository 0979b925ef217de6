import type { ExtractionQueue } from "../../ports/store/extraction-queue.ts";
import type { EngineDeps } from "../deps.ts";
import type { ExtractionStart } from "../write/api.ts";
import type { StoreDeps } from "../write/store.ts";
import type { Turns } from "./turns.ts";

/** Extraction as an observation uses it. */
type Extracting = ExtractionStart & {
  process(bounds: {
    readonly userId: string;
    readonly limit: number;
    readonly budgetMs: number;
  }): Promise<number>;
};

/** Dependencies of an observation. */
export type ObserveDeps = EngineDeps<StoreDeps["store"] & ExtractionQueue> & {
  readonly steps: StoreDeps["steps"];
  /** Undefined: nothing is extracted. */
  readonly extractions: Extracting | undefined;
  readonly turns: Turns;
  /** Aborted when the engine begins to close. */
  readonly closing: AbortSignal;
};
