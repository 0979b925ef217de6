import type { Config } from "./schema.ts";

/** The variables that hosted providers' own tools read; their names are case-sensitive. */
const VARIABLES = {
  openai: { key: "OPENAI_API_KEY", address: "OPENAI_BASE_URL" },
  anthropic: { key: "ANTHROPIC_API_KEY", address: "ANTHROPIC_BASE_URL" },
  ollama: undefined,
} as const;

type Variables = ReadonlyMap<string, string | undefined>;

/**
 * Completes key and address of each language model from the variables of its provider. Only those of the configured
 * provider are read; empty ones count as absent.
 * @param sources the first that knows a variable decides
 */
export function withProviderVariables(config: Config, sources: readonly Variables[]): Config {
  return {
    ...config,
    extraction: completed(config.extraction, sources),
    answerability: completed(config.answerability, sources),
  };
}

type LanguageModelGroup = Config["extraction"] | Config["answerability"];

function completed<T extends LanguageModelGroup>(group: T, sources: readonly Variables[]): T {
  const names = group.provider === undefined ? undefined : VARIABLES[group.provider];
  if (names === undefined) return group;
  return {
    ...group,
    api_key: group.api_key ?? firstGiven(sources, names.key),
    base_url: group.base_url ?? firstGiven(sources, names.address),
  };
}

function firstGiven(sources: readonly Variables[], name: string): string | undefined {
  return sources.map((source) => source.get(name)?.trim()).find((value) => value);
}
