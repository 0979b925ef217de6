/** Identifies comparable vectors: two vectors can be compared only if all three fields are equal. */
export type EmbeddingIdentity = {
  /** For example `BAAI/bge-small-en-v1.5`. */
  readonly model: string;
  /** Names weights and pooling recipe, never a library release. */
  readonly version: string;
  readonly dimension: number;
};

/** What an embedder was asked for since it was made. */
export type EmbedderUse = {
  /** Calls, refused ones left out. */
  readonly asked: number;
  /** Those that none of the latest ones answered already. */
  readonly computed: number;
  /** Those of the computed ones that failed. */
  readonly failed: number;
  /** From each computed call to its end, added up; calls that overlap count each. */
  readonly seconds: number;
};

/**
 * Turns text into vectors.
 *
 * For callers: calls may overlap freely; the adapter queues them and runs the model on one text at a time. For implementers: a
 * vector is a `Float32Array` of `identity.dimension` numbers, L2-normalised, and depends only on its own text (never on its
 * neighbours in a batch). Nothing is loaded before the first call. Failures reject with `SvcError("embedding_failed")`, whose
 * message contains no memory text.
 */
export type Embedder = {
  readonly identity: EmbeddingIdentity;
  /** Tokens that it reads of a text. Absent: all. */
  readonly maxTokens?: number;
  /**
   * The vector for indexing a memory. Text beyond the model's limit does not change it.
   * @param of whose text it is: what is remembered of one owner makes no call of another quicker. Absent: it is not remembered
   */
  embedDocument(text: string, of?: string): Promise<Float32Array>;
  /** The vector of a question, encoded with the model's question prefix if it has one. */
  embedQuery(text: string, of?: string): Promise<Float32Array>;
  /** Drops what is remembered of an owner. Absent: nothing is remembered. */
  readonly forget?: (of: string) => void;
  /** Absent: it does not count. */
  readonly use?: () => EmbedderUse;
  /** Finishes queued calls, or has a server's rejected, and releases the model. Later calls reject with `SvcError("engine_closed")`. */
  close(): Promise<void>;
};
