import { ollamaAddress } from "../domain/addresses.ts";
import { Secret } from "../lib/secret.ts";
import type { SourceValues } from "./environment.ts";
import type { Config } from "./schema.ts";

/** The variables that hosted providers' own tools read; their names are case-sensitive. */
const VARIABLES = {
  openai: { key: "OPENAI_API_KEY", address: "OPENAI_BASE_URL" },
  anthropic: { key: "ANTHROPIC_API_KEY", address: "ANTHROPIC_BASE_URL" },
  ollama: undefined,
  fastembed: undefined,
  local: undefined,
} as const;

/** Of Ollama's own tools, in which addresses have a form of their own. */
const OLLAMA_HOST = "OLLAMA_HOST";

type Variables = ReadonlyMap<string, string | undefined>;

/** Where addresses and keys may come from. */
export type ProviderSources = {
  readonly environment: Variables;
  /** The variables of the settings file, and which of our settings they decide. */
  readonly file: Variables;
  readonly fileValues: SourceValues["values"];
  /** Our settings that the file ultimately decides. */
  readonly decidedByFile: ReadonlySet<string>;
};

/** The resulting configuration, with the names of the provider variables found in the file. */
export type Completed = {
  readonly config: Config;
  readonly fromFile: readonly string[];
  /** Groups with an unused key. */
  readonly withheld: readonly GroupName[];
};

type GroupName = "extraction" | "embedding" | "vision";
type ModelGroup = Config[GroupName];

/**
 * Completes key and address of each model from its provider's variables. Only those of the configured provider are read; empty ones count
 * as absent. An address from the file only gets a key from the file: otherwise its author would receive a key not meant for it.
 */
export function withProviderVariables(config: Config, sources: ProviderSources): Completed {
  const extraction = completed("extraction", config.extraction, sources);
  const embedding = completed("embedding", config.embedding, sources);
  // If it is off, its variables are not read.
  const vision = config.vision.enabled
    ? completed("vision", config.vision, sources)
    : asGiven(config.vision);
  const all = [extraction, embedding, vision];
  return {
    config: {
      ...config,
      vision: vision.group,
      extraction: extraction.group,
      embedding: embedding.group,
    },
    fromFile: [...new Set(all.flatMap(({ addressInFile }) => addressInFile ?? []))],
    withheld: all.flatMap(({ name, isWithheld }) => (isWithheld ? [name] : [])),
  };
}

type CompletedGroup<T> = {
  readonly name: GroupName;
  readonly group: T;
  /** The provider's variable in the file that supplied the address. */
  readonly addressInFile: string | undefined;
  readonly isWithheld: boolean;
};

function asGiven(group: Config["vision"]): CompletedGroup<Config["vision"]> {
  return { name: "vision", group, addressInFile: undefined, isWithheld: false };
}

function completed<T extends ModelGroup>(
  name: GroupName,
  group: T,
  sources: ProviderSources,
): CompletedGroup<T> {
  const names = namesFor(name, group.provider);
  const inEnvironment = addressIn(sources.environment, names?.address);
  const inFile = addressIn(sources.file, names?.address);
  const address = group.base_url ?? inEnvironment ?? inFile;
  const key =
    group.api_key?.reveal() ??
    textOf(sources.environment, names?.key) ??
    textOf(sources.file, names?.key);
  const isOurs = group.base_url !== undefined;
  const usesFile = isOurs
    ? sources.decidedByFile.has(`${name}.base_url`)
    : inEnvironment === undefined && inFile !== undefined;
  const whole = { ...group, base_url: address };
  if (!usesFile) {
    return {
      name,
      group: { ...whole, api_key: secretOf(key) },
      addressInFile: undefined,
      isWithheld: false,
    };
  }
  const fileKey = sources.decidedByFile.has(`${name}.api_key`)
    ? group.api_key?.reveal()
    : (ownTextOf(sources, `${name}.api_key`) ?? textOf(sources.file, names?.key));
  return {
    name,
    group: { ...whole, api_key: secretOf(fileKey) },
    addressInFile: isOurs ? undefined : names?.address,
    isWithheld: fileKey === undefined && key !== undefined && key !== "",
  };
}

/** Which variables a group reads. Extraction has never read Ollama's. */
function namesFor(
  name: GroupName,
  provider: ModelGroup["provider"],
): { readonly key: string | undefined; readonly address: string } | undefined {
  if (name === "vision" && provider === "ollama") return { key: undefined, address: OLLAMA_HOST };
  return provider === undefined ? undefined : VARIABLES[provider];
}

function addressIn(source: Variables, name: string | undefined): string | undefined {
  const address = textOf(source, name);
  return address !== undefined && name === OLLAMA_HOST ? ollamaAddress(address) : address;
}

function secretOf(text: string | undefined): Secret | undefined {
  return text === undefined ? undefined : new Secret(text);
}

/** The file's value of a setting that another source decides. */
function ownTextOf({ fileValues }: ProviderSources, setting: string): string | undefined {
  const value = fileValues.get(setting)?.value;
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

function textOf(source: Variables, name: string | undefined): string | undefined {
  return name === undefined ? undefined : source.get(name)?.trim() || undefined;
}
