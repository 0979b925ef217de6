import type { CliContext } from "../context.ts";
import { configFor } from "../options.ts";
import { type Member, printMembers } from "../output.ts";
import { PACK, type PackOptions, packCommand } from "../pack-command.ts";
import { Interrupted, stopSignal } from "../signals.ts";

const EXAMPLES = `
Examples:
  svc backup ./memory.pack /mnt/usb/memory-2026-03-01.pack
  svc backup ./memory ./memory-backup --format json          a directory pack

The pack may be in use: what is written meanwhile is acknowledged as always, and is not in the copy. The copy opens with
the same key. It appears once it is complete and compared with the pack; a file is never overwritten.`;

/** `svc backup`: copies a pack that may be in use. */
export const backupCommand = packCommand(
  {
    name: "backup",
    description: "copy a pack, even while it is in use",
    arguments: [PACK, ["<to>", "the file to make; for a directory pack, the folder"]],
    examples: EXAMPLES,
  },
  (context, path: string, to: string, options: PackOptions) => copyPack(context, path, to, options),
);

/** Copies a pack, to a free name or in the place of another pack, and prints what was done. @param onOtherPack for the latter, as `backUpPack` has it */
export async function copyPack(
  context: CliContext,
  path: string,
  to: string,
  { encryptionKey, format }: PackOptions,
  onOtherPack?: (reason: string) => Promise<void>,
): Promise<void> {
  const { output } = context;
  const config = await configFor(context, path, encryptionKey);
  const signal = stopSignal();
  const isReplacement = onOtherPack !== undefined;
  const bar = await output.progressBar("copying");
  const { backUpPack } = await import("../../../packs/backup-pack.ts");
  const done = await backUpPack(config, {
    to,
    isReplacement,
    onOtherPack,
    signal,
    onProgress: bar.show,
  })
    .catch((error: unknown) => {
      throw signal.aborted ? new Interrupted("Interrupted: no copy was made.") : error;
    })
    .finally(bar.stop);
  printMembers(output, format, [
    ["source", done.source, "Source"],
    ["destination", done.destination, "Destination"],
    ["events", done.events, "Events"],
    ["nodes", done.nodes, "Nodes"],
    ["bytes", done.bytes, "Bytes"],
    ["encrypted", done.encrypted, "Encrypted"],
    ...(isReplacement ? [asideMember(done.setAside)] : []),
  ]);
}

/** The pack, whose log lies beside it under the same name, or a log alone. */
function asideMember(names: readonly string[]): Member {
  const name = names.at(-1);
  return name === undefined ? ["set_aside", null] : ["set_aside", name, "Set aside"];
}
