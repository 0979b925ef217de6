import { Option } from "commander";
import { withEngine } from "../engine.ts";
import { configFor, modelOption, withModel } from "../options.ts";
import { printMembers } from "../output.ts";
import { countOption, type PackOptions, packCommand } from "../pack-command.ts";
import { runRebuild } from "../run-rebuild.ts";
import { stopSignal } from "../signals.ts";

const EXAMPLES = `
Examples:
  svc rebuild ./memory.pack                         when svc doctor says so
  svc rebuild ./memory.pack --model multilingual    change the embedding model
  svc rebuild ./memory.pack --all                   embed every memory again

Other processes may keep using the pack: they answer as before until all is done. When the model has changed, servers find
memories by words once, and load the new model by themselves. Ctrl-C stops after the current batch; running it again goes
on from there.`;

type RebuildOptions = PackOptions & {
  readonly all?: true;
  readonly batchSize: number;
  readonly model?: string;
};

/** `svc rebuild`: rebuilds the indexes of a pack from its events and graph. */
export const rebuildCommand = packCommand(
  {
    name: "rebuild",
    description: "rebuild the indexes of a pack, or give it another embedding model",
    options: [
      new Option("--all", "embed every memory, even if nothing has changed"),
      countOption(
        "--batch-size <count>",
        "memories to embed and write at a time",
        [1, 100_000],
        256,
      ),
      modelOption(),
    ],
    examples: EXAMPLES,
  },
  async (context, path: string, options: RebuildOptions) => {
    const config = withModel(await configFor(context, path, options.encryptionKey), options.model);
    const stop = stopSignal();
    const { all = false, batchSize, format } = options;
    const done = await withEngine(
      context,
      config,
      (engine) => runRebuild(context, engine, { path, stop, all, batchSize }),
      { renewsVectors: true },
    );
    printMembers(context.output, format, [
      ["nodes_indexed", done.nodesIndexed, "Nodes indexed"],
      ["nodes_skipped", done.nodesSkipped, "Nodes skipped"],
      ["total_active", done.totalActive, "Active nodes"],
      ["nodes_embedded", done.nodesEmbedded, "Embedded now"],
    ]);
  },
);
