import { Command } from "commander";
import type { Rewrite } from "../../../packs/maintenance.ts";
import type { CliContext } from "../context.ts";
import { configFor, encryptionKeyOption, formatOption } from "../options.ts";
import { type Format, fields } from "../output.ts";

const EXAMPLES = `
Examples:
  svc compact ./memory.pack
  svc compact ./memory --format json

Copies the pack without its free pages and puts the copy in its place. Nothing of the content changes. Refused while
something uses the pack; needs room for the copy. Whatever interrupts it leaves the pack as it was.`;

type CompactOptions = { readonly encryptionKey?: string; readonly format: Format };

/** `svc compact`: shrinks a pack to its content. */
export function compactCommand(context: CliContext): Command {
  return new Command("compact")
    .description("shrink a pack to the size of its content")
    .argument("<pack>", "a .pack file, a directory pack or its memory.db")
    .addOption(encryptionKeyOption())
    .addOption(formatOption())
    .addHelpText("after", EXAMPLES)
    .action((path: string, options: CompactOptions) => compact(context, path, options));
}

async function compact(context: CliContext, path: string, options: CompactOptions): Promise<void> {
  const config = await configFor(context, path, options.encryptionKey);
  const stopProgress = await context.output.progress("compacting");
  const { compactPack } = await import("../../../packs/maintenance.ts");
  const done = await compactPack(config).finally(stopProgress);
  printRewrite(context, done, options.format);
}

/** Prints the result of replacing a pack with a copy of itself. */
export function printRewrite({ output }: CliContext, done: Rewrite, format: Format): void {
  const { path, bytesBefore, bytesAfter, encrypted } = done;
  if (format === "json") {
    output.json({ path, bytes_before: bytesBefore, bytes_after: bytesAfter, encrypted });
    return;
  }
  const lines = fields([
    ["Pack", path],
    ["Bytes before", bytesBefore],
    ["Bytes after", bytesAfter],
    ["Encrypted", encrypted ? "yes" : "no"],
  ]);
  for (const line of lines) output.line(line);
}
