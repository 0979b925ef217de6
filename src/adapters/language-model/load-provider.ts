import type { LanguageModel as SdkModel } from "ai";
import { providerAddress } from "../../domain/addresses.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import type { LanguageModelOptions } from "./options.ts";

/** A provider's client, ready to be asked. */
export type LoadedProvider = {
  readonly model: SdkModel;
  /** Additional settings of every call to this provider. */
  readonly settings: {
    readonly providerOptions?: Record<string, Record<string, string>>;
    readonly maxOutputTokens?: number;
  };
};

/** The protocol of `anthropic` requires a limit. */
const ANTHROPIC_MAX_TOKENS = 4096;

/** Loads the client of one provider. Each is its own module, and none is loaded before the first question. */
export async function loadProvider(options: LanguageModelOptions): Promise<LoadedProvider> {
  const { provider, model, reasoningEffort } = options;
  // Always pass both: otherwise the clients would read the environment themselves.
  const baseURL = providerAddress(provider, options.baseUrl);
  const apiKey = options.apiKey ?? "";
  switch (provider) {
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return {
        model: createOpenAI({ apiKey, baseURL, fetch: boundedFetch }).chat(model),
        settings:
          reasoningEffort === undefined ? {} : { providerOptions: { openai: { reasoningEffort } } },
      };
    }
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return {
        model: createAnthropic({ apiKey, baseURL, fetch: boundedFetch }).languageModel(model),
        settings: { maxOutputTokens: ANTHROPIC_MAX_TOKENS },
      };
    }
    case "ollama": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const client = createOpenAICompatible({
        name: "ollama",
        baseURL,
        supportsStructuredOutputs: true,
        fetch: boundedFetch,
        ...(options.apiKey === undefined ? {} : { apiKey: options.apiKey }),
      });
      return {
        model: client.chatModel(model),
        // Without it, reasoning models spend the time limit on thoughts that nobody reads.
        settings: { providerOptions: { ollama: { reasoningEffort: reasoningEffort ?? "none" } } },
      };
    }
  }
}
