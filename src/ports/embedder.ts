/** Which vectors can be compared with one another: equal in all three fields, or not at all. */
export type EmbeddingIdentity = {
  /** For example `BAAI/bge-small-en-v1.5`. */
  readonly model: string;
  /** Names weights and pooling recipe, never a library release. */
  readonly version: string;
  readonly dimension: number;
};

/**
 * Turns text into vectors.
 *
 * For callers: calls may overlap freely; the adapter queues them and runs the model on one text at a time.
 * For implementers: a vector is a `Float32Array` of `identity.dimension` numbers, L2-normalised, and depends on its
 * own text alone (never on its neighbours in a batch). Nothing is loaded before the first call. Failures reject with
 * `SvcError("embedding_failed")`, whose message holds no memory text.
 */
export type Embedder = {
  readonly identity: EmbeddingIdentity;
  /** The vector under which a memory is indexed. Text beyond the model's limit does not change it. */
  embedDocument(text: string): Promise<Float32Array>;
  /** The vector of a question, encoded with the model's question prefix where it has one. */
  embedQuery(text: string): Promise<Float32Array>;
  /** Finishes what is queued and releases the model. Later calls reject with `SvcError("engine_closed")`. */
  close(): Promise<void>;
};
