import { Option } from "commander";
import { type MemoryNode, nodeForm } from "../../../domain/node.ts";
import { findAnyMemory, type MemoryOptions, SHOWN_CHARS, withPack } from "../memories.ts";
import { countLine, oneLine, shortened, table } from "../output.ts";
import { countOption, packCommand } from "../pack-command.ts";
import { anyOwnerOption, type ListFilters, listFilters, listPage } from "./list.ts";

const EXAMPLES = `
Examples:
  svc nodes ./memory.pack                             the newest 20 of all owners
  svc nodes ./memory.pack --state contested --format json
  svc nodes ./memory.pack --after 0198a2b4-0000-7000-8000-000000000001    the page behind this memory

svc list shows the memories of one owner with the times at which they were stored.`;

type NodesOptions = MemoryOptions & ListFilters & { readonly limit: number };

/** `svc nodes`: the memories of all owners with their confidence and salience, newest first. */
export const nodesCommand = packCommand(
  {
    name: "nodes",
    description: "list memories of all owners with their confidence and salience",
    options: [
      anyOwnerOption(),
      ...listFilters(),
      countOption("--limit <count>", "maximum number of memories to show", [0, 1000], 20),
      new Option("--after <id>", "continue after this memory, the last of the previous page"),
    ],
    examples: EXAMPLES,
  },
  (context, path: string, options: NodesOptions) =>
    withPack(context, path, options, async (engine) => {
      const { output } = context;
      const { limit, after, userId, format } = options;
      const { nodes, next } = await listPage(engine, options, {
        userId,
        olderThan: after === undefined ? undefined : await findAnyMemory(engine, userId, after),
        limit,
      });
      if (format === "json") output.json(nodes.map(nodeForm.json));
      else for (const line of nodesTable(nodes)) output.line(line);
      if (next !== undefined) output.note(`There are more: add --after ${next}`);
    }),
);

function nodesTable(nodes: readonly MemoryNode[]): readonly string[] {
  const rows = nodes.map((node) => [
    node.id,
    oneLine(node.userId),
    node.nodeType,
    node.lifecycleState,
    node.confidence.toFixed(2),
    node.salience.toFixed(2),
    shortened(node.content, SHOWN_CHARS),
  ]);
  const headings = ["ID", "OWNER", "TYPE", "STATE", "CONF", "SAL", "CONTENT"];
  return [...table(headings, rows), ...countLine(nodes.length, "memory", "memories")];
}
