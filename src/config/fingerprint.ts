import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { workingFolder } from "./path.ts";
import { readSettingsFile, type SettingsFile } from "./settings-file.ts";

/** The owner of one connection, which is specific to each process. */
const OWNER = /^SVC_MCP__?USER_ID$/i;
/** Who may connect over the network, which is irrelevant to other connections. */
const KEYS_OF_OWNERS = /^SVC_MCP__?USER_KEYS(?:__|$)/i;
const NETWORK = /^SVC_API(?:_|$)/i;
/** What the hooks of one program do. */
const CAPTURE = /^SVC_CAPTURE$/i;
/** What a configured language model provider reads from the environment besides its settings. */
const OF_PROVIDERS = /^(?:(?:OPENAI|ANTHROPIC)_(?:API_KEY|BASE_URL)|OLLAMA_HOST)$/;

export type FingerprintSources = {
  /** The files that are the running program. */
  readonly program: readonly string[];
  readonly version: string;
  readonly key: string | undefined;
  /** Whether the process is read-only. Default false. */
  readonly readOnly?: boolean | undefined;
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** The settings file. Default: none. */
  readonly file?: SettingsFile | undefined;
  /** Where relative paths begin. Default: the working directory. */
  readonly folder?: string | undefined;
};

/**
 * A fingerprint of everything that determines how a process answers for a pack: program, settings and key. Equal in interchangeable
 * processes. 64 hexadecimal digits, which reveal no setting but allow checking a guess: treat it as a secret.
 */
export function settingsFingerprint(sources: FingerprintSources): string {
  const { program, version, key, readOnly = false, folder = workingFolder() } = sources;
  const file = textOf(sources.file);
  const given = Object.entries(sources.environment ?? process.env);
  const settings = given.filter(([name]) => isShared(name));
  const shown = JSON.stringify([settings, file]);
  const hasProvider = /provider|vision/i.test(shown);
  const ofProviders = given.filter(([name]) => hasProvider && OF_PROVIDERS.test(name));
  const environment = [...settings, ...ofProviders].sort(([one], [other]) =>
    one < other ? -1 : 1,
  );
  const text = JSON.stringify([
    version,
    program.map(stampOf),
    environment,
    file,
    // A path relative to this folder would differ elsewhere.
    /["'=\s]\.{1,2}\//.test(shown) ? folder : null,
    key ?? null,
    readOnly,
  ]);
  return createHash("sha256").update(text).digest("hex");
}

/** The owner of the connection if the environment alone determines it; undefined if all settings must be read to decide. */
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

/** Whether a file has settings, so that reading the environment is not enough. */
export function hasSettings(file: SettingsFile | undefined): boolean {
  return textOf(file) !== null;
}

function isShared(name: string): boolean {
  if (!/^SVC_/i.test(name)) return false;
  return ![OWNER, KEYS_OF_OWNERS, NETWORK, CAPTURE].some((pattern) => pattern.test(name));
}

function stampOf(path: string): readonly (string | number)[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  return [path, stat?.size ?? 0, stat?.mtimeMs ?? 0];
}

function textOf(file: SettingsFile | undefined): string | null {
  try {
    return readSettingsFile(file).text ?? null;
  } catch {
    // The settings reader reports what is wrong with it.
    return null;
  }
}
