import { invalid } from "../../domain/errors.ts";
import type { CliContext } from "./deps.ts";
import { INTERRUPTED } from "./signals.ts";

const ENTER = ["\r", "\n", "\u0004"];
const ERASE = ["\b", "\u007f"];
const INTERRUPT = "\u0003";

/**
 * Asks for a new key on the terminal, twice and without showing it.
 * @throws SvcError invalid_argument without a terminal, for nothing typed, or when the two differ
 */
export async function askNewKey(context: CliContext): Promise<string> {
  if (!process.stdin.isTTY) {
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

/** A line from the terminal that is not shown while it is typed. */
async function askSecret(question: string): Promise<string> {
  process.stderr.write(question);
  process.stdin.setRawMode(true);
  process.stdin.resume();
  process.stdin.setEncoding("utf8");
  try {
    return await readLine();
  } finally {
    process.stdin.setRawMode(false);
    process.stdin.pause();
    process.stderr.write("\n");
  }
}

function interrupt(): never {
  process.stdin.setRawMode(false);
  process.stderr.write("\n");
  process.exit(INTERRUPTED);
}

async function readLine(): Promise<string> {
  let typed = "";
  return await new Promise((resolve) => {
    const onData = (chunk: string): void => {
      const end = [...chunk].findIndex((character) => ENTER.includes(character));
      typed = [...chunk].slice(0, end === -1 ? undefined : end).reduce(typeOn, typed);
      if (end === -1) return;
      process.stdin.off("data", onData);
      resolve(typed);
    };
    process.stdin.on("data", onData);
  });
}

function typeOn(typed: string, character: string): string {
  if (character === INTERRUPT) interrupt();
  return ERASE.includes(character) ? [...typed].slice(0, -1).join("") : typed + character;
}
