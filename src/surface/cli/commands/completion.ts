import { Argument, Command, type Option } from "commander";
import { shellWord } from "../../../lib/text.ts";
import type { CliContext } from "../context.ts";

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;
type Shell = keyof typeof SHELLS;

/**
 * `svc completion`: lets a shell complete the commands of this program.
 * @param whole makes the program with all of its commands
 */
export function completionCommand({ output }: CliContext, whole: () => Promise<Command>): Command {
  return new Command("completion")
    .description("print the script that lets a shell complete the commands of svc")
    .addArgument(new Argument("<shell>", "which shell").choices(Object.keys(SHELLS)))
    .addHelpText(
      "after",
      `
Examples:
  source <(svc completion bash)                                      now, or permanently in ~/.bashrc
  source <(svc completion zsh)                                       in ~/.zshrc, behind compinit
  svc completion fish > ~/.config/fish/completions/svc.fish

Completes commands, options, the values that an option allows, and packs. Repeat it after an update.`,
    )
    .action(async (shell: Shell) => {
      const program = await whole();
      await output.piece(SHELLS[shell](program.name(), shapeOf(program)));
    });
}

/** What is expected at a place of a command line. */
type Expected =
  | { readonly kind: "words"; readonly words: readonly string[] }
  /** Packs and the folders that may contain them. */
  | { readonly kind: "pack" }
  | { readonly kind: "file" }
  | { readonly kind: "anything" };

type OptionShape = {
  /** As typed, for example `--format`. */
  readonly flag: string;
  readonly description: string;
  /** Undefined: it takes no value. */
  readonly value: Expected | undefined;
};

