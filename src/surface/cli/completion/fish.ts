import { type CommandShape, type Expected, everyCommand, nameOf } from "./shapes.ts";

/** The completion of a program for fish. */
export function fishCompletion(program: string, root: CommandShape): string {
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
  const begin = (when: string): string => `complete -c ${program} -n ${quoted(when)}`;
  return [
    ...parts.map((part) => `${begin(first)} -a ${nameOf(part)} -d ${quoted(part.description)}`),
    ...options.map(({ flag, description, value }) => {
      const takes = value === undefined ? "" : ` ${valueWords(value)}`;
      return `${begin(here)} -l ${flag.replace(/^--/, "")}${takes} -d ${quoted(description)}`;
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
      return `-f -a ${quoted(expected.words.join(" "))}`;
    case "pack":
      return `-f -a '(__fish_complete_suffix .pack)'`;
    case "file":
      return "-F";
    case "anything":
      return "";
  }
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}
