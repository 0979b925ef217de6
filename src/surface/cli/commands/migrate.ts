import { isDatabaseUrl } from "../../../domain/addresses.ts";
import { invalid } from "../../../domain/errors.ts";
import type { DatabaseMigration } from "../../../packs/migrate-database.ts";
import type { CliContext } from "../context.ts";
import { aboutKey, chooseKey, type KeyOptions, plainOption } from "../new-key.ts";
import { configOfDatabase, configWithoutKey, keyFor } from "../options.ts";
import { printMembers } from "../output.ts";
import { type PackOptions, packCommand } from "../pack-command.ts";
import { Interrupted, stopSignal } from "../signals.ts";
import { transferProgress } from "../transfer-progress.ts";

const EXAMPLES = `
Examples:
  svc migrate ./memory ./memory.pack                                  a directory becomes one file
  svc migrate ./memory.pack postgres://svc@host/memories              a pack goes into an empty database
  svc migrate postgres://svc@host/memories ./memory.pack              and back
  SVC_DATABASE_PARTITIONS=16 svc migrate postgres://svc@host/memories postgres://svc@host/parts    other partitions
  SVC_ENCRYPTION_ENABLED=true SVC_ENCRYPTION_KEY=… svc migrate ./memory ./memory.pack    an encrypted pack

The source stays as it is, and a copy is compared with it record by record. A new pack appears once it is complete; a file is never
overwritten. Of a directory the new pack is encrypted if there is a key, of a database as svc init does it, unless --plain is given.
From a pack into a database: nobody else may use the pack meanwhile, and the same command goes on after an interruption. From one
database into another: what is stored meanwhile is not copied.
A password need not be in the address, which others may see: PGPASSWORD has it too.`;

type Options = PackOptions & KeyOptions;

/** `svc migrate`: moves memories from one kind of store to another. */
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
    examples: EXAMPLES,
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
  printMembers(output, options.format, [
    ["source", done.source, "Source"],
    ["destination", done.destination, "Destination"],
    ["nodes", done.nodes, "Nodes"],
    ["edges", done.edges, "Edges"],
    ["events", done.events, "Events"],
    ["vectors", done.vectors, "Vectors"],
    ["bytes_before", done.bytesBefore, "Bytes before"],
    ["bytes_after", done.bytesAfter, "Bytes after"],
    ["encrypted", done.encrypted, "Encrypted"],
  ]);
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
  const [state, ...rest] = aboutKey(newKey, done.keptIn, destination);
  context.output.line(`The pack is ${state}`);
  for (const line of rest) context.output.line(line);
}

type Run = Parameters<typeof import("../../../packs/migrate-database.ts").migrateToDatabase>[2];

/** @param interrupted what is said when it was interrupted */
async function withProgress<T>(
  context: CliContext,
  interrupted: string,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  const signal = stopSignal();
  const progress = await transferProgress(context);
  try {
    return await work({ signal, onProgress: progress.show });
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new Interrupted(interrupted);
  } finally {
    progress.stop();
  }
}

function print(
  context: CliContext,
  { format }: Options,
  { source, destination, counts }: DatabaseMigration,
  encrypted: boolean | undefined,
): void {
  printMembers(context.output, format, [
    ["source", source, "Source"],
    ["destination", destination, "Destination"],
    ["owners", counts.owner, "Owners"],
    ["nodes", counts.node, "Nodes"],
    ["edges", counts.edge, "Edges"],
    ["events", counts.event, "Events"],
    ["operations", counts.operation, "Operations"],
    ["work", counts.work, "Work"],
    ["receipts", counts.receipt, "Receipts"],
    ["pictures", counts.blob, "Pictures"],
    ["vectors", counts.vector, "Vectors"],
    // Of a database only its server knows.
    encrypted === undefined ? ["encrypted", null] : ["encrypted", encrypted, "Encrypted"],
  ]);
}
