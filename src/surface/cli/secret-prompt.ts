import { invalid } from "../../domain/errors.ts";
import type { CliContext } from "./context.ts";
import { askSecret, isTerminal } from "./terminal.ts";

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
  const second = await askSecret("Once more: ");
  if (first !== second) throw invalid("key", "the two differ; nothing was changed");
  context.output.note("Keep it safe: without it nobody can read the pack.");
  return first;
}

/**
 * Prompts for the passphrase of a new pack, twice and without showing it.
 * @returns undefined if the person just presses Enter
 * @throws SvcError invalid_argument if the two differ, three times
 */
export async function askFirstPassphrase({ output }: CliContext): Promise<string | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const first = await askSecret("Passphrase (just Enter: a key is made and kept here): ");
    if (first === "") return undefined;
    if (first === (await askSecret("Once more: "))) return first;
    output.note("The two differ.");
  }
  throw invalid("passphrase", "the two differ; nothing was made");
}
