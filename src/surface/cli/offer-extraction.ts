/** Extraction for a new pack, as a person at a terminal wants it. */
import { dirname, join, resolve } from "node:path";
import { reachedHost } from "../../app/models.ts";
import type { Config } from "../../config/schema.ts";
import { DEFAULT_LANGUAGE_MODEL } from "../../config/schema.ts";
import { addSettings } from "../../config/settings-file.ts";
import type { CliContext } from "./context.ts";
import { askLine, askSecret, isTerminal } from "./terminal.ts";

const PROVIDERS = ["openai", "anthropic", "ollama"] as const;
type Provider = (typeof PROVIDERS)[number];

/**
 * Asks at a terminal who is to extract facts from ingested messages, and keeps the answer beside the pack. Elsewhere, and where
 * extraction is on already, nothing happens.
 * @param pack path of its main file
 */
export async function offerExtraction(
  { output }: CliContext,
  config: Config,
  pack: string,
): Promise<void> {
  if (!isTerminal() || config.isExtractionOn === true) return;
  const provider = await askProvider(output);
  if (provider === undefined) return;
  const settings = await askSettings(provider);
  if (settings === undefined) {
    output.note("No model was named: facts are not extracted.");
    return;
  }
  const file = join(dirname(resolve(pack)), ".env");
  addSettings(file, settings);
  output.line(
    `Facts are extracted from ingested messages by ${settings.get(MODEL)} of ${provider}.`,
  );
  const host = reachedHost(provider, settings.get(ADDRESS));
  output.line(`The text of ingested messages is sent to ${host}.`);
  output.line(
    `The settings are in ${file}, which only you can read: svc mcp reads it, and what runs in that folder.`,
  );
}

const MODEL = "SVC_EXTRACTION__MODEL";
const ADDRESS = "SVC_EXTRACTION__BASE_URL";

async function askProvider(output: CliContext["output"]): Promise<Provider | undefined> {
  const question = `Extract facts from ingested messages with a language model? ${PROVIDERS.join(", ")} (just Enter: no): `;
  for (;;) {
    const answer = (await askLine(question)).trim().toLowerCase();
    if (answer === "" || answer === "no" || answer === "n") return undefined;
    const provider = PROVIDERS.find((one) => one === answer);
    if (provider !== undefined) return provider;
    output.note(`There is no provider ${JSON.stringify(answer)}.`);
  }
}

/** The settings by the names of their variables; undefined without a model. */
async function askSettings(provider: Provider): Promise<ReadonlyMap<string, string> | undefined> {
  const preset = provider === DEFAULT_LANGUAGE_MODEL.provider ? DEFAULT_LANGUAGE_MODEL.name : "";
  const hint = preset === "" ? "" : ` (just Enter: ${preset})`;
  const model = (await askLine(`Model${hint}: `)).trim() || preset;
  if (model === "") return undefined;
  const settings = new Map([
    ["SVC_EXTRACTION__PROVIDER", provider],
    [MODEL, model],
  ]);
  if (provider === "ollama") {
    const address = (await askLine("Address (just Enter: http://localhost:11434): ")).trim();
    if (address !== "") settings.set(ADDRESS, address);
    return settings;
  }
  const variable = `${provider.toUpperCase()}_API_KEY`;
  const key = (await askSecret(`Key, not shown (just Enter: ${variable} is used): `)).trim();
  if (key !== "") settings.set("SVC_EXTRACTION__API_KEY", key);
  return settings;
}
