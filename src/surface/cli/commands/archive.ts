import { Command } from "commander";
import { invalid } from "../../../domain/errors.ts";
import { requireStep } from "../../../domain/lifecycle.ts";
import { type MemoryNode, nodeForm } from "../../../domain/node.ts";
import type { MemoryEngine } from "../../../engine/memory-engine.ts";
import type { CliContext } from "../context.ts";
import {
  ACTOR,
  findMemory,
  ID_ARGUMENT,
  type MemoryOptions,
  memoryTable,
  PACK_ARGUMENT,
  withMemories,
} from "../memories.ts";
import { encryptionKeyOption, formatOption, ownerOption } from "../options.ts";
import { confirm, isTerminal } from "../terminal.ts";

const EXAMPLES = `
Examples:
  svc archive ./memory.pack 0198a2b4-0000-7000-8000-000000000001
  svc archive ./memory.pack 0198a2b4 0198a2b5 --yes     without a question

An archived memory is never found again and cannot be taken back. Its text stays in the log of the pack; svc show reads it.
To replace what a memory says: svc edit.`;

type ArchiveOptions = MemoryOptions & { readonly yes?: true };

/** `svc archive`: retires memories permanently. */
export function archiveCommand(context: CliContext): Command {
  return new Command("archive")
    .description("retire memories permanently, so that they are no longer found")
    .argument("<pack>", PACK_ARGUMENT)
    .argument("<id...>", ID_ARGUMENT)
    .addOption(ownerOption())
    .option("--yes", "do not ask")
    .addOption(encryptionKeyOption())
    .addOption(formatOption())
    .addHelpText("after", EXAMPLES)
    .action((path: string, ids: string[], options: ArchiveOptions) =>
      withMemories(context, path, options, (engine, owner) =>
        archive(context, engine, owner, { ids, ...options }),
      ),
    );
}

async function archive(
  { output }: CliContext,
  engine: MemoryEngine,
  userId: string,
  { ids, yes, format }: ArchiveOptions & { readonly ids: readonly string[] },
): Promise<void> {
  const meant = new Map<string, MemoryNode>();
  // All of them are looked up before the first one is changed.
  for (const id of ids) {
    const node = await findMemory(engine, userId, id);
    requireStep("archive", node);
    meant.set(node.id, node);
  }
  const nodes = [...meant.values()];
  if (yes !== true) {
    if (!isTerminal()) throw invalid("--yes", "is needed where there is no terminal to ask on");
    for (const line of memoryTable(nodes)) output.note(line);
    const what = nodes.length === 1 ? "this memory" : `these ${nodes.length} memories`;
    if (!(await confirm(`Archive ${what} permanently?`, false))) {
      output.note("Nothing was changed.");
      return;
    }
  }
  const archived: MemoryNode[] = [];
  for (const { id } of nodes) archived.push(await engine.archive(id, { userId, actorId: ACTOR }));
  if (format === "json") {
    output.json({ nodes: archived.map(nodeForm.json) });
    return;
  }
  for (const { nodeType, id } of archived) output.line(`Archived ${nodeType} ${id}`);
}
