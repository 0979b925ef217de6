import type { Config } from "../config/schema.ts";
import { reachedHost } from "./reached-host.ts";

/** How to turn extraction on, in words. */
export const EXTRACTION_OFF =
  "off; to turn it on, set SVC_EXTRACTION__PROVIDER (openai, anthropic or ollama) and SVC_EXTRACTION__MODEL";

/** Who extracts facts from ingested messages, and where their text goes; undefined if nobody does. */
export function extractor(
  config: Config,
): { readonly provider: string; readonly model: string; readonly host: string } | undefined {
  if (config.isExtractionOn !== true) return undefined;
  const { provider, model, base_url: baseUrl } = config.extraction;
  return { provider, model, host: reachedHost(provider, baseUrl) };
}
