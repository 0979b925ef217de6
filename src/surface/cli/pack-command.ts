import { Command, Option } from "commander";
import type { CliContext } from "./context.ts";
import { encryptionKeyOption, formatOption, wholeNumber } from "./options.ts";
import type { Format } from "./output.ts";

export const PACK_ARGUMENT = "a .pack file, a directory pack or its memory.db";

/** The options of every command about a pack. */
export type PackOptions = {
  readonly encryptionKey?: string;
  readonly format: Format;
};

type Declaration = {
  readonly name: string;
  readonly description: string;
  /** Names and descriptions. Default: the pack alone. */
  readonly arguments?: readonly (readonly [name: string, description: string])[];
  /** In front of those of every such command, of which it may have its own. */
  readonly options?: readonly Option[];
  readonly examples: string;
};

/** The argument of most commands. */
export const PACK = ["<pack>", PACK_ARGUMENT] as const;

/** A command about a pack: the key of the pack and the form of the result are options. @param run gets arguments and options */
export function packCommand<Given extends readonly unknown[]>(
  { name, description, arguments: names = [PACK], options = [], examples }: Declaration,
  run: (context: CliContext, ...given: Given) => Promise<void>,
): (context: CliContext) => Command {
  return (context) => {
    const command = new Command(name).description(description).addHelpText("after", examples);
    for (const [argument, meaning] of names) command.argument(argument, meaning);
    const common = [encryptionKeyOption(), formatOption()].filter(
      ({ long }) => !options.some((own) => own.long === long),
    );
    for (const option of [...options, ...common]) command.addOption(option);
    return command.action((...given: readonly unknown[]) => {
      // Options that a command has in common with the one that it is a part of are read by that one.
      const all = [...given.slice(0, -2), command.optsWithGlobals()];
      // SAFETY: the arguments and the options, as they are declared. Last came the options and the command itself.
      return run(context, ...(all as unknown as Given));
    });
  };
}

/** An option with a whole number. */
export function countOption(
  flags: string,
  description: string,
  [min, max]: readonly [number, number],
  preset: number,
): Option {
  return new Option(flags, description).argParser(wholeNumber(min, max)).default(preset);
}

/** An option that takes one of some words, written in any case. All words are in lower case. */
export function choiceOption(flags: string, description: string, words: readonly string[]): Option {
  const option = new Option(flags, description).choices(words);
  const { parseArg } = option;
  return option.argParser((text, former: unknown) => parseArg?.(text.toLowerCase(), former));
}
