import type { Instant } from "../lib/instant.ts";
import type { JsonObject } from "../lib/json.ts";

/** Vectors are comparable if all three members are equal. */
export type EmbeddingIdentity = {
  /** For example `BAAI/bge-small-en-v1.5`. */
  readonly model: string;
  /** Of weights and pooling, not of a library. */
  readonly version: string;
  readonly dimension: number;
};

export type EmbedderUse = {
  /** Calls, excluding rejected ones. */
  readonly asked: number;
  /** Calls that were not answered from the cache. */
  readonly computed: number;
  readonly failed: number;
  /** Sum over computed calls, which may overlap. */
  readonly seconds: number;
};

/**
 * Turns text into vectors. Calls may overlap. For implementers: vectors are L2-normalized and depend on their own text only; nothing
 * is loaded before the first call; failures are SvcError embedding_failed, without memory text.
 */
export type Embedder = {
  readonly identity: EmbeddingIdentity;
  /** Tokens that it reads. Absent: all. */
  readonly maxTokens?: number;
  /** @param of the owner for whom the result is cached, separately. Absent: no cache */
  embedDocument(text: string, of?: string): Promise<Float32Array>;
  /**
   * The vector of `embedDocument`, to the bit, for work that nobody waits for: other calls come first, and it may use every core. Not
   * cached. Absent: there is no difference.
   */
  embedLater?(text: string): Promise<Float32Array>;
  /** With the question prefix of the model, if any. */
  embedQuery(text: string, of?: string): Promise<Float32Array>;
  /** Drops what is cached for an owner. */
  readonly forget?: (of: string) => void;
  readonly use?: () => EmbedderUse;
  /** Finishes or rejects queued calls; later ones reject with engine_closed. */
  close(): Promise<void>;
};

/** Counts tokens exactly as the named encoding. */
export type Tokenizer = {
  /** For example `cl100k_base`. */
  readonly name: string;
  /** Loads the tables. Required before `count`. */
  ready(): Promise<void>;
  /** Special tokens count as ordinary text. @param of as in `embedDocument` */
  count(text: string, of?: string): number;
  readonly forget?: (of: string) => void;
};

export type DateSignal = {
  /** ABSOLUTE if the text has a digit. */
  readonly type: "ABSOLUTE" | "RELATIVE";
  /** As written in the question. */
  readonly value: string;
  readonly resolved: Instant;
  /** The whole period that it names, such as a day or a month, in UTC; `until` is exclusive. */
  readonly from: Instant;
  readonly until: Instant;
};

/** Finds dates in a question. `read` is pure, and fast once `ready` has loaded the parser; neither throws. */
export type DateReader = {
  /** @param languages as in `read`; absent: the configured ones */
  ready(languages?: readonly string[]): Promise<void>;
  /** @param languages two-letter codes; empty: all */
  read(text: string, reference: Instant, languages: readonly string[]): readonly DateSignal[];
};

export type ModelRequest = {
  /** Role and task; never memory text. */
  readonly system: string;
  readonly prompt: string;
  /** Messages before the prompt. */
  readonly references?: readonly string[];
  /** JSON Schema of the answer. */
  readonly schema: JsonObject;
  /** For the whole call, retries included. */
  readonly timeoutMs: number;
  /** Retries after answers that do not fit the schema. */
  readonly schemaRetries: number;
  /** 0 to 2. */
  readonly temperature: number;
  readonly signal?: AbortSignal | undefined;
};

/** Answers in JSON that matches the schema. Failures are SvcError model_failed or model_timeout, without prompt, answer or credential. */
export type LanguageModel = {
  readonly provider: string;
  readonly model: string;
  answer(request: ModelRequest): Promise<JsonObject>;
};

/** The parsed answer of a text, or the objection to send back to the model. */
export type ReadAnswer<T> = (text: string) => { readonly answer: T } | { readonly problem: string };

/** A language model whose callers parse the text themselves. The cause of an error has a stable name (`domain/extraction/failure.ts`). */
export type TextModel = Pick<LanguageModel, "provider" | "model"> & {
  ask<T>(request: ModelRequest, read: ReadAnswer<T>): Promise<T>;
};

/**
 * Scores pairs of texts. Texts are cut at the model's limit. Failures are SvcError model_failed, without memory text. Nothing is loaded
 * before the first call.
 */
export type Reranker = {
  /** How well each text answers the question, 0 to 1. */
  score(
    question: string,
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly number[]>;
  close(): Promise<void>;
};

export type DescribeRequest = {
  readonly image: Uint8Array;
  /** For example `image/jpeg`. */
  readonly mediaType: string;
  readonly prompt: string;
  /** For the whole call, retries included. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
};

/** Describes pictures; a description is never blank. Failures are SvcError vision_failed, without prompt, description or credential. */
export type VisionModel = {
  /** For example `ollama/qwen3.5:9b`. */
  readonly modelName: string;
  describe(request: DescribeRequest): Promise<string>;
};
