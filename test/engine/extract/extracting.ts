import { afterEach } from "bun:test";
import { createLanguageModel } from "../../../src/adapters/language-model/create-language-model.ts";
import type { ExtractionSettings } from "../../../src/engine/extract/api.ts";
import {
  type Script,
  type ScriptedProvider,
  startScripted,
} from "../../adapters/language-model/scripted-provider.ts";
import { DEFAULT_SETTINGS, type EngineOptions, useEngines } from "../engines.ts";

/** Engines that extract with a scripted provider over HTTP. */
export function useExtracting() {
  const { open, newPack, settle } = useEngines();
  const servers: ScriptedProvider[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.stop();
  });
  const start = (script: Script = {}): ScriptedProvider => {
    const server = startScripted(script);
    servers.push(server);
    return server;
  };
  const extracting = async (
    script: Script | ScriptedProvider = {},
    settings: Partial<ExtractionSettings> = {},
    options: EngineOptions = {},
  ) => {
    const provider = "asked" in script ? script : start(script);
    const opened = await open({
      ...options,
      settings: {
        ...options.settings,
        extraction: { ...DEFAULT_SETTINGS.extraction, ...settings },
      },
      models: { extractionModel: modelOf(provider) },
    });
    return { ...opened, provider };
  };
  return { extracting, start, open, newPack, settle };
}

export function modelOf({ url }: ScriptedProvider) {
  return createLanguageModel({
    provider: "openai",
    model: "test-model",
    apiKey: "sk-albatross",
    baseUrl: `${url}/v1`,
    transportRetries: 0,
  });
}

/** The claims that an owner has, as text. */
export async function claimsOf(
  engine: Awaited<ReturnType<ReturnType<typeof useEngines>["open"]>>["engine"],
  userId = "ada",
): Promise<readonly string[]> {
  const nodes = await engine.queryNodes({ userId, nodeType: "fact", limit: 1000 });
  return nodes
    .map(
      ({ metadata }) =>
        `${metadata?.["subject"]} ${metadata?.["predicate"]} ${metadata?.["object"]}`,
    )
    .sort();
}
