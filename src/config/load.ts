import { resolve } from "node:path";
import { inspect, isDeepStrictEqual } from "node:util";
import type { z } from "zod";
import { ollamaAddress, withoutPassword } from "../domain/addresses.ts";
import { SvcError } from "../domain/errors.ts";
import { isJsonObject } from "../lib/json.ts";
import { Secret } from "../lib/secret.ts";
import { type Given, isKnown, readVariables, type SourceValues } from "./environment.ts";
import { directorySettings, isFolder, workingFolder } from "./path.ts";
import { type Complaint, checkRules, unreadSettings } from "./rules.ts";
import {
  CONFIG_SCHEMA,
  type Config,
  type ConfigInput,
  describeSetting,
  describeSettings,
  GROUP_SETTINGS,
  NO_EFFECT,
} from "./schema.ts";
import { envFileIn, readSettingsFile, type SettingsFile } from "./settings-file.ts";

/** The sources of a configuration; absent members mean those of the real process. */
export type LoadOptions = {
  /** Values that override everything else. */
  readonly explicit?: ConfigInput | undefined;
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** The folder whose `.env` is read if `file` is absent. Default: the working directory. */
  readonly folder?: string | undefined;
  /** The settings file; null: none is read. */
  readonly file?: SettingsFile | null | undefined;
};

export type LoadedConfig = {
  readonly config: Config;
  /** Lines for a person; none contains a secret. */
  readonly warnings: readonly string[];
  /** The access-granting settings decided by a file, in lines for a person, without their values. */
  readonly notices: readonly string[];
  /** Environment variables that override a different value of the settings file. */
  readonly shadowing: readonly string[];
};

/** Settings that decide where data and keys go, and who has access; changes must not go unnoticed. */
const OF_CONSEQUENCE =
  /(?:_url|embedding\.provider|(?:extraction|vision)\.(?:provider|model|api_key)|_path|encryption_key|cors_origins|cors_allow_credentials|allowed_hosts|allow_unauthenticated_external_bind)$/;

/**
 * The configuration of this process: explicit values, then the environment, then the settings file, then the defaults; setting by
 * setting. Secrets are masked wherever the result is printed.
 * @throws SvcError invalid_config naming the setting (`data.setting`), never a secret's value
 */
export function loadConfig(options: LoadOptions = {}): LoadedConfig {
  const environment = options.environment ?? process.env;
  const file =
    options.file === undefined ? envFileIn(options.folder ?? workingFolder()) : options.file;
  const content = readSettingsFile(file ?? undefined);
  const origin = file === null || file.found === "working-directory" ? ".env" : file.path;
  const fromFile = readVariables(content.variables, origin);
  const fromEnvironment = readVariables(Object.entries(environment), "environment");
  const explicit = explicitValues(options.explicit ?? {});
  // Later sources win.
  const given = new Map([...fromFile.values, ...fromEnvironment.values, ...explicit]);
  const idle = [...given.keys()].filter((name) => NO_EFFECT.has(name));
  for (const name of idle) given.delete(name);
  const decided = [...fromFile.values].filter(([name, value]) => given.get(name) === value);
  const { config, notices } = parseConfig(given, file?.path ?? "", {
    environment: new Map(Object.entries(environment)),
    file: content.variables,
    fileValues: fromFile.values,
    decidedByFile: new Set(decided.map(([name]) => name)),
  });
  const warnings = [
    ...content.warnings,
    ...fromFile.warnings,
    ...fromEnvironment.warnings,
    ...idle.map((name) => `${name} has no effect in this version and is ignored`),
    ...unreadSettings(config, new Set(given.keys())),
  ];
  const shadowing = [...fromEnvironment.values].flatMap(([setting, decides]) => {
    const hidden = fromFile.values.get(setting);
    const isHiding = hidden !== undefined && !isDeepStrictEqual(hidden.value, decides.value);
    return isHiding && given.get(setting) === decides ? [decides.name] : [];
  });
  return { config, warnings, notices, shadowing };
}

/** The same configuration with this key for the pack, or with none. */
export function withEncryptionKey(config: Config, key: string | undefined): Config {
  const encryption_key = key === undefined ? undefined : new Secret(key);
  return { ...config, encryption_enabled: key !== undefined, encryption_key };
}

function explicitValues(explicit: ConfigInput): ReadonlyMap<string, Given> {
  const values = new Map<string, Given>();
  const take = (setting: string, value: unknown): void => {
    if (value !== undefined) values.set(requireKnown(setting), { value, name: setting });
  };
  for (const [name, value] of Object.entries(explicit)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(GROUP_SETTINGS, name)) {
      take(name, value);
      continue;
    }
    if (!isJsonObject(value)) {
      const message = `${name}: must be an object of settings`;
      throw new SvcError("invalid_config", message, { setting: name });
    }
    for (const [member, inner] of Object.entries(value)) take(`${name}.${member}`, inner);
  }
  return values;
}

