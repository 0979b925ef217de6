export type RebuildInput = {
  /** Nodes that are embedded and written at a time, at least 1. Default 256. */
  readonly batchSize?: number | undefined;
  /** Makes every vector again, also those that are current. Default false. */
  readonly all?: boolean | undefined;
  /** Stops the work after the current batch when aborted; the next call continues. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each batch. */
  readonly onProgress?: ((progress: RebuildProgress) => void) | undefined;
};

/** How far a part of a rebuild has come, in nodes. */
export type RebuildProgress = {
  readonly phase: "vectors" | "texts";
  readonly done: number;
  readonly total: number;
};

export type RebuildResult = {
  /** Active nodes that are in both indexes now. */
  readonly nodesIndexed: number;
  /** Active nodes whose text is blank. */
  readonly nodesSkipped: number;
  readonly totalActive: number;
  /** Texts that the model read in this call. */
  readonly nodesEmbedded: number;
};
