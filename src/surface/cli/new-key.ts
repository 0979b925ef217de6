import { Option } from "commander";
import type { NewKey } from "../../app/new-key.ts";
import type { Config } from "../../config/schema.ts";
import { invalid } from "../../domain/errors.ts";
import type { CliContext } from "./context.ts";
import { packWord } from "./options.ts";
import { askSecret, confirm, isTerminal } from "./terminal.ts";

export type KeyOptions = { readonly plain?: true; readonly encryptionKey?: string };

/** `--plain`. */
export function plainOption(): Option {
  return new Option("--plain", "do not encrypt it").conflicts(["encryptionKey"]);
}

/** Warns if a key text is easy to guess. */
export async function tellWeakness({ output }: CliContext, keyText: string): Promise<void> {
  const { weaknessOf } = await import("../../app/passphrase.ts");
  const weakness = weaknessOf(keyText);
  if (weakness !== undefined) output.note(`Warning: ${weakness}`);
}

/**
 * The key that a command gives a new pack: from its options and settings, else chosen by a person at a terminal. Warns about a weak
 * passphrase.
 */
export async function chooseKey(
  context: CliContext,
  config: Config,
  { plain, encryptionKey }: KeyOptions,
): Promise<NewKey> {
  if (plain === true || encryptionKey === "") return { kind: "plain" };
  const configured = config.encryption_enabled ? config.encryption_key?.reveal() : undefined;
  const given = encryptionKey ?? configured;
  if (given) {
    await tellWeakness(context, given);
    return { kind: "chosen", key: given, isKept: false };
  }
  if (!isTerminal()) return { kind: "generated" };
  const key = await askFirstPassphrase(context);
  if (key === undefined) return { kind: "generated" };
  return { kind: "chosen", key, isKept: await askToKeep() };
}

/** Whether a person wants a new key to be kept. */
export async function askToKeep(): Promise<boolean> {
  return await confirm("Keep its key on this machine, so that assistants can open the pack?", true);
}

/** What a person should know about the key of a new pack: whether it has one, then what to do, one item per line. */
export async function aboutKey(
  newKey: NewKey,
  keptIn: string | undefined,
  path: string,
): Promise<readonly string[]> {
  if (newKey.kind === "plain") {
    return ["not encrypted: anyone who can read the file can read the memories."];
  }
  const word = packWord(path);
  const { isPassphrase } = await import("../../app/pack-key.ts");
  const hasPassphrase = newKey.kind === "chosen" && isPassphrase(newKey.key);
  const what = hasPassphrase ? "passphrase" : "key";
  const warning = `If you lose the ${what}, you lose the pack: it cannot be recovered.`;
  if (keptIn === undefined) {
    return [
      "encrypted.",
      "Its key is not kept on this machine. So that assistants can open the pack:",
      `  svc key import ${word}`,
      warning,
    ];
  }
  return [
    "encrypted.",
    `Its key is kept in ${keptIn}.`,
    ...(hasPassphrase
      ? [warning]
      : [`${warning} Back the key up, elsewhere:`, `  svc key export ${word}`]),
  ];
}

const ATTEMPTS = 3;

/**
 * Prompts for a new key on the terminal, twice and without showing it.
 * @throws SvcError invalid_argument without a terminal, for empty input, or if the two differ
 */
export async function askNewKey(context: CliContext): Promise<string> {
  if (!isTerminal()) {
    throw invalid(
      "--new-encryption-key",
      "is missing, and there is no terminal to ask on; give it, or set SVC_NEW_ENCRYPTION_KEY",
    );
  }
  const first = await askSecret("New key or passphrase: ");
  if (first === "") throw invalid("key", "nothing was typed; nothing was changed");
  await tellWeakness(context, first);
  const second = await askSecret("Once more: ");
  if (first !== second) throw invalid("key", "the two differ; nothing was changed");
  context.output.note("Keep it safe: without it the pack cannot be read.");
  return first;
}

/**
 * Prompts for the passphrase of a new pack, twice and without showing it.
 * @returns undefined if the person just presses Enter
 * @throws SvcError invalid_argument if the two differ, three times
 */
async function askFirstPassphrase(context: CliContext): Promise<string | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const first = await askSecret("Passphrase (just Enter: a key is made and kept here): ");
    if (first === "") return undefined;
    await tellWeakness(context, first);
    if (first === (await askSecret("Once more: "))) return first;
    context.output.note("The two differ.");
  }
  throw invalid("passphrase", "the two differ; nothing was made");
}
