import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { invalid } from "../../domain/errors.ts";

/** What an option looks like until its value: it has no blank. */
const DASHED_TEXT = /^-[^=]*\s/;

/**
 * The arguments with the texts behind `--` where one of them begins with a dash, as `- a list item` and `-5 degrees` do. Without a
 * blank it is taken for an option.
 */
export function withDashedTexts(args: readonly string[], program: Command): readonly string[] {
  const command = program.commands.find((known) => known.name() === args[0]);
  if (command === undefined || command.commands.length > 0 || args.includes("--")) return args;
  const options: string[] = [];
  const texts: string[] = [];
  let isValue = false;
  for (const arg of args.slice(1)) {
    const isText = !isValue && (!/^-./.test(arg) || DASHED_TEXT.test(arg));
    (isText ? texts : options).push(arg);
    const option = command.options.find(({ short, long }) => arg === short || arg === long);
    isValue = !isValue && option !== undefined && option.required;
  }
  if (!texts.some((text) => DASHED_TEXT.test(text))) return args;
  return [command.name(), ...options, "--", ...texts];
}

/**
 * Refuses arguments that are not UTF-8, which have become other characters when we see them.
 * @throws SvcError invalid_argument
 */
export function refuseForeignBytes(args: readonly string[]): void {
  if (!args.some((arg) => arg.includes("\ufffd"))) return;
  if (isUtf8(bytesOfArguments())) return;
  throw invalid("arguments", "are not valid UTF-8");
}

/** As the system keeps them; empty where it does not show them. */
function bytesOfArguments(): Uint8Array {
  try {
    return readFileSync("/proc/self/cmdline");
  } catch {
    return new Uint8Array();
  }
}
