import { nodeForm } from "../../../domain/node.ts";
import {
  findAnyMemory,
  ID_ARGUMENT,
  type MemoryOptions,
  memoryTable,
  withPack,
} from "../memories.ts";
import { PACK, packCommand } from "../pack-command.ts";
import { anyOwnerOption } from "./list.ts";

const EXAMPLES = `
Examples:
  svc chain ./memory.pack 0198a2b4
  svc chain ./memory.pack 0198a2b4 --format json

svc edit and svc store --supersedes make such chains; nothing that was replaced is deleted.`;

/** `svc chain`: what a memory replaced, and what replaced it. */
export const chainCommand = packCommand(
  {
    name: "chain",
    description: "show what a memory replaced and what replaced it, oldest first",
    arguments: [PACK, ["<id>", ID_ARGUMENT]],
    options: [anyOwnerOption()],
    examples: EXAMPLES,
  },
  (context, path: string, id: string, options: MemoryOptions) =>
    withPack(context, path, options, async (engine) => {
      const { output } = context;
      const node = await findAnyMemory(engine, options.userId, id);
      const owner = { userId: node.userId };
      const forward = (await engine.chain(node.id, { ...owner, direction: "forward" })) ?? [];
      const backward = (await engine.chain(node.id, { ...owner, direction: "backward" })) ?? [];
      if (options.format === "json") {
        return output.json({
          node_id: node.id,
          forward_chain: forward.map(nodeForm.json),
          backward_chain: backward.map(nodeForm.json),
        });
      }
      for (const line of memoryTable([...backward.toReversed(), node, ...forward])) {
        output.line(line);
      }
      output.line(`\n${node.id} replaced ${backward.length}; ${forward.length} replaced it`);
    }),
);
