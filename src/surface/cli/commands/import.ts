import { Command } from "commander";
import type { Config } from "../../../config/schema.ts";
import type { NewKey } from "../../../packs/create-pack.ts";
import type { ImportReport } from "../../../packs/import-pack.ts";
import type { CliContext } from "../context.ts";
import { withEngine } from "../engine.ts";
import { aboutKey, chooseKey, type KeyOptions, plainOption } from "../new-key.ts";
import { configWithoutKey, encryptionKeyOption, formatOption } from "../options.ts";
import { type Format, fields } from "../output.ts";
import { runRebuild } from "../run-rebuild.ts";
import { Interrupted, stopSignal } from "../signals.ts";

const EXAMPLES = `
Examples:
  svc import memory.jsonl ./restored.pack
  gunzip -c memory.jsonl.gz | svc import - ./restored.pack
  svc import memory.jsonl ./restored.pack --plain      do not encrypt it

The pack is encrypted, with a key as svc init makes it. It appears when every line was read and checked. A file without vectors of the configured model is embedded then;
Ctrl-C may interrupt that, and svc rebuild goes on.`;

type ImportOptions = KeyOptions & { readonly format: Format };

/** `svc import`: makes a new pack from an export. */
export function importCommand(context: CliContext): Command {
  return new Command("import")
    .description("make a new pack from an export of svc export")
    .argument("<file>", "the export; - is standard input")
    .argument("<pack>", "the pack to make: a name ending in .pack, or a directory")
    .addOption(plainOption())
    .addOption(encryptionKeyOption())
    .addOption(formatOption())
    .addHelpText("after", EXAMPLES)
    .action((file: string, path: string, options: ImportOptions) =>
      runImport(context, file, path, options),
    );
}

async function runImport(
  context: CliContext,
  file: string,
  path: string,
  options: ImportOptions,
): Promise<void> {
  const { output } = context;
  const config = configWithoutKey(context, path);
  const newKey = await chooseKey(context, config, options);
  const stop = stopSignal();
  const report = await takeIn(context, config, { file, newKey, signal: stop });
  const embedded = report.lacksVectors ? await embed(context, report.config, path, stop) : 0;
  if (options.format === "json") return output.json(toJson(report, newKey, embedded));
  const { counts } = report;
  const entries: [string, string | number][] = [
    ["Pack", report.path],
    ["Owners", counts.owner],
    ["Events", counts.event],
    ["Nodes", counts.node],
    ["Edges", counts.edge],
    ["Operations", counts.operation],
    ["Jobs", counts.job],
    ["Receipts", counts.receipt],
    ["Embedded now", embedded],
  ];
  for (const line of fields(entries)) output.line(line);
  const [state, ...rest] = aboutKey(newKey, report.keptIn, path);
  output.line(`The pack is ${state}`);
  for (const line of rest) output.line(line);
}

type Intake = { readonly file: string; readonly newKey: NewKey; readonly signal: AbortSignal };

async function takeIn(
  { output }: CliContext,
  config: Config,
  { file, newKey, signal }: Intake,
): Promise<ImportReport> {
  const { importPack } = await import("../../../packs/import-pack.ts");
  const bar = await output.progressBar("importing");
  try {
    return await importPack(config, newKey, {
      file: file === "-" ? undefined : file,
      signal,
      onProgress: (done, total) => bar.show(done, total),
    });
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new Interrupted("Interrupted; nothing was imported.");
  } finally {
    bar.stop();
  }
}

/** Embeds memories that came without vectors. @returns how many texts were embedded */
async function embed(
  context: CliContext,
  config: Config,
  path: string,
  stop: AbortSignal,
): Promise<number> {
  const run = { path, stop };
  return (await withEngine(context, config, (engine) => runRebuild(context, engine, run)))
    .nodesEmbedded;
}

function toJson(
  { path, counts, keptIn }: ImportReport,
  { kind }: NewKey,
  embedded: number,
): Record<string, unknown> {
  return {
    db_path: path,
    encrypted: kind !== "plain",
    key_kept_in: keptIn ?? null,
    owner_count: counts.owner,
    event_count: counts.event,
    node_count: counts.node,
    edge_count: counts.edge,
    operation_count: counts.operation,
    job_count: counts.job,
    receipt_count: counts.receipt,
    nodes_embedded: embedded,
  };
}
