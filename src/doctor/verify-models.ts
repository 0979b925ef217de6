import { type Reached, reachModel } from "../adapters/language-model/reach-model.ts";
import { EXTRACTION_OFF } from "../app/models.ts";
import { hostedChoice } from "../config/rules.ts";
import type { Config } from "../config/schema.ts";
import { hostedModel } from "../domain/hosted-models.ts";
import type { Finding } from "./checks.ts";

/**
 * Asks the providers of the settings whether they have the models that the settings name: the language model of extraction, an
 * embedding model of a server, and the vision model where it is on. No text is sent and nothing is generated.
 * @param timeoutMs for each
 */
export async function verifyModels(config: Config, timeoutMs: number): Promise<readonly Finding[]> {
  const { extraction, embedding } = config;
  const { provider, model } = extraction;
  const findings: Promise<Finding>[] = [];
  const name = "extraction provider";
  if (config.isExtractionOn === true) {
    const found = reachModel({
      ...{ provider, model, timeoutMs, baseUrl: extraction.base_url },
      apiKey: extraction.api_key?.reveal(),
      needsKey: provider !== "ollama",
    });
    findings.push(found.then((reached) => findingOf(name, reached)));
  } else
    findings.push(
      Promise.resolve({ name, status: "warn", message: `extraction is ${EXTRACTION_OFF}` }),
    );
  const choice = hostedChoice(embedding);
  const hosted = choice && hostedModel(choice);
  if (hosted !== undefined) {
    const found = reachModel({
      ...{ provider: hosted.provider, model: hosted.name, timeoutMs, baseUrl: embedding.base_url },
      apiKey: embedding.api_key?.reveal(),
      needsKey: hosted.provider === "openai" && embedding.base_url === undefined,
    });
    findings.push(found.then((reached) => findingOf("embedding provider", reached)));
  }
  if (config.vision.enabled) findings.push(visionProvider(config.vision, timeoutMs));
  return await Promise.all(findings);
}

async function visionProvider(
  { provider, model, base_url: baseUrl, api_key: key }: Config["vision"],
  timeoutMs: number,
): Promise<Finding> {
  const needsKey = provider !== "ollama";
  const apiKey = key?.reveal();
  const reached = await reachModel({ provider, model, baseUrl, apiKey, needsKey, timeoutMs });
  return findingOf("vision provider", reached);
}

function findingOf(name: string, { isReached, message }: Reached): Finding {
  return { name, status: isReached ? "ok" : "fail", message };
}
