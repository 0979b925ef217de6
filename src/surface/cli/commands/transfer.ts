import { Option } from "commander";
import type { NewKey } from "../../../app/new-key.ts";
import type { Config } from "../../../config/schema.ts";
import { isDatabaseUrl } from "../../../domain/addresses.ts";
import { invalid } from "../../../domain/errors.ts";
import { shownName } from "../../../lib/text.ts";
import type { Salvaged } from "../../../packs/export-pack.ts";
import type { ImportReport } from "../../../packs/import-pack.ts";
import type { DatabaseMigration } from "../../../packs/migrate-database.ts";
import type { CliContext } from "../context.ts";
import { withEngine } from "../memories.ts";
import { aboutKey, chooseKey, type KeyOptions, plainOption } from "../new-key.ts";
import {
  configFor,
  configOfDatabase,
  configWithoutKey,
  encryptionKeyOption,
  keyFor,
  type PackOptions,
  packCommand,
  warnOn,
} from "../options.ts";
import { printAnswer, printResult } from "../output.ts";
import { stoppable, stopSignal } from "../signals.ts";
import { isTerminal } from "../terminal.ts";
import { runRebuild } from "./upkeep.ts";

type ExportOptions = {
  readonly output: string;
  readonly withVectors?: true;
  readonly salvage?: true;
  readonly force?: true;
  readonly encryptionKey?: string;
  readonly format: "jsonl" | "json";
};

export const exportCommand = packCommand(
  {
    name: "export",
    description: "write out what a pack holds",
    options: [
      new Option("--output <file>", "the file to make; - is standard output").default("-"),
      new Option("--with-vectors", "include the vectors, so that an import need not embed"),
      new Option("--salvage", "of a damaged pack: what can be read, and what was lost").conflicts([
        "withVectors",
      ]),
      new Option("--force", "replace an existing file"),
      encryptionKeyOption(),
      new Option("--format <form>", "jsonl can be imported; json is for other programs")
        .choices(["jsonl", "json"])
        .default("jsonl"),
    ],
    examples: `
Examples:
  svc export ./memory.pack --output memory.jsonl
  svc export ./memory.pack --with-vectors | gzip > memory.jsonl.gz
  svc export ./memory.pack --format json --output for-other-programs.json
  svc export ./memory.pack --salvage --output rest.jsonl     what a damaged pack still has

The export is not encrypted: anyone who can read it can read the memories.`,
  },
  async (context, path: string, options: ExportOptions) => {
    const { output } = context;
    const { format: form, withVectors = false, force = false } = options;
    if (options.salvage && form === "json") throw invalid("salvage", "is for --format jsonl only");
    if (withVectors && form === "json") throw invalid("with-vectors", "is for --format jsonl only");
    if (options.output === "")
      throw invalid("output", "is empty; name a file, or - for standard output");
    const config = await configFor(context, path, options.encryptionKey);
    const file = options.output === "-" ? undefined : options.output;
    const stopProgress = await output.progress("exporting");
    const { exportPack } = await import("../../../packs/export-pack.ts");
    const write = (text: string) => output.piece(text);
    const salvage =
      options.salvage && ((found: readonly Salvaged[]) => noteSalvaged(output, found));
    const { path: made, bytes } = await stoppable(
      "Interrupted; the export is not complete.",
      (signal) =>
        exportPack(config, { form, withVectors, salvage, force, output: file, write, signal }),
    ).finally(stopProgress);
    if (made !== undefined) output.line(`Exported ${bytes} bytes to ${made}`);
  },
);

/** Records of a salvaging that a person knows. */
const SALVAGED: Readonly<Record<string, readonly [one: string, many: string]>> = {
  node: ["memory", "memories"],
  event: ["message", "messages"],
  edge: ["edge", "edges"],
  operation: ["entry of the log", "entries of the log"],
};

