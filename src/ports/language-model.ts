import type { JsonObject } from "../lib/json.ts";

/** One question to a language model whose answer has a given form. */
export type ModelRequest = {
  /** What the model is and must do; never memory text. */
  readonly system: string;
  readonly prompt: string;
  /** JSON Schema of the answer. */
  readonly schema: JsonObject;
  /** Milliseconds for the whole call, retries included. */
  readonly timeoutMs: number;
  /** Further tries when an answer does not fit the schema. */
  readonly schemaRetries: number;
  /** 0 to 2. */
  readonly temperature: number;
  readonly signal?: AbortSignal | undefined;
};

/**
 * A language model that answers in JSON.
 *
 * For implementers: the answer has the form of the schema. Failures are SvcError("model_failed"), or "model_timeout"
 * beyond the limit; no message holds the prompt, the answer or a credential.
 */
export type LanguageModel = {
  readonly provider: string;
  readonly model: string;
  answer(request: ModelRequest): Promise<JsonObject>;
};
