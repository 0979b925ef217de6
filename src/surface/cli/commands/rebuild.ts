import { Command } from "commander";
import type { CliContext } from "../context.ts";
import { withEngine } from "../engine.ts";
import { configFor, encryptionKeyOption, formatOption, wholeNumber } from "../options.ts";
import { type Format, fields } from "../output.ts";
import { rebuildToJson, runRebuild } from "../run-rebuild.ts";
import { stopSignal } from "../signals.ts";

const DEFAULT_BATCH_SIZE = 256;
const MAX_BATCH_SIZE = 100_000;
const EXAMPLES = `
Examples:
  svc rebuild ./memory.pack          after another embedding model was set, or when svc doctor says so
  svc rebuild ./memory.pack --all    embed every memory again

Other processes may keep using the pack. Ctrl-C stops after the current batch; running it again goes on from there.`;

type RebuildOptions = {
  readonly all?: true;
  readonly batchSize: number;
  readonly encryptionKey?: string;
  readonly format: Format;
};

/** `svc rebuild`: rebuilds the indexes of a pack from its events and graph. */
export function rebuildCommand(context: CliContext): Command {
  return new Command("rebuild")
    .description("rebuild the indexes of a pack, with the configured model")
    .argument("<pack>", "a .pack file, a directory pack or its memory.db")
    .option("--all", "embed every memory, even if nothing has changed")
    .option(
      "--batch-size <count>",
      "memories to embed and write at a time",
      wholeNumber(1, MAX_BATCH_SIZE),
      DEFAULT_BATCH_SIZE,
    )
    .addOption(encryptionKeyOption())
    .addOption(formatOption())
    .addHelpText("after", EXAMPLES)
    .action((path: string, options: RebuildOptions) => rebuild(context, path, options));
}

async function rebuild(context: CliContext, path: string, options: RebuildOptions): Promise<void> {
  const { output } = context;
  const config = await configFor(context, path, options.encryptionKey);
  const stop = stopSignal();
  const { all = false, batchSize, format } = options;
  const result = await withEngine(
    context,
    config,
    (engine) => runRebuild(context, engine, { path, stop, all, batchSize }),
    { renewsVectors: true },
  );
  if (format === "json") return output.json(rebuildToJson(result));
  const entries: [string, number][] = [
    ["Nodes indexed", result.nodesIndexed],
    ["Nodes skipped", result.nodesSkipped],
    ["Active nodes", result.totalActive],
    ["Embedded now", result.nodesEmbedded],
  ];
  for (const line of fields(entries)) output.line(line);
}
