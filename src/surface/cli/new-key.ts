/** The key of a new pack. */
import { Option } from "commander";
import type { Config } from "../../config/schema.ts";
import type { NewKey } from "../../packs/create-pack.ts";
import type { CliContext } from "./context.ts";
import { packWord } from "./default-pack.ts";
import { askFirstPassphrase } from "./secret-prompt.ts";
import { confirm, isTerminal } from "./terminal.ts";

export type KeyOptions = { readonly plain?: true; readonly encryptionKey?: string };

/** `--plain`. */
export function plainOption(): Option {
  return new Option("--plain", "do not encrypt it").conflicts(["encryptionKey"]);
}

/**
 * The key that a command gives a new pack: from its options and settings, else as a person at a terminal chooses. Warns about a
 * weak passphrase.
 */
export async function chooseKey(
  context: CliContext,
  config: Config,
  options: KeyOptions,
): Promise<NewKey> {
  const newKey = await choose(context, config, options);
  if (newKey.kind === "chosen") await tellWeakness(context, newKey.key);
  return newKey;
}

/** Warns if a key text is easy to guess. */
export async function tellWeakness({ output }: CliContext, keyText: string): Promise<void> {
  const { weaknessOf } = await import("../../app/passphrase.ts");
  const weakness = weaknessOf(keyText);
  if (weakness !== undefined) output.note(`Warning: ${weakness}`);
}

async function choose(
  context: CliContext,
  config: Config,
  { plain, encryptionKey }: KeyOptions,
): Promise<NewKey> {
  if (plain === true || encryptionKey === "") return { kind: "plain" };
  if (encryptionKey !== undefined) return { kind: "chosen", key: encryptionKey, isKept: false };
  const configured = config.encryption_enabled ? config.encryption_key?.reveal() : undefined;
  if (configured) return { kind: "chosen", key: configured, isKept: false };
  if (!isTerminal()) return { kind: "generated" };
  const key = await askFirstPassphrase(context);
  if (key === undefined) return { kind: "generated" };
  const question = "Keep its key on this machine, so that assistants can open the pack?";
  return { kind: "chosen", key, isKept: await confirm(question, true) };
}

/** What a person should know about the key of a new pack: whether there is one, then what to do, one item per line. */
export function aboutKey(
  { kind }: NewKey,
  keptIn: string | undefined,
  path: string,
): readonly string[] {
  if (kind === "plain") {
    return ["not encrypted: anyone who can read the file can read the memories."];
  }
  const word = packWord(path);
  if (keptIn === undefined) {
    return [
      "encrypted.",
      "Its key is not kept on this machine. So that assistants can open the pack:",
      `  svc key import ${word}`,
      "If you lose the key, you lose the pack: nobody can restore it.",
    ];
  }
  return [
    "encrypted.",
    `Its key is kept in ${keptIn}.`,
    "If you lose the key, you lose the pack: nobody can restore it. Back the key up, elsewhere:",
    `  svc key export ${word}`,
  ];
}
