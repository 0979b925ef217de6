import { type Reached, reachModel } from "../adapters/language-model/reach-model.ts";
import { EXTRACTION_OFF } from "../app/models.ts";
import { hostedChoice } from "../config/rules.ts";
import type { Config } from "../config/schema.ts";
import { hostedModel } from "../domain/hosted-models.ts";
import type { Finding } from "./checks.ts";

/**
 * Asks the configured providers whether they have the configured models: the language model of extraction, a hosted embedding model, and
 * the vision model if it is on. No text is sent and nothing is generated.
 * @param timeoutMs for each
 */
export async function verifyModels(config: Config, timeoutMs: number): Promise<readonly Finding[]> {
  const { extraction, embedding, vision } = config;
  const ask = async (
    name: string,
    named: Pick<Parameters<typeof reachModel>[0], "provider" | "model">,
    group: Pick<Config["vision" | "embedding"], "base_url" | "api_key">,
    needsKey = named.provider !== "ollama",
  ): Promise<Finding> => {
    const [baseUrl, apiKey] = [group.base_url, group.api_key?.reveal()];
    return findingOf(name, await reachModel({ ...named, baseUrl, apiKey, needsKey, timeoutMs }));
  };
  const choice = hostedChoice(embedding);
  const hosted = choice && hostedModel(choice);
  const needsKey = hosted?.provider === "openai" && embedding.base_url === undefined;
  const name = "extraction provider";
  return await Promise.all([
    config.isExtractionOn === true
      ? ask(name, extraction, extraction)
      : ({ name, status: "warn", message: `extraction is ${EXTRACTION_OFF}` } as const),
    ...(hosted === undefined
      ? []
      : [
          ask(
            "embedding provider",
            { provider: hosted.provider, model: hosted.name },
            embedding,
            needsKey,
          ),
        ]),
    ...(vision.enabled ? [ask("vision provider", vision, vision)] : []),
  ]);
}

function findingOf(name: string, { isReached, message }: Reached): Finding {
  return { name, status: isReached ? "ok" : "fail", message };
}
