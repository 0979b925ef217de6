import type { EngineDeps } from "../deps.ts";
import { createCustomExtractor } from "./custom-extractor.ts";
import { Extractions } from "./extractions.ts";
import { createExtractor, type Extractor } from "./extractor.ts";
import { createGate } from "./gate.ts";

/**
 * Extraction as the dependencies of an engine turn it on; undefined: it is off.
 * @throws SvcError invalid_config for a custom provider that cannot be used
 */
export function createExtractions(deps: EngineDeps): Extractions | undefined {
  const { extractionModel: model, isReadOnly = false } = deps;
  if (model === undefined || isReadOnly) return undefined;
  const { confidenceOverrides, extraction } = deps.settings;
  const settings = { ...extraction, confidenceOverrides };
  const extractor: Extractor =
    "ask" in model ? createExtractor(model, settings) : createCustomExtractor(model, settings);
  return new Extractions({ ...deps, extractor, settings }, createGate(settings.maxConcurrent));
}