function noteSalvaged({ note }: CliContext["output"], found: readonly Salvaged[]): void {
  for (const { record, kept, lost } of found) {
    const [one, many] = SALVAGED[record] ?? [];
    if (one === undefined) continue;
    note(
      `${kept} ${kept === 1 ? one : many}${lost === 0 ? "" : `; at most ${lost} cannot be read and are left out`}`,
    );
  }
  note(
    "Receipts of answers and pictures are left out. To make a pack of it: svc import FILE NEW.pack",
  );
}

/** Makes a new pack from an export. */
export async function importExport(
  context: CliContext,
  file: string,
  path: string,
  options: PackOptions & KeyOptions,
): Promise<void> {
  const { output } = context;
  const config = configWithoutKey(context, path);
  const isDatabase = isDatabaseUrl(path);
  const newKey: NewKey = isDatabase ? { kind: "plain" } : await chooseKey(context, config, options);
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
  printAnswer(output, options.format, {
    db_path: report.path,
    encrypted: isDatabase ? null : newKey.kind !== "plain",
    key_kept_in: report.keptIn ?? null,
    owner_count: counts.owner,
    event_count: counts.event,
    node_count: counts.node,
    edge_count: counts.edge,
    operation_count: counts.operation,
    job_count: counts.job,
    receipt_count: counts.receipt,
    picture_count: counts.blob ?? 0,
    missing_picture_count: missingPictures.length,
    nodes_embedded: embedded,
  });
  if (options.format === "json" || isDatabase) return;
  const [state, ...rest] = await aboutKey(newKey, report.keptIn, path);
  output.line(`The pack is ${state}`);
  for (const line of rest) output.line(line);
}

/** The rest is useful without them, and there may be no other copy, so nothing is rejected. */
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
  const take = (stop: AbortSignal) =>
    importPack(config, newKey, {
      file: file === "-" ? undefined : file,
      signal: stop,
      onProgress: (done, total) => bar.show(done, total),
    });
  return await stoppable("Interrupted; nothing was imported.", take, signal).finally(bar.stop);
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

type Options = PackOptions & KeyOptions;

export const migrateCommand = packCommand(
  {
    name: "migrate",
    description:
      "copy a directory pack into a new .pack file, a pack into a database and back, or a database into another",
    arguments: [
      ["<source>", "a directory pack or its memory.db; or a pack, or the address of a database"],
      ["<destination>", "the file to make; or an empty database, or the pack to make"],
    ],
    options: [plainOption()],
    examples: `
Examples:
  svc migrate ./memory ./memory.pack                                  a directory becomes one file
  svc migrate ./memory.pack postgres://svc@host/memories              a pack goes into an empty database
  svc migrate postgres://svc@host/memories ./memory.pack              and back
  SVC_DATABASE_PARTITIONS=16 svc migrate postgres://svc@host/memories postgres://svc@host/parts    other partitions
  SVC_ENCRYPTION_ENABLED=true SVC_ENCRYPTION_KEY=… svc migrate ./memory ./memory.pack    an encrypted pack

The source stays as it is, and a copy is compared with it record by record. A new pack appears once it is complete; a file is never
overwritten. Of a directory the new pack is encrypted if there is a key, of a database as svc init does it, unless --plain is given.
From a pack into a database: the pack must not be in use, and the same command continues after an interruption. From one
database into another: what is stored meanwhile is not copied.
A password need not be in the address, which others may see: PGPASSWORD has it too.`,
  },
  async (context, source: string, destination: string, options: Options) => {
    const [fromDatabase, toDatabase] = [source, destination].map(isDatabaseUrl);
    if (options.plain === true && (fromDatabase !== true || toDatabase === true)) {
      throw invalid("--plain", "is for a pack that is made from a database");
    }
    if (fromDatabase === true && toDatabase === true) {
      await fromDatabaseToDatabase(context, source, destination, options);
    } else if (fromDatabase === true)
      await fromDatabaseToPack(context, source, destination, options);
    else if (toDatabase === true) await toDatabaseFromPack(context, source, destination, options);
    else await directoryToFile(context, source, destination, options);
  },
);

