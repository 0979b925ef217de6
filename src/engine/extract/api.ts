import type { ExtractionStatus } from "../inspect/api.ts";

export type ProcessExtractionsInput = {
  readonly userId: string;
  /** Integer >= 0: messages at most. Default 100. */
  readonly limit?: number | undefined;
  /** Milliseconds >= 0, checked between messages; 0 only counts. Default 5000. */
  readonly budgetMs?: number | undefined;
};

/** What one pass over an owner's queue did, and what remains. */
export type ExtractionPass = {
  /** Messages that this call finished. */
  readonly processed: number;
  /** Messages that wait or are being worked on. */
  readonly pending: number;
  /** Failed messages that are not retried automatically. */
  readonly failed: number;
};

export type RetryExtractionOptions = {
  readonly userId?: string | null | undefined;
  /** Drops a plan that could not be applied, and keeps the model's answer. Default false. */
  readonly replan?: boolean | null | undefined;
};

/** A turn as passed to a custom provider. */
export type ProviderTurn = {
  /** From 1. */
  readonly index: number;
  /** Lower case. */
  readonly role: string;
  readonly content: string;
  readonly speaker?: string;
  /** When it was said: ISO 8601, UTC. */
  readonly time: string;
};

/** A memory that messages may correct. */
export type ProviderMemory = {
  readonly label: string;
  readonly text: string;
  /** Start of its validity: ISO 8601, UTC. */
  readonly time: string;
  /** Indices of the turns that it is similar to. */
  readonly turns: readonly number[];
};

/** A language model of your own. Answers are checked against the text; errors are recorded by their `name` (`FAILURE_CODES`). */
export type ExtractionProvider = {
  /** Named in every record. */
  readonly providerName: string;
  readonly modelName: string;
  /**
   * `{entities, facts, relationships, summary}` as in `docs/extraction.md`.
   * @param about `speaker` and `context` only if settings ask for them
   */
  extract(
    content: string,
    about: {
      readonly role: string;
      readonly speaker?: string | undefined;
      /** Earlier messages, oldest first, each with its speaker. */
      readonly context?: readonly string[];
      readonly signal: AbortSignal;
    },
  ): Promise<unknown>;
  /** `{turns: [{turn, entities, facts, relationships}]}`. Needed unless `extraction_batch_target_tokens` is 0. */
  extractBatch?(
    turns: readonly ProviderTurn[],
    about: {
      /** Memories that a fact may name in `replaces_memory`, by label; only if `enable_extraction_corrections` is on. */
      readonly memories?: readonly ProviderMemory[];
      readonly signal: AbortSignal;
    },
  ): Promise<unknown>;
};

/** How messages become claims. */
export type ExtractionSettings = {
  /** Tokens of messages that are sent together; 0: each alone. */
  readonly batchTargetTokens: number;
  /** Earlier messages of the session shown with one that is sent alone. */
  readonly windowTurns: number;
  /** Whether memories are shown for correction; only with batched messages. */
  readonly corrections: boolean;
  /** Requests at a time. */
  readonly maxConcurrent: number;
  readonly leaseSeconds: number;
  /** Milliseconds from the first waiting message until the queue of its owner and scope is extracted. */
  readonly delayMs: number;
  /** Milliseconds for one message sent alone, and for a batch. */
  readonly timeoutMs: number;
  readonly batchTimeoutMs: number;
  readonly maxRetries: number;
  readonly temperature: number;
  readonly speakerGrounding: boolean;
  readonly speakerReferences: boolean;
  readonly claimSentenceText: boolean;
  readonly claimMerge: boolean;
};

/** Claims from ingested messages. Nothing is extracted unless the settings turn it on. */
export type ExtractMethods = {
  /** Runs an owner's due extractions, in order. @throws SvcError invalid_argument */
  processExtractions(input: ProcessExtractionsInput): Promise<ExtractionPass>;
  /** Makes a waiting or failed extraction due, without running it. Undefined for an event without one. */
  retryExtraction(
    eventId: string,
    options?: RetryExtractionOptions,
  ): Promise<ExtractionStatus | undefined>;
};
