import { Argument, Command, type Option } from "commander";
import type { CliContext } from "../context.ts";

const WORDS = "words";
/** Called by a shell with the words after `svc`, the last one unfinished; prints one proposal a line, `word<tab>description`. */
const ASK = `svc completion ${WORDS} --`;

/** Each asks the program itself, so it fits every version. Where that has no proposal, the shell proposes files. */
const SCRIPTS = {
  bash: `# bash completion for svc. In ~/.bashrc: source <(svc completion bash)
_svc() {
  local cur=\${COMP_WORDS[COMP_CWORD]}
  [[ $cur == "=" ]] && cur=""
  mapfile -t COMPREPLY < <(${ASK} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  COMPREPLY=("\${COMPREPLY[@]%%$'\\t'*}")
}
complete -o default -F _svc svc
`,
  zsh: `#compdef svc
# zsh completion for svc. In ~/.zshrc, behind compinit: source <(svc completion zsh)
_svc() {
  local -a found
  found=("\${(@f)$(${ASK} "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -z $found[1] ]]; then
    _files
  else
    found=("\${found[@]/$'\\t'/:}")
    _describe svc found
  fi
}
if [[ $funcstack[1] == _svc ]]; then
  _svc "$@"
else
  compdef _svc svc
fi
`,
  fish: `# fish completion for svc: svc completion fish > ~/.config/fish/completions/svc.fish
function __svc_words
    set -l words (commandline -opc) (commandline -ct)
    set -l found (${ASK} $words[2..-1] 2>/dev/null)
    if test -n "$found"
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c svc -f -a '(__svc_words)'
`,
} as const;

/** `svc completion`: shell completion of this program's commands. @param whole makes the program with all of its commands */
export function completionCommand({ output }: CliContext, whole: () => Promise<Command>): Command {
  const shells = new Argument("<shell>", "which shell").choices(Object.keys(SCRIPTS));
  const { parseArg: parse } = shells;
  // The scripts' own command is hidden from people.
  shells.argParser((word, former: unknown) => (word === WORDS ? word : parse?.(word, former)));
  return new Command("completion")
    .description("print the script that lets a shell complete the commands of svc")
    .usage("[options] <shell>")
    .addArgument(shells)
    .argument("[words...]")
    .addHelpText(
      "after",
      `
Examples:
  source <(svc completion bash)                                      now, or permanently in ~/.bashrc
  source <(svc completion zsh)                                       in ~/.zshrc, behind compinit
  svc completion fish > ~/.config/fish/completions/svc.fish

Completes commands, options, the values that an option allows, and files. The script asks the program itself, so an update needs none.`,
    )
    .action(async (shell: keyof typeof SCRIPTS | typeof WORDS, words: readonly string[]) => {
      if (shell !== WORDS) return await output.piece(SCRIPTS[shell]);
      for (const one of proposals(await whole(), words)) output.line(one);
    });
}

/** Candidates for the last word. */
function proposals(program: Command, typed: readonly string[]): readonly string[] {
  // Bash splits `--option=value` into three words, the others do not.
  const words = typed.flatMap((word) => (word === "=" ? [] : word.split(/(?<=^--[\w-]+)=/)));
  if (typed.at(-1) === "=") words.push("");
  const last = words.pop() ?? "";
  const prefix = /^--[\w-]+=/.exec(typed.at(-1) ?? "")?.[0] ?? "";
  return expected(placeOf(program, words), last)
    .filter((one) => one.startsWith(last))
    .map((one) => prefix + one);
}

type Place = {
  readonly command: Command;
  /** The words after the command. */
  readonly place: number;
  /** The option whose value comes next. */
  readonly option: Option | undefined;
};

/** The command that a line of words selects. */
function placeOf(program: Command, words: readonly string[]): Place {
  let command = program;
  let place = 0;
  let option: Option | undefined;
  for (const word of words) {
    const part = command.commands.find((one) => [one.name(), ...one.aliases()].includes(word));
    if (option !== undefined) option = undefined;
    else if (word.startsWith("-")) {
      const known = command.options.find(({ long, short }) => word === long || word === short);
      if (known?.required || known?.optional) option = known;
    } else if (part !== undefined && place === 0) command = part;
    else place += 1;
  }
  return { command, place, option };
}

function expected({ command, place, option }: Place, last: string): readonly string[] {
  const help = command.createHelp();
  if (option !== undefined) return option.argChoices ?? [];
  if (last.startsWith("-")) {
    return help
      .visibleOptions(command)
      .flatMap(({ short, long, description }) =>
        [short, long].flatMap((name) => (name?.startsWith("--") ? `${name}\t${description}` : [])),
      );
  }
  const parts = help.visibleCommands(command).filter((part) => part.name() !== "help");
  if (place === 0 && parts.length > 0) {
    return parts.map((part) => `${part.name()}\t${part.description()}`);
  }
  return command.registeredArguments[place]?.argChoices ?? [];
}
