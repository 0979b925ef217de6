import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** Names the owner of one connection, which each process has for itself. */
const OWN = /^SVC_MCP__?USER_ID$/i;

export type FingerprintSources = {
  /** The files that are the running program. */
  readonly program: readonly string[];
  readonly version: string;
  /** The key that was given on the command line. */
  readonly key: string | undefined;
  /** Default: the process environment. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** The folder whose `.env` counts. Default: the working directory. */
  readonly folder?: string | undefined;
};

/**
 * Stands for everything that decides how a process answers for a pack: program, settings and key. Equal in two processes
 * that can stand in for each other. 64 hexadecimal digits, from which no setting can be read, but a guess can be checked:
 * to be treated as a secret.
 */
export function settingsFingerprint(sources: FingerprintSources): string {
  const { program, version, key, folder = process.cwd() } = sources;
  const environment = Object.entries(sources.environment ?? process.env)
    .filter(([name]) => /^SVC_/i.test(name) && !OWN.test(name))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const text = JSON.stringify([
    version,
    program.map(stampOf),
    environment,
    envFileOf(folder),
    key ?? null,
  ]);
  return createHash("sha256").update(text).digest("hex");
}

/** The owner of the connection, as far as it stands in the environment. Checked where the settings are read. */
export function ownerInEnvironment(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
  const names = Object.keys(environment).filter((name) => OWN.test(name));
  // Of both spellings the longer one wins, as among all settings.
  const [name] = names.sort((one, other) => other.length - one.length);
  return name === undefined ? undefined : environment[name];
}

/** Whether settings stand in a file, which takes more than the environment to read. */
export function hasEnvFile(folder: string = process.cwd()): boolean {
  return envFileOf(folder) !== null;
}

function stampOf(path: string): readonly (string | number)[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  return [path, stat?.size ?? 0, stat?.mtimeMs ?? 0];
}

function envFileOf(folder: string): string | null {
  try {
    return readFileSync(join(folder, ".env"), "utf8");
  } catch {
    return null;
  }
}
