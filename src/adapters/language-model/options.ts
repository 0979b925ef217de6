/** The hosted services, or a server on this network with the OpenAI protocol, such as Ollama. */
export const LANGUAGE_MODEL_PROVIDERS = ["openai", "anthropic", "ollama"] as const;
export type LanguageModelProvider = (typeof LANGUAGE_MODEL_PROVIDERS)[number];

export type ReasoningEffort = "none" | "low" | "medium" | "high";

/** Settings of a language model. */
export type LanguageModelOptions = {
  readonly provider: LanguageModelProvider;
  /** The provider's name for the model. */
  readonly model: string;
  /** If undefined, a hosted provider refuses every call without using the network; `ollama` needs none. */
  readonly apiKey?: string | undefined;
  /** Default: the provider's own address, and `http://localhost:11434/v1` for `ollama`. */
  readonly baseUrl?: string | undefined;
  /** Undefined: not sent, and `none` for `ollama`. Never sent to `anthropic`. */
  readonly reasoningEffort?: ReasoningEffort | undefined;
  /** Retries after a lost connection and status 408, 409, 429 and 5xx. Default 2. */
  readonly transportRetries?: number | undefined;
};
