import { Command } from "commander";
import type { CliContext } from "../context.ts";
import { encryptionKeyOption, formatOption, keyFor } from "../options.ts";
import { type Format, fields } from "../output.ts";

const EXAMPLES = `
Examples:
  svc migrate ./memory ./memory.pack
  SVC_ENCRYPTION_ENABLED=true SVC_ENCRYPTION_KEY=… svc migrate ./memory ./memory.pack    an encrypted pack

The directory stays as it is. The new pack appears once it is complete and compared row by row; a file is never
overwritten. With a key the new pack is encrypted, whether or not the directory is.`;

type MigrateOptions = { readonly encryptionKey?: string; readonly format: Format };

/** `svc migrate`: turns a directory pack into a single file. */
export function migrateCommand(context: CliContext): Command {
  return new Command("migrate")
    .description("copy a directory pack into a new .pack file")
    .argument("<directory>", "a directory pack or its memory.db")
    .argument("<new.pack>", "the file to make")
    .addOption(encryptionKeyOption())
    .addOption(formatOption())
    .addHelpText("after", EXAMPLES)
    .action((directory: string, destination: string, options: MigrateOptions) =>
      migrate(context, directory, destination, options),
    );
}

async function migrate(
  context: CliContext,
  directory: string,
  destination: string,
  options: MigrateOptions,
): Promise<void> {
  const { output } = context;
  const { config, text } = await keyFor(context, directory, options.encryptionKey);
  const stopProgress = await output.progress("copying");
  const { migratePack } = await import("../../../packs/maintenance.ts");
  const done = await migratePack(config, destination, text).finally(stopProgress);
  const { source, nodes, edges, events, vectors, bytesBefore, bytesAfter, encrypted } = done;
  const counts = { nodes, edges, events, vectors };
  if (options.format === "json") {
    const sizes = { bytes_before: bytesBefore, bytes_after: bytesAfter };
    output.json({ source, destination: done.destination, ...counts, ...sizes, encrypted });
    return;
  }
  const lines = fields([
    ["Source", source],
    ["Destination", done.destination],
    ["Nodes", nodes],
    ["Edges", edges],
    ["Events", events],
    ["Vectors", vectors],
    ["Bytes before", bytesBefore],
    ["Bytes after", bytesAfter],
    ["Encrypted", encrypted ? "yes" : "no"],
  ]);
  for (const line of lines) output.line(line);
}
