import type { Instant } from "../lib/instant.ts";
import type { JsonObject } from "../lib/json.ts";

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

/** Counts tokens exactly like the named encoding. */
export type Tokenizer = {
  /** For example `cl100k_base`. */
  readonly name: string;
  /** Loads the tables if they are not loaded yet. Call `count` only once this has resolved. */
  ready(): Promise<void>;
  /**
   * Number of tokens of `text`; text that looks like a special token counts as ordinary text.
   * @param of whose text it is: what is remembered of one owner makes no count of another quicker. Absent: it is not remembered
   */
  count(text: string, of?: string): number;
  /** Drops what is remembered of an owner. Absent: nothing is remembered. */
  readonly forget?: (of: string) => void;
};

/** A date or span that a question names. */
export type DateSignal = {
  /** ABSOLUTE if the matched text has a digit. */
  readonly type: "ABSOLUTE" | "RELATIVE";
  /** The matched text as written in the question. */
  readonly value: string;
  readonly resolved: Instant;
  /** What it names as a whole, such as a day or a month, in UTC; `until` is not part of it. */
  readonly from: Instant;
  readonly until: Instant;
};

/**
 * Finds dates in a question.
 *
 * For callers: `read` is synchronous and pure in its arguments; it takes well below a millisecond for a usual question. Call
 * `ready` once before it: that loads the parser. For implementers: never throws; unreadable dates give no signal.
 */
export type DateReader = {
  /**
   * Loads what reading needs. Never rejects.
   * @param languages as of `read`; absent: those that the reader was made for
   */
  ready(languages?: readonly string[]): Promise<void>;
  /**
   * @param reference the moment that relative dates count from
   * @param languages two-letter codes; empty: all supported ones
   */
  read(text: string, reference: Instant, languages: readonly string[]): readonly DateSignal[];
};

/** One question to a language model, with a given form of the answer. */
export type ModelRequest = {
  /** The model's role and task; never memory text. */
  readonly system: string;
  readonly prompt: string;
  /** Messages before the prompt that help to read it. */
  readonly references?: readonly string[];
  /** JSON Schema of the answer. */
  readonly schema: JsonObject;
  /** Milliseconds for the whole call, retries included. */
  readonly timeoutMs: number;
  /** Retries if an answer does not fit the schema. */
  readonly schemaRetries: number;
  /** 0 to 2. */
  readonly temperature: number;
  readonly signal?: AbortSignal | undefined;
};

/**
 * A language model that answers in JSON.
 *
 * For implementers: the answer fits the schema. Failures are SvcError("model_failed"), or "model_timeout" beyond the limit; no
 * message contains the prompt, the answer or a credential.
 */
export type LanguageModel = {
  readonly provider: string;
  readonly model: string;
  answer(request: ModelRequest): Promise<JsonObject>;
};

/** Reads the text of an answer: what it says, or what to tell the model about what is wrong with it. */
export type ReadAnswer<T> = (text: string) => { readonly answer: T } | { readonly problem: string };

/**
 * A language model whose callers read the text of its answers themselves, to see what a reader of JSON would pass over.
 *
 * For implementers: as `LanguageModel`; the answer is what `read` makes of the last text. The cause of an error has a stable name
 * (`domain/extraction/work.ts`).
 */
export type TextModel = Pick<LanguageModel, "provider" | "model"> & {
  ask<T>(request: ModelRequest, read: ReadAnswer<T>): Promise<T>;
};

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