async function directoryToFile(
  context: CliContext,
  directory: string,
  destination: string,
  options: Options,
): Promise<void> {
  const { output } = context;
  const { config, text } = await keyFor(context, directory, options.encryptionKey);
  const stopProgress = await output.progress("copying");
  const { migratePack } = await import("../../../packs/maintenance.ts");
  const done = await migratePack(config, destination, text).finally(stopProgress);
  printResult(output, options.format, done);
}

async function toDatabaseFromPack(
  context: CliContext,
  source: string,
  url: string,
  options: Options,
): Promise<void> {
  const { config } = await keyFor(context, source, options.encryptionKey);
  const target = configOfDatabase(context, url);
  const { migrateToDatabase } = await import("../../../packs/migrate-database.ts");
  const again = "Interrupted; run the same command again, which goes on where this one stopped.";
  const done = await withProgress(context, again, (run) => migrateToDatabase(config, target, run));
  print(context, options, done, undefined);
}

async function fromDatabaseToDatabase(
  context: CliContext,
  from: string,
  into: string,
  options: Options,
): Promise<void> {
  const source = configOfDatabase(context, from);
  const target = configOfDatabase(context, into);
  const { migrateDatabase } = await import("../../../packs/migrate-database.ts");
  const again = "Interrupted; run the same command again, which begins again.";
  const done = await withProgress(context, again, (run) => migrateDatabase(source, target, run));
  print(context, options, done, undefined);
}

async function fromDatabaseToPack(
  context: CliContext,
  url: string,
  destination: string,
  options: Options,
): Promise<void> {
  const source = configOfDatabase(context, url);
  const config = configWithoutKey(context, destination);
  const newKey = await chooseKey(context, config, options);
  const { migrateFromDatabase } = await import("../../../packs/migrate-database.ts");
  const done = await withProgress(context, "Interrupted; no pack was made.", (run) =>
    migrateFromDatabase(source, config, newKey, run),
  );
  print(context, options, done, newKey.kind !== "plain");
  if (options.format === "json") return;
  const [state, ...rest] = await aboutKey(newKey, done.keptIn, destination);
  context.output.line(`The pack is ${state}`);
  for (const line of rest) context.output.line(line);
}

type Run = Parameters<typeof import("../../../packs/migrate-database.ts").migrateToDatabase>[2];

/** @param interrupted shown if it is interrupted */
async function withProgress<T>(
  context: CliContext,
  interrupted: string,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  const progress = await transferProgress(context);
  const run = (signal: AbortSignal) => work({ signal, onProgress: progress.show });
  return await stoppable(interrupted, run).finally(progress.stop);
}

function print(
  context: CliContext,
  { format }: Options,
  { source, destination, counts }: DatabaseMigration,
  encrypted: boolean | undefined,
): void {
  printAnswer(context.output, format, {
    source,
    destination,
    owners: counts.owner,
    nodes: counts.node,
    edges: counts.edge,
    events: counts.event,
    operations: counts.operation,
    work: counts.work,
    receipts: counts.receipt,
    pictures: counts.blob,
    vectors: counts.vector,
    // Only its server knows the size of a database.
    encrypted: encrypted ?? null,
  });
}

/** Number of progress lines where a line cannot be redrawn. */
const LINES = 10;

type TransferProgress = {
  readonly show: (stage: string, done: number, total: number) => void;
  readonly stop: () => void;
};

/** Shows the progress of long work on stderr: a bar on a terminal, else a line at each tenth. */
async function transferProgress({ output }: CliContext): Promise<TransferProgress> {
  if (isTerminal()) {
    const bar = await output.progressBar("copying");
    return { show: (stage, done, total) => bar.show(done, total, stage), stop: bar.stop };
  }
  let last = "";
  return {
    show: (stage, done, total) => {
      const tenth = total === 0 ? LINES : Math.min(LINES, Math.floor((done * LINES) / total));
      const line = `${stage}: ${tenth * LINES}%`;
      if (line !== last) output.note(line);
      last = line;
    },
    stop: () => {},
  };
}
