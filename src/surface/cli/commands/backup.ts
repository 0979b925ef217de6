import { Command } from "commander";
import type { CliContext } from "../context.ts";
import { configFor, encryptionKeyOption, formatOption } from "../options.ts";
import { type Format, fields } from "../output.ts";
import { Interrupted, stopSignal } from "../signals.ts";

const EXAMPLES = `
Examples:
  svc backup ./memory.pack /mnt/usb/memory-2026-03-01.pack
  svc backup ./memory ./memory-backup --format json          a directory pack

The pack may be in use: what is written meanwhile is acknowledged as always, and is not in the copy. The copy opens with
the same key. It appears once it is complete and compared with the pack; a file is never overwritten.`;

type BackupOptions = { readonly encryptionKey?: string; readonly format: Format };

/** `svc backup`: copies a pack that may be in use. */
export function backupCommand(context: CliContext): Command {
  return new Command("backup")
    .description("copy a pack, even while it is in use")
    .argument("<pack>", "a .pack file, a directory pack or its memory.db")
    .argument("<to>", "the file to make; for a directory pack, the folder")
    .addOption(encryptionKeyOption())
    .addOption(formatOption())
    .addHelpText("after", EXAMPLES)
    .action((path: string, to: string, options: BackupOptions) =>
      backup(context, path, to, options),
    );
}

async function backup(
  context: CliContext,
  path: string,
  to: string,
  options: BackupOptions,
): Promise<void> {
  const { output } = context;
  const config = await configFor(context, path, options.encryptionKey);
  const signal = stopSignal();
  const bar = await output.progressBar("copying");
  const onProgress = bar.show;
  const { backUpPack } = await import("../../../packs/backup-pack.ts");
  const done = await backUpPack(config, { to, signal, onProgress })
    .catch((error: unknown) => {
      throw signal.aborted ? new Interrupted("Interrupted: no copy was made.") : error;
    })
    .finally(bar.stop);
  const { source, destination, events, nodes, bytes, encrypted, missing } = done;
  if (missing !== undefined) output.note(`Warning: ${missing}`);
  if (options.format === "json") {
    output.json({ source, destination, events, nodes, bytes, encrypted, missing: missing ?? null });
    return;
  }
  const lines = fields([
    ["Source", source],
    ["Destination", destination],
    ["Events", events],
    ["Nodes", nodes],
    ["Bytes", bytes],
    ["Encrypted", encrypted ? "yes" : "no"],
  ]);
  for (const line of lines) output.line(line);
}
