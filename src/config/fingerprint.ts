import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { readSettingsFile, type SettingsFile } from "./settings-file.ts";

/** Names the owner of one connection. */
const OWNER = /^SVC_MCP__?USER_ID$/i;
/** What each process has for itself: owner and form of the answers of its connection. */
const OWN = /^SVC_MCP__?(?:USER_ID|ANSWERS)$/i;
/** Say who may come over the network, which is no matter of those who come otherwise. */
const KEYS_OF_OWNERS = /^SVC_MCP__?USER_KEYS(?:__|$)/i;
const NETWORK = /^SVC_API(?:_|$)/i;
/** What a configured provider of language models takes from the environment beside its settings. */
const OF_PROVIDERS = /^(?:OPENAI|ANTHROPIC)_(?:API_KEY|BASE_URL)$/;

export type FingerprintSources = {
  /** The files that are the running program. */
  readonly program: readonly string[];
  readonly version: string;
  /** The key that was given on the command line. */
  readonly key: string | undefined;
  /** Whether the process writes nothing. Default false. */
  readonly readOnly?: boolean | undefined;
  /** Default: the process environment. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** The file of settings. Default: none. */
  readonly file?: SettingsFile | undefined;
  /** Where relative paths begin. Default: the working directory. */
  readonly folder?: string | undefined;
};

/**
 * Stands for everything that decides how a process answers for a pack: program, settings and key. Equal in two processes
 * that can stand in for each other. 64 hexadecimal digits, from which no setting can be read, but a guess can be checked:
 * to be treated as a secret.
 */
export function settingsFingerprint(sources: FingerprintSources): string {
  const { program, version, key, readOnly = false, folder = process.cwd() } = sources;
  const file = textOf(sources.file);
  const given = Object.entries(sources.environment ?? process.env);
  const settings = given.filter(([name]) => isShared(name));
  const shown = JSON.stringify([settings, file]);
  const hasProvider = /provider/i.test(shown);
  const ofProviders = given.filter(([name]) => hasProvider && OF_PROVIDERS.test(name));
  const environment = [...settings, ...ofProviders].sort(([one], [other]) =>
    one < other ? -1 : 1,
  );
  const text = JSON.stringify([
    version,
    program.map(stampOf),
    environment,
    file,
    // A path that starts here is another one elsewhere.
    /["'=\s]\.{1,2}\//.test(shown) ? folder : null,
    key ?? null,
    readOnly,
  ]);
  return createHash("sha256").update(text).digest("hex");
}

/**
 * The owner of the connection where one look at the environment tells: undefined where all settings have to be read to know
 * it, or to refuse it.
 */
export function ownerInEnvironment(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): { readonly userId: string | undefined } | undefined {
  const given = Object.entries(environment).filter(([name]) => /^SVC_MCP(?:_|$)/i.test(name));
  const [first] = given;
  if (first === undefined) return { userId: undefined };
  const [name, text = ""] = first;
  const isPlain = given.length === 1 && OWNER.test(name) && /^[\w.@:+-]+$/.test(text);
  return isPlain ? { userId: text } : undefined;
}

/** Whether settings stand in a file, which takes more than the environment to read. */
export function hasSettings(file: SettingsFile | undefined): boolean {
  return textOf(file) !== null;
}

function isShared(name: string): boolean {
  if (!/^SVC_/i.test(name)) return false;
  return ![OWN, KEYS_OF_OWNERS, NETWORK].some((pattern) => pattern.test(name));
}

function stampOf(path: string): readonly (string | number)[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  return [path, stat?.size ?? 0, stat?.mtimeMs ?? 0];
}

function textOf(file: SettingsFile | undefined): string | null {
  try {
    return readSettingsFile(file).text ?? null;
  } catch {
    // What is wrong with it is said by who reads the settings.
    return null;
  }
}
