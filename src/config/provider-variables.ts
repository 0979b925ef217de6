import type { Config } from "./schema.ts";

/** The variables that hosted providers' own tools read; their names are case-sensitive. */
const VARIABLES = {
  openai: { key: "OPENAI_API_KEY", address: "OPENAI_BASE_URL" },
  anthropic: { key: "ANTHROPIC_API_KEY", address: "ANTHROPIC_BASE_URL" },
  ollama: undefined,
} as const;

type Variables = ReadonlyMap<string, string | undefined>;

/**
 * Completes the language model's key and address from the variables of its provider. Only those of the configured
 * provider are read; empty ones count as absent.
 * @param sources the first that knows a variable decides
 */
export function withProviderVariables(config: Config, sources: readonly Variables[]): Config {
  const { extraction } = config;
  const names = VARIABLES[extraction.provider];
  if (names === undefined) return config;
  return {
    ...config,
    extraction: {
      ...extraction,
      api_key: extraction.api_key ?? firstGiven(sources, names.key),
      base_url: extraction.base_url ?? firstGiven(sources, names.address),
    },
  };
}

function firstGiven(sources: readonly Variables[], name: string): string | undefined {
  return sources.map((source) => source.get(name)?.trim()).find((value) => value);
}
