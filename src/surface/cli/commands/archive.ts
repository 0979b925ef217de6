import { Option } from "commander";
import { invalid } from "../../../domain/errors.ts";
import { requireStep } from "../../../domain/lifecycle.ts";
import { type MemoryNode, nodeForm } from "../../../domain/node.ts";
import {
  ACTOR,
  findMemory,
  ID_ARGUMENT,
  type MemoryOptions,
  memoryTable,
  withMemories,
} from "../memories.ts";
import { ownerOption } from "../options.ts";
import type { Output } from "../output.ts";
import { PACK, packCommand } from "../pack-command.ts";
import { confirm, isTerminal } from "../terminal.ts";

const EXAMPLES = `
Examples:
  svc archive ./memory.pack 0198a2b4-0000-7000-8000-000000000001
  svc archive ./memory.pack 0198a2b4 0198a2b5 --yes     without a question

An archived memory is no longer found; svc restore brings it back, svc show reads it. To replace what a memory says: svc edit.
To erase its text: svc forget.`;

type ArchiveOptions = MemoryOptions & { readonly yes?: true };

/** `svc archive`: retires memories. */
export const archiveCommand = packCommand(
  {
    name: "archive",
    description: "retire memories, so that they are no longer found",
    arguments: [PACK, ["<id...>", ID_ARGUMENT]],
    options: [ownerOption(), new Option("--yes", "do not ask")],
    examples: EXAMPLES,
  },
  (context, path: string, ids: readonly string[], options: ArchiveOptions) =>
    withMemories(context, path, options, async (engine, userId) => {
      const { output } = context;
      const { yes, format } = options;
      const meant = new Map<string, MemoryNode>();
      // All of them are looked up before the first one is changed.
      for (const id of ids) {
        const node = await findMemory(engine, userId, id);
        requireStep("archive", node);
        meant.set(node.id, node);
      }
      const nodes = [...meant.values()];
      if (yes !== true && !(await isAgreed(output, nodes))) {
        output.note("Nothing was changed.");
        return;
      }
      const archived: MemoryNode[] = [];
      for (const { id } of nodes)
        archived.push(await engine.archive(id, { userId, actorId: ACTOR }));
      if (format === "json") {
        output.json({ nodes: archived.map(nodeForm.json) });
        return;
      }
      for (const { nodeType, id } of archived) output.line(`Archived ${nodeType} ${id}`);
    }),
);

/** @throws SvcError invalid_argument if there is no terminal to ask on */
async function isAgreed(output: Output, nodes: readonly MemoryNode[]): Promise<boolean> {
  if (!isTerminal()) throw invalid("--yes", "is needed where there is no terminal to ask on");
  for (const line of memoryTable(nodes)) output.note(line);
  const what = nodes.length === 1 ? "this memory" : `these ${nodes.length} memories`;
  return await confirm(`Archive ${what}?`, false);
}
