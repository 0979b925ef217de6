import type { JsonObject } from "../lib/json.ts";

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
 * (`domain/extraction/failure.ts`).
 */
export type TextModel = Pick<LanguageModel, "provider" | "model"> & {
  ask<T>(request: ModelRequest, read: ReadAnswer<T>): Promise<T>;
};
