import { basename, dirname } from "node:path";
import { Command } from "commander";
import kleur from "kleur";
import { assistantLines } from "../assistant.ts";
import type { CliContext } from "../deps.ts";
import { configFor, warnOn } from "../options.ts";

const EXAMPLES = `
Examples:
  svc init                     make ./memory.pack
  svc init ~/notes.pack        make a pack elsewhere
  svc init ./memory            make a directory pack`;

/** `svc init`: makes a pack and says how to connect an assistant to it. Repeating it changes nothing. */
export function initCommand(context: CliContext): Command {
  return new Command("init")
    .description("make a pack and print what to paste into an assistant")
    .argument("[path]", "the pack: a name ending in .pack, or a directory", "./memory.pack")
    .addHelpText("after", EXAMPLES)
    .action((path: string) => init(context, path));
}

async function init(context: CliContext, path: string): Promise<void> {
  const { deps, output } = context;
  const config = await configFor(context, path);
  const existed = await deps.reportOnPack(config).then(
    () => true,
    () => false,
  );
  const engine = await deps.openEngine(config, { createIfMissing: true, warn: warnOn(context) });
  await engine.close();
  const { path: main } = await deps.reportOnPack(config);
  const file = basename(main) === "memory.db" ? dirname(main) : main;
  output.line(
    existed
      ? `${file} is a pack already; it stays as it is.`
      : `${kleur.green("Made")} ${file}. Not encrypted: whoever can read the file can read the memories.`,
  );
  output.line();
  for (const line of assistantLines(deps.self, file)) output.line(line);
  output.line();
  output.line("Or try it here:");
  output.line(`  svc store ${path} "The spare key lies under the blue flower pot"`);
  output.line(`  svc search ${path} "how do I get in without my key?"`);
}
