import { findAnyMemory, ID_ARGUMENT, withPack } from "../memories.ts";
import { PACK, packCommand } from "../pack-command.ts";
import { anyOwnerOption } from "./list.ts";
import { memoryJson, printMemory, type ShowOptions, wholeOption } from "./show.ts";

const EXAMPLES = `
Examples:
  svc node ./memory.pack 0198a2b4-0000-7000-8000-000000000001
  svc node ./memory.pack 0198a2b4 --format json

The same as svc show, for a memory of any owner.`;

/** `svc node`: one memory of any owner in full. */
export const nodeCommand = packCommand(
  {
    name: "node",
    description: "show one memory of any owner, in any state",
    arguments: [PACK, ["<id>", ID_ARGUMENT]],
    options: [anyOwnerOption(), wholeOption()],
    examples: EXAMPLES,
  },
  (context, path: string, id: string, options: ShowOptions) =>
    withPack(context, path, options, async (engine) => {
      const node = await findAnyMemory(engine, options.userId, id);
      if (options.format === "json") return context.output.json(memoryJson(node, options));
      await printMemory(context.output, engine, node, options);
    }),
);
