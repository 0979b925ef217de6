import type { Argument, Command, Option } from "commander";

/** What is expected at a place of a command line. */
export type Expected =
  | { readonly kind: "words"; readonly words: readonly string[] }
  /** Packs and the folders that may contain them. */
  | { readonly kind: "pack" }
  | { readonly kind: "file" }
  | { readonly kind: "anything" };

export type OptionShape = {
  /** As typed, for example `--format`. */
  readonly flag: string;
  readonly description: string;
  /** Undefined: it takes no value. */
  readonly value: Expected | undefined;
};

/** A command as a shell sees it. */
export type CommandShape = {
  /** The words that name it, after the program's own; none: the program. */
  readonly path: readonly string[];
  readonly description: string;
  readonly options: readonly OptionShape[];
  /** Its arguments, word by word. */
  readonly places: readonly Expected[];
  readonly parts: readonly CommandShape[];
};

/** Names of arguments and option values that are paths. */
const PACKS = ["pack", "path", "new.pack", "directory"];
const PACK_OPTIONS = ["--db-path"];
const FILES = ["file", "to"];
const FILE_OPTIONS = ["--env-file"];

/** The shape of a command and of all below it, as commander would read a command line. */
export function shapeOf(command: Command, path: readonly string[] = []): CommandShape {
  const help = command.createHelp();
  const parts = help.visibleCommands(command).filter((part) => part.name() !== "help");
  return {
    path,
    description: command.description(),
    options: help.visibleOptions(command).map(optionShape),
    places: command.registeredArguments.map(placeOf),
    parts: parts.map((part) => shapeOf(part, [...path, part.name()])),
  };
}

/** A command and all below it, each before its parts. */
export function everyCommand(shape: CommandShape): readonly CommandShape[] {
  return [shape, ...shape.parts.flatMap(everyCommand)];
}

/** The last word of a command's name. */
export function nameOf({ path }: CommandShape): string {
  return path.at(-1) ?? "";
}

function optionShape(option: Option): OptionShape {
  const { long, short, description, flags } = option;
  const flag = long ?? short ?? flags;
  const takesValue = option.required || option.optional;
  return { flag, description, value: takesValue ? valueFor(option, flag) : undefined };
}

function valueFor({ argChoices, flags }: Option, flag: string): Expected {
  if (argChoices !== undefined) return { kind: "words", words: argChoices };
  if (PACK_OPTIONS.includes(flag)) return { kind: "pack" };
  const isFile = FILE_OPTIONS.includes(flag) || FILES.some((name) => flags.includes(`<${name}>`));
  return { kind: isFile ? "file" : "anything" };
}

function placeOf(argument: Argument): Expected {
  if (argument.argChoices !== undefined) return { kind: "words", words: argument.argChoices };
  if (PACKS.includes(argument.name())) return { kind: "pack" };
  return { kind: FILES.includes(argument.name()) ? "file" : "anything" };
}