/** A command as a shell sees it. */
type CommandShape = {
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
function shapeOf(command: Command, path: readonly string[] = []): CommandShape {
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
function everyCommand(shape: CommandShape): readonly CommandShape[] {
  return [shape, ...shape.parts.flatMap(everyCommand)];
}

/** The last word of a command's name. */
function nameOf({ path }: CommandShape): string {
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

/** What may follow one state of the command line. */
type Case = readonly [state: string, expected: Expected];

/** The completion of a program for bash 4 and later. */
function bashCompletion(program: string, root: CommandShape): string {
  const commands = everyCommand(root);
  const names = commands.filter(({ path }) => path.length > 0).map(({ path }) => wordsOf(path));
  const valued = commands.flatMap(({ path, options }) =>
    options.flatMap(({ flag, value }) => (value === undefined ? [] : [state(path, flag)])),
  );
  return `# bash completion for ${program}. In ~/.bashrc: source <(${program} completion bash)
_${program}() {
  local command="" option="" count=0 word i
  local cur=\${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word == "=" ]]; then
      continue
    elif [[ -n $option ]]; then
      option=""
    elif [[ $word == -* ]]; then
      case "$command $word" in
${caseLine(valued, "option=$word")}
      esac
    else
      case "\${command:+$command }$word" in
${caseLine(names, `command+=\${command:+ }$word`)}
        *) count=$((count + 1)) ;;
      esac
    fi
  done
  [[ $cur == "=" ]] && cur=""
  local state="$command $count"
  [[ $cur == -* ]] && state="$command -"
  [[ -n $option ]] && state="$command $option"
  case "$state" in
${commands
  .flatMap(casesOf)
  .flatMap((one) => caseOf(one, `_${program}_files`))
  .join("\n")}
  esac
}
_${program}_files() {
  # Readline quotes the names that it shows; what was typed may be quoted already.
  local typed=\${1//\\\\/}
  typed=\${typed#[\\"\\']}
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -X "$2" -- "$typed"; compgen -d -- "$typed")
}
complete -F _${program} ${program}
`;
}

function wordsOf(path: readonly string[]): string {
  return path.join(" ");
}

function state(path: readonly string[], what: string | number): string {
  return `${wordsOf(path)} ${what}`;
}

function caseLine(states: readonly string[], action: string): string {
  return `        ${states.map(bashWord).join(" | ")}) ${action} ;;`;
}

function casesOf({ path, options, places, parts }: CommandShape): readonly Case[] {
  const flags: Case = [state(path, "-"), { kind: "words", words: options.map(({ flag }) => flag) }];
  const values = options.map(
    ({ flag, value }): Case => [state(path, flag), value ?? { kind: "anything" }],
  );
  const first: readonly Case[] =
    parts.length === 0 ? [] : [[state(path, 0), { kind: "words", words: parts.map(nameOf) }]];
  return [flags, ...values, ...first, ...places.map((place, at): Case => [state(path, at), place])];
}

/** @param files name of the function that completes paths */
function caseOf([name, expected]: Case, files: string): readonly string[] {
  const action = actionOf(expected, files);
  return action === undefined ? [] : [`    ${bashWord(name)}) ${action} ;;`];
}

function actionOf(expected: Expected, files: string): string | undefined {
  switch (expected.kind) {
    case "words":
      return `mapfile -t COMPREPLY < <(compgen -W ${bashWord(expected.words.join(" "))} -- "$cur")`;
    case "pack":
      return `${files} "$cur" '!*.pack'`;
    case "file":
      return `${files} "$cur" ''`;
    case "anything":
      return undefined;
  }
}

function bashWord(text: string): string {
  return `"${text}"`;
}

/** The completion of a program for zsh. */
function zshCompletion(program: string, root: CommandShape): string {
  return `#compdef ${program}
# zsh completion for ${program}. In ~/.zshrc, behind compinit: source <(${program} completion zsh)
${functions(`_${program}`, root).join("\n")}
if [[ $funcstack[1] == _${program} ]]; then
  _${program} "$@"
else
  compdef _${program} ${program}
fi
`;
}

/** A function for each command; a command with parts calls theirs. */
function functions(name: string, shape: CommandShape): readonly string[] {
  const { options, places, parts } = shape;
  const specs = options.map(optionSpec);
  if (parts.length === 0) {
    const rest = places.map((place, at) =>
      shellWord(`${at + 1}:${message(place)}:${action(place)}`),
    );
    return [`${name}() {\n  _arguments ${[...specs, ...rest].join(" \\\n    ")}\n}`];
  }
  const described = parts.map((part) => shellWord(`${nameOf(part)}:${part.description}`));
  const cases = parts.map((part) => `        ${nameOf(part)}) ${name}_${nameOf(part)} ;;`);
  const own = `${name}() {
  local curcontext=$curcontext state line
  typeset -A opt_args
  _arguments -C ${[...specs, "'1:command:->command'", "'*::argument:->rest'"].join(" \\\n    ")}
  case $state in
    command)
      local -a commands=(
        ${described.join("\n        ")}
      )
      _describe command commands
      ;;
    rest)
      case $line[1] in
${cases.join("\n")}
      esac
      ;;
  esac
}`;
  return [own, ...parts.flatMap((part) => functions(`${name}_${nameOf(part)}`, part))];
}

function optionSpec({ flag, description, value }: OptionShape): string {
  const told = `[${description.replace(/[\\[\]]/g, "\\$&")}]`;
  // With = a value may also follow a blank.
  const spec =
    value === undefined ? `${flag}${told}` : `${flag}=${told}:${message(value)}:${action(value)}`;
  return shellWord(spec);
}

function message({ kind }: Expected): string {
  return kind === "words" || kind === "anything" ? "value" : kind;
}

function action(expected: Expected): string {
  switch (expected.kind) {
    case "words":
      return `(${expected.words.join(" ")})`;
    case "pack":
      return '_files -g "*.pack"';
    case "file":
      return "_files";
    case "anything":
      return "";
  }
}

/** The completion of a program for fish. */
function fishCompletion(program: string, root: CommandShape): string {
  const lines = everyCommand(root).flatMap((shape) => linesOf(program, shape));
  return `# fish completion for ${program}: ${program} completion fish > ~/.config/fish/completions/${program}.fish
function __${program}_is --description 'whether the command line is one of this command'
    set -l words (commandline -opc)
    set -e words[1]
    set -l end (count $argv)
    test $end -eq 0; and test (count $words) -eq 0; and return 0
    test $end -gt 0; and test "$words[1..$end]" = "$argv"
end
function __${program}_begins --description 'whether the next word is the first one behind this command'
    set -l words (commandline -opc)
    test (count $words) -eq (math (count $argv) + 1); and __${program}_is $argv
end
complete -c ${program} -f
${lines.join("\n")}
`;
}

function linesOf(program: string, { path, options, places, parts }: CommandShape): string[] {
  const here = condition(`__${program}_is`, path);
  const first = condition(`__${program}_begins`, path);
  const begin = (when: string): string => `complete -c ${program} -n ${fishWord(when)}`;
  return [
    ...parts.map((part) => `${begin(first)} -a ${nameOf(part)} -d ${fishWord(part.description)}`),
    ...options.map(({ flag, description, value }) => {
      const takes = value === undefined ? "" : ` ${valueWords(value)}`;
      return `${begin(here)} -l ${flag.replace(/^--/, "")}${takes} -d ${fishWord(description)}`;
    }),
    ...places
      .filter(({ kind }) => kind !== "anything")
      .map((place) => `${begin(here)} ${placeWords(place)}`),
  ];
}

function condition(test: string, path: readonly string[]): string {
  return [test, ...path].join(" ");
}

function valueWords(value: Expected): string {
  return value.kind === "anything" ? "-x" : `-r ${placeWords(value)}`;
}

function placeWords(expected: Expected): string {
  switch (expected.kind) {
    case "words":
      return `-f -a ${fishWord(expected.words.join(" "))}`;
    case "pack":
      return `-f -a '(__fish_complete_suffix .pack)'`;
    case "file":
      return "-F";
    case "anything":
      return "";
  }
}

function fishWord(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}
