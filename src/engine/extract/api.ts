import type { ExtractionStatus } from "../inspect/api.ts";

export type ProcessExtractionsInput = {
  readonly userId: string;
  /** Integer >= 0: messages at most. Default 100. */
  readonly limit?: number | undefined;
  /** Milliseconds >= 0, checked between messages; 0 only counts. Default 5000. */
  readonly budgetMs?: number | undefined;
};

/** What one pass over an owner's queue did, and what is left of it. */
export type ExtractionPass = {
  /** Messages that this call finished. */
  readonly processed: number;
  /** Messages that wait or are being worked on. */
  readonly pending: number;
  /** Messages that are not tried again by themselves. */
  readonly failed: number;
};

export type RetryExtractionOptions = {
  readonly userId?: string | null | undefined;
  /**
   * Whether a plan that was made and could not be carried out is given up for a new one. What the model answered stays. Default
   * false.
   */
  readonly replan?: boolean | null | undefined;
};

/** A turn as a custom provider gets it. */
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
  /** From when it counts: ISO 8601, UTC. */
  readonly time: string;
  /** Indices of the turns that it is near to. */
  readonly turns: readonly number[];
};

/**
 * A language model of your own. What it returns is checked against the text; what it throws is recorded by a name: that of `FAILURE_CODES`
 * which the error or one of its causes carries as `name`, else the name of the last cause.
 */
export type ExtractionProvider = {
  /** Named in every record. */
  readonly providerName: string;
  readonly modelName: string;
  /**
   * What one message states: `{entities, facts, relationships, summary}` with the members that `docs/extraction.md` lists.
   * @param about `speaker` and `context` only if `enable_speaker_grounding` or `enable_windowed_extraction` is on
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
  /** Earlier messages of a session that are shown with one that is asked alone. */
  readonly windowTurns: number;
  /** Whether memories are shown to be corrected; only with messages that are sent together. */
  readonly corrections: boolean;
  /** Requests at a time. */
  readonly maxConcurrent: number;
  readonly leaseSeconds: number;
  /** Milliseconds from the first message that waits until the queue of its owner and scope is extracted. */
  readonly delayMs: number;
  /** Milliseconds for one message asked alone, and for a request of several. */
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
  /**
   * Extracts what is queued of an owner and due, in order, and says what is left.
   * @throws SvcError invalid_argument
   */
  processExtractions(input: ProcessExtractionsInput): Promise<ExtractionPass>;
  /**
   * Makes extraction from an event due now, if it waits or has failed; nothing is extracted in this call. Undefined for an unknown
   * event, one of another owner, or one from which nothing is to be extracted.
   */
  retryExtraction(
    eventId: string,
    options?: RetryExtractionOptions,
  ): Promise<ExtractionStatus | undefined>;
};
