export type RebuildInput = {
  /** Nodes to embed and write at a time, at least 1. Default 256. */
  readonly batchSize?: number | undefined;
  /** Recomputes every vector, even current ones. Default false. */
  readonly all?: boolean | undefined;
  /** Stops the work after the current batch when aborted; the next call continues. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each batch. */
  readonly onProgress?: ((progress: RebuildProgress) => void) | undefined;
};

/** Progress of a part of a rebuild, in nodes. */
export type RebuildProgress = {
  readonly phase: "vectors" | "texts";
  readonly done: number;
  readonly total: number;
};

export type RebuildResult = {
  /** Active nodes that are now in both indexes. */
  readonly nodesIndexed: number;
  /** Active nodes whose text is blank. */
  readonly nodesSkipped: number;
  readonly totalActive: number;
  /** Texts embedded in this call. */
  readonly nodesEmbedded: number;
};

/** Work on the indexes. */
export type OrganizeMethods = {
  /**
   * Rebuilds the indexes from the graph, with the configured model; other processes keep reading and writing. Current entries are
   * kept unless `all`. The next call continues an interrupted one.
   * @throws SvcError storage_busy while another process rebuilds; the signal's reason when aborted
   */
  rebuildIndexes(input?: RebuildInput): Promise<RebuildResult>;
};
