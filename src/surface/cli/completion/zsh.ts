import { shellWord } from "../../../lib/shell-word.ts";
import { type CommandShape, type Expected, nameOf, type OptionShape } from "./shapes.ts";

/** The completion of a program for zsh. */
export function zshCompletion(program: string, root: CommandShape): string {
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
