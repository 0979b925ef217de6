import type { ExtractionQueue } from "../../ports/store/extraction-queue.ts";
import type { SearchIndex } from "../../ports/store/search-index.ts";
import type { EngineDeps } from "../deps.ts";
import type { ExtractionSettings } from "./api.ts";
import type { Extractor } from "./extractor.ts";
import type { Gate } from "./gate.ts";

/** What extraction works with. */
export type ExtractDeps = Pick<
  EngineDeps<ExtractionQueue & SearchIndex>,
  "store" | "clock" | "tokenizer" | "dates" | "embedder" | "warn"
> & {
  readonly extractor: Extractor;
  readonly settings: ExtractionSettings & Pick<EngineDeps["settings"], "confidenceOverrides">;
  /** Lets requests to the model in. */
  readonly gate: Gate;
};

/** How long claimed work may go on, and how far a request may look ahead. */
export type JobOptions = {
  /** Highest order of the turns that a request may take along. */
  readonly upTo: number | undefined;
  /** Turns of a request at most. Absent: as many as fit. */
  readonly maxTurns?: number | undefined;
  /** Tells the work to end. */
  readonly signal: AbortSignal;
};
