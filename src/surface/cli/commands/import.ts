import type { Config } from "../../../config/schema.ts";
import { isDatabaseUrl } from "../../../domain/addresses.ts";
import { shownName } from "../../../lib/text.ts";
import type { NewKey } from "../../../packs/create-pack.ts";
import type { ImportReport } from "../../../packs/import-pack.ts";
import type { CliContext } from "../context.ts";
import { withEngine } from "../engine.ts";
import { aboutKey, chooseKey, type KeyOptions, plainOption } from "../new-key.ts";
import { configWithoutKey, warnOn } from "../options.ts";
import { printMembers } from "../output.ts";
import { type PackOptions, packCommand } from "../pack-command.ts";
import { runRebuild } from "../run-rebuild.ts";
import { Interrupted, stopSignal } from "../signals.ts";

const EXAMPLES = `
Examples:
  svc import memory.jsonl ./restored.pack
  gunzip -c memory.jsonl.gz | svc import - ./restored.pack
  svc import memory.jsonl ./restored.pack --plain      do not encrypt it

The pack is encrypted, with a key as svc init makes it. It appears when every line was read and checked. A file without vectors of the configured model is embedded then;
Ctrl-C may interrupt that, and svc rebuild goes on.`;

/** `svc import`: makes a new pack from an export. */
export const importCommand = packCommand(
  {
    name: "import",
    description: "make a new pack from an export of svc export",
    arguments: [
      ["<file>", "the export; - is standard input"],
      ["<pack>", "the pack to make: a name ending in .pack, or a directory; or an empty database"],
    ],
    options: [plainOption()],
    examples: EXAMPLES,
  },
  async (context, file: string, path: string, options: PackOptions & KeyOptions) => {
    const { output } = context;
    const config = configWithoutKey(context, path);
    const isDatabase = isDatabaseUrl(path);
    const newKey: NewKey = isDatabase
      ? { kind: "plain" }
      : await chooseKey(context, config, options);
    const stop = stopSignal();
    const report = await takeIn(context, config, { file, newKey, signal: stop });
    const embedded = report.lacksVectors ? await embed(context, report.config, path, stop) : 0;
    const { counts, missingPictures } = report;
    if (missingPictures.length > 0) warnOn(context)(lacking(missingPictures));
    if (report.formerReceipts > 0) {
      warnOn(context)(
        `the records of ${report.formerReceipts} answers were left out: a development build wrote them, and this version cannot explain them`,
      );
    }
    printMembers(output, options.format, [
      ["db_path", report.path, isDatabase ? "Database" : "Pack"],
      ["encrypted", isDatabase ? null : newKey.kind !== "plain"],
      ["key_kept_in", report.keptIn ?? null],
      ["owner_count", counts.owner, "Owners"],
      ["event_count", counts.event, "Events"],
      ["node_count", counts.node, "Nodes"],
      ["edge_count", counts.edge, "Edges"],
      ["operation_count", counts.operation, "Operations"],
      ["job_count", counts.job, "Jobs"],
      ["receipt_count", counts.receipt, "Receipts"],
      ["picture_count", counts.blob ?? 0, "Pictures"],
      ["missing_picture_count", missingPictures.length],
      ["nodes_embedded", embedded, "Embedded now"],
    ]);
    if (options.format === "json" || isDatabase) return;
    const [state, ...rest] = aboutKey(newKey, report.keptIn, path);
    output.line(`The pack is ${state}`);
    for (const line of rest) output.line(line);
  },
);

/** The rest is of use without them, and no other copy may be left: so nothing is refused. */
function lacking(pictures: readonly string[]): string {
  const [first = ""] = pictures;
  const { length } = pictures;
  const which =
    length === 1 ? "1 picture that events name is" : `${length} pictures that events name are`;
  return `${which} not in the export, the first ${shownName(first)}; everything else was imported. If they matter, export the pack again with: svc export`;
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
