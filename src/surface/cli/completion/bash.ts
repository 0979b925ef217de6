import { type CommandShape, type Expected, everyCommand, nameOf } from "./shapes.ts";

/** What may follow one state of the command line. */
type Case = readonly [state: string, expected: Expected];

/** The completion of a program for bash 4 and later. */
export function bashCompletion(program: string, root: CommandShape): string {
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
  return `        ${states.map(quoted).join(" | ")}) ${action} ;;`;
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
  return action === undefined ? [] : [`    ${quoted(name)}) ${action} ;;`];
}

function actionOf(expected: Expected, files: string): string | undefined {
  switch (expected.kind) {
    case "words":
      return `mapfile -t COMPREPLY < <(compgen -W ${quoted(expected.words.join(" "))} -- "$cur")`;
    case "pack":
      return `${files} "$cur" '!*.pack'`;
    case "file":
      return `${files} "$cur" ''`;
    case "anything":
      return undefined;
  }
}

function quoted(text: string): string {
  return `"${text}"`;
}
