import type { Rewrite } from "../../../packs/maintenance.ts";
import type { CliContext } from "../context.ts";
import { configFor } from "../options.ts";
import { type Format, printMembers } from "../output.ts";
import { type PackOptions, packCommand } from "../pack-command.ts";

const EXAMPLES = `
Examples:
  svc compact ./memory.pack
  svc compact ./memory --format json

Copies the pack without its free pages and puts the copy in its place. Nothing of the content changes. Refused while
something uses the pack; needs room for the copy. Whatever interrupts it leaves the pack as it was.`;

/** `svc compact`: shrinks a pack to its content. */
export const compactCommand = packCommand(
  {
    name: "compact",
    description: "shrink a pack to the size of its content",
    examples: EXAMPLES,
  },
  async (context, path: string, { encryptionKey, format }: PackOptions) => {
    const config = await configFor(context, path, encryptionKey);
    const stopProgress = await context.output.progress("compacting");
    const { compactPack } = await import("../../../packs/maintenance.ts");
    printRewrite(context, await compactPack(config).finally(stopProgress), format);
  },
);

/** Prints the result of replacing a pack with a copy of itself. */
export function printRewrite({ output }: CliContext, done: Rewrite, format: Format): void {
  printMembers(output, format, [
    ["path", done.path, "Pack"],
    ["bytes_before", done.bytesBefore, "Bytes before"],
    ["bytes_after", done.bytesAfter, "Bytes after"],
    ["encrypted", done.encrypted, "Encrypted"],
  ]);
}
