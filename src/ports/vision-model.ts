/** One picture to be described. */
export type DescribeRequest = {
  readonly image: Uint8Array;
  /** For example `image/jpeg`. */
  readonly mediaType: string;
  /** What the model is asked. */
  readonly prompt: string;
  /** Milliseconds for the whole call, retries included. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
};

/**
 * A model that describes pictures.
 *
 * For implementers: the likeliest answer is asked for, and no thinking. A description is not blank. Failures are
 * SvcError("vision_failed"); no message contains the prompt, the description or a credential.
 */
export type VisionModel = {
  /** Recorded with every description, for example `ollama/qwen3.5:9b`. */
  readonly modelName: string;
  describe(request: DescribeRequest): Promise<string>;
};
