import { InvalidArgumentError, Option } from "commander";
import { loadConfig } from "../../config/load.ts";
import type { Config, ConfigInput } from "../../config/schema.ts";
import { invalid } from "../../domain/errors.ts";
import type { CliContext } from "./deps.ts";
import type { KeyRequest } from "./key-deps.ts";
import { FORMATS, type Output } from "./output.ts";
import { askSecret, isTerminal } from "./terminal.ts";

/** `--format table|json`. */
export function formatOption(): Option {
  return new Option("--format <form>", "how to print the result").choices(FORMATS).default("table");
}

/** `--encryption-key`. Its value is seen by whoever may list processes; the environment is not. */
export function encryptionKeyOption(): Option {
  return new Option(
    "--encryption-key <key>",
    'key or passphrase of the pack; "" for none (default: SVC_ENCRYPTION_KEY when SVC_ENCRYPTION_ENABLED, else the kept key)',
  );
}

/** `--user-id`. */
export function ownerOption(): Option {
  return new Option("--user-id <owner>", "whose memory it is (default: the owner of the pack)");
}

/** Reads a whole number within bounds, for commander. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(
      `${JSON.stringify(text)} is not a whole number from ${min} to ${max}.`,
    );
  };
}

/**
 * The configuration with `path` as the pack and with its key, which a person at a terminal may be asked for; warnings go
 * to stderr.
 * @param encryptionKey the value of `--encryption-key`
 */
export async function configFor(
  context: CliContext,
  path: string | undefined,
  encryptionKey?: string | undefined,
): Promise<Config> {
  const config = await configWithoutKey(context, path);
  return await context.deps.keys.find(config, keyRequest(encryptionKey));
}

/** How the key of a pack may be found by a command. @param encryptionKey the value of `--encryption-key` */
export function keyRequest(encryptionKey: string | undefined): KeyRequest {
  return { given: encryptionKey, ask: isTerminal() ? askForKey : undefined };
}

async function askForKey(isAgain: boolean): Promise<string> {
  const question = "Key or passphrase of the pack: ";
  return await askSecret(isAgain ? `That does not open it. ${question}` : question);
}

/** The configuration with `path` as the pack, and no look at the pack itself; warnings go to stderr. */
export async function configWithoutKey(
  context: Pick<CliContext, "deps"> & { readonly output: Pick<Output, "note"> },
  path: string | undefined,
): Promise<Config> {
  if (path === "") throw invalid("path", "is empty; name a pack, for example ./memory.pack");
  const pack: ConfigInput = path === undefined ? {} : await context.deps.settingsForPath(path);
  const { config, warnings } = loadConfig({ explicit: pack });
  for (const warning of warnings) context.output.note(`Warning: ${warning}`);
  return config;
}

/** Passes an engine's warnings on. */
export function warnOn(context: CliContext): (message: string) => void {
  return (message) => context.output.note(`Warning: ${message}`);
}
