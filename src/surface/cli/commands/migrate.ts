import { keyFor } from "../options.ts";
import { printMembers } from "../output.ts";
import { type PackOptions, packCommand } from "../pack-command.ts";

const EXAMPLES = `
Examples:
  svc migrate ./memory ./memory.pack
  SVC_ENCRYPTION_ENABLED=true SVC_ENCRYPTION_KEY=… svc migrate ./memory ./memory.pack    an encrypted pack

The directory stays as it is. The new pack appears once it is complete and compared row by row; a file is never
overwritten. With a key the new pack is encrypted, whether or not the directory is.`;

/** `svc migrate`: turns a directory pack into a single file. */
export const migrateCommand = packCommand(
  {
    name: "migrate",
    description: "copy a directory pack into a new .pack file",
    arguments: [
      ["<directory>", "a directory pack or its memory.db"],
      ["<new.pack>", "the file to make"],
    ],
    examples: EXAMPLES,
  },
  async (context, directory: string, destination: string, options: PackOptions) => {
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
  },
);
