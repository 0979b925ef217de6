import { Option } from "commander";
import { nodeForm } from "../../../domain/node.ts";
import { ACTOR, findMemory, ID_ARGUMENT, type MemoryOptions, withMemories } from "../memories.ts";
import { ownerOption } from "../options.ts";
import { PACK, packCommand } from "../pack-command.ts";

const EXAMPLES = `
Examples:
  svc pin ./memory.pack 0198a2b4
  svc pin ./memory.pack 0198a2b4 --release

A pinned memory is a candidate for every question and is never archived by time.`;

/** `svc pin`: pins memories, or releases them. */
export const pinCommand = packCommand(
  {
    name: "pin",
    description: "pin memories, so that they are considered for every question",
    arguments: [PACK, ["<id...>", ID_ARGUMENT]],
    options: [ownerOption(), new Option("--release", "release them instead")],
    examples: EXAMPLES,
  },
  (
    context,
    path: string,
    ids: readonly string[],
    options: MemoryOptions & { readonly release?: true },
  ) =>
    withMemories(context, path, options, async (engine, userId) => {
      const { output } = context;
      const isPinned = options.release !== true;
      const nodes = [];
      for (const id of ids) {
        const node = await findMemory(engine, userId, id);
        nodes.push(await engine.pin(node.id, isPinned, { userId, actorId: ACTOR }));
      }
      if (options.format === "json") return output.json({ nodes: nodes.map(nodeForm.json) });
      const done = isPinned ? "Pinned" : "Released";
      for (const { nodeType, id } of nodes) output.line(`${done} ${nodeType} ${id}`);
    }),
);
