import { Argument, Command } from "commander";
import { bashCompletion } from "../completion/bash.ts";
import { fishCompletion } from "../completion/fish.ts";
import { shapeOf } from "../completion/shapes.ts";
import { zshCompletion } from "../completion/zsh.ts";
import type { CliContext } from "../context.ts";

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const;
type Shell = keyof typeof SHELLS;

const EXAMPLES = `
Examples:
  source <(svc completion bash)                                      now, or permanently in ~/.bashrc
  source <(svc completion zsh)                                       in ~/.zshrc, behind compinit
  svc completion fish > ~/.config/fish/completions/svc.fish

Completes commands, options, the values that an option allows, and packs. Repeat it after an update.`;

/**
 * `svc completion`: lets a shell complete the commands of this program.
 * @param whole makes the program with all of its commands
 */
export function completionCommand({ output }: CliContext, whole: () => Promise<Command>): Command {
  return new Command("completion")
    .description("print the script that lets a shell complete the commands of svc")
    .addArgument(new Argument("<shell>", "which shell").choices(Object.keys(SHELLS)))
    .addHelpText("after", EXAMPLES)
    .action(async (shell: Shell) => {
      const program = await whole();
      await output.piece(SHELLS[shell](program.name(), shapeOf(program)));
    });
}
