/** Who answers: the hosted services, or a server of this network that speaks the OpenAI protocol, such as Ollama. */
export const LANGUAGE_MODEL_PROVIDERS = ["openai", "anthropic", "ollama"] as const;
export type LanguageModelProvider = (typeof LANGUAGE_MODEL_PROVIDERS)[number];

export type ReasoningEffort = "none" | "low" | "medium" | "high";

/** Settings of a language model. */
export type LanguageModelOptions = {
  readonly provider: LanguageModelProvider;
  /** The provider's name of the model. */
  readonly model: string;
  /** Undefined: a hosted provider refuses every call, without asking the network; `ollama` needs none. */
  readonly apiKey?: string | undefined;
  /** Default: the provider's own address, and `http://localhost:11434/v1` for `ollama`. */
  readonly baseUrl?: string | undefined;
  /** Undefined: not sent, and `none` for `ollama`. Never sent to `anthropic`. */
  readonly reasoningEffort?: ReasoningEffort | undefined;
  /** Further tries after a lost connection and status 408, 409, 429 and 5xx. Default 2. */
  readonly transportRetries?: number | undefined;
};
