/**
 * A local model that reads two texts together.
 *
 * For implementers: texts are cut at the model's limit; a call that outlives `signal` rejects with its reason and its result is
 * dropped. Failures are SvcError("model_failed"), whose message contains no memory text. Nothing is loaded before the first call.
 */
export type Reranker = {
  /** How well each text answers the question, 0 to 1, in the order of the texts. */
  score(
    question: string,
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly number[]>;
  close(): Promise<void>;
};