function requireKnown(setting: string): string {
  if (isKnown(setting)) return setting;
  const known = describeSettings().map((description) => description.setting);
  throw new SvcError(
    "invalid_config",
    `${setting} is not a setting of this version; the settings are ${known.join(", ")}`,
    { setting },
  );
}

/** @param path of the settings file, for messages */
function parseConfig(
  given: ReadonlyMap<string, Given>,
  path: string,
  sources: ProviderSources,
): { readonly config: Config; readonly notices: readonly string[] } {
  const result = CONFIG_SCHEMA.safeParse(nested(given));
  if (!result.success) {
    const { issues } = result.error;
    throw refusal(
      issues.map((one) => complaint(one, given)),
      given,
    );
  }
  const { config, fromFile, withheld } = withProviderVariables(inFolder(result.data), sources);
  const keys = withheld.map(
    (group) =>
      `the key of ${group} is not used: ${path} says where it would be sent, and the key is not from there; set ${group}.api_key and ${group}.base_url in one place`,
  );
  const complaints = checkRules(config);
  if (complaints.length > 0) throw refusal(complaints, given, keys);
  const told = [...sources.decidedByFile].filter((name) => OF_CONSEQUENCE.test(name));
  const names = [...told, ...fromFile].sort();
  const notices = names.length === 0 ? [] : [`Settings taken from ${path}: ${names.join(", ")}`];
  const whole = { ...config, isExtractionOn: asksForExtraction(given) };
  return { config: whole, notices: [...notices, ...keys.map((line) => `Warning: ${line}`)] };
}

/** A folder named as the pack is the directory pack in it. */
function inFolder(config: Config): Config {
  const { pack_path: path } = config;
  return path !== undefined && isFolder(path)
    ? { ...config, ...directorySettings(resolve(path)), packFolder: resolve(path) }
    : config;
}

const ASKING = ["provider", "model", "api_key", "base_url"] as const;

function asksForExtraction(given: ReadonlyMap<string, Given>): boolean {
  return ASKING.some((name) => {
    const value = given.get(`extraction.${name}`)?.value;
    return value !== undefined && value !== null && String(value).trim() !== "";
  });
}

function nested(given: ReadonlyMap<string, Given>): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  const groups = new Map<string, Record<string, unknown>>();
  for (const [setting, { value }] of given) {
    const [group = "", name] = setting.split(".");
    if (name === undefined) {
      result[group] = value;
      continue;
    }
    const members = groups.get(group) ?? {};
    members[name] = value;
    groups.set(group, members);
  }
  return { ...result, ...Object.fromEntries(groups) };
}

function complaint(issue: z.core.$ZodIssue, given: ReadonlyMap<string, Given>): Complaint {
  const path = issue.path.map(String);
  const depth = path[0] !== undefined && Object.hasOwn(GROUP_SETTINGS, path[0]) ? 2 : 1;
  const setting = path.slice(0, depth).join(".");
  const known = describeSetting(setting);
  if (known === undefined || issue.code === "custom") return { setting, reason: issue.message };
  const entry = path[depth] === undefined ? "" : ` (at ${JSON.stringify(path[depth])})`;
  const wanted = `expected ${known.type}${known.bounds === "" ? "" : ` (${known.bounds})`}`;
  const got = known.isSecret ? "" : `, not ${shown(given.get(setting)?.value)}`;
  return { setting, reason: `${wanted}${got}${entry}` };
}

function shown(value: unknown): string {
  const text =
    typeof value === "string"
      ? JSON.stringify(withoutPassword(value))
      : inspect(value, { breakLength: Number.POSITIVE_INFINITY });
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
}

function refusal(
  complaints: readonly Complaint[],
  given: ReadonlyMap<string, Given>,
  remarks: readonly string[] = [],
): SvcError {
  const lines = complaints.map(({ setting, reason }) => {
    const name = given.get(setting)?.name ?? setting;
    return `${name}: ${reason}`;
  });
  return new SvcError("invalid_config", [...lines, ...remarks].join("; "), {
    setting: complaints[0]?.setting ?? "",
  });
}

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
type ProviderSources = {
  readonly environment: Variables;
  /** The variables of the settings file, and which of our settings they decide. */
  readonly file: Variables;
  readonly fileValues: SourceValues["values"];
  /** Our settings that the file ultimately decides. */
  readonly decidedByFile: ReadonlySet<string>;
};

/** The resulting configuration, with the names of the provider variables found in the file. */
type Completed = {
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
function withProviderVariables(config: Config, sources: ProviderSources): Completed {
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
