import { Option } from "commander";
import { EDGE_TYPES, type EdgeType } from "../../../domain/enums.ts";
import { edgeForm } from "../../../domain/node.ts";
import { findAnyMemory, type MemoryOptions, withPack } from "../memories.ts";
import { countLine, table } from "../output.ts";
import { choiceOption, countOption, packCommand } from "../pack-command.ts";
import { anyOwnerOption } from "./list.ts";

const EXAMPLES = `
Examples:
  svc edges ./memory.pack
  svc edges ./memory.pack --type contradicts
  svc edges ./memory.pack --source 0198a2b4 --format json

Ids are shortened to their ends, which svc node and svc show accept; JSON has complete ones.`;

type EdgesOptions = MemoryOptions & {
  readonly type?: EdgeType;
  readonly source?: string;
  readonly target?: string;
  readonly limit: number;
  readonly after?: string;
};

/** `svc edges`: the edges between memories, by ascending id. */
export const edgesCommand = packCommand(
  {
    name: "edges",
    description: "list the edges between memories: what mentions, replaces or contradicts what",
    options: [
      anyOwnerOption(),
      choiceOption("--type <type>", "only of this kind", EDGE_TYPES),
      new Option("--source <id>", "only from this memory"),
      new Option("--target <id>", "only to this memory"),
      countOption("--limit <count>", "maximum number of edges to show", [1, 1000], 20),
      new Option("--after <id>", "continue after this edge, the last of the previous page"),
    ],
    examples: EXAMPLES,
  },
  (context, path: string, options: EdgesOptions) =>
    withPack(context, path, options, async (engine) => {
      const { output } = context;
      const { userId, type, source, target, limit, after, format } = options;
      const idOf = async (given: string | undefined) =>
        given === undefined ? undefined : (await findAnyMemory(engine, userId, given)).id;
      const { edges, nextCursor } = await engine.getEdges({
        userId,
        edgeType: type,
        sourceId: await idOf(source),
        targetId: await idOf(target),
        afterId: after,
        limit,
      });
      if (format === "json") output.json(edges.map(edgeForm.json));
      else {
        const rows = edges.map((edge) => [
          ending(edge.id),
          edge.edgeType,
          ending(edge.sourceId),
          ending(edge.targetId),
          edge.confidence.toFixed(2),
        ]);
        for (const line of table(["ID", "TYPE", "SOURCE", "TARGET", "CONF"], rows)) {
          output.line(line);
        }
        for (const line of countLine(edges.length, "edge", "edges")) output.line(line);
      }
      if (nextCursor !== undefined) output.note(`There are more: add --after ${nextCursor}`);
    }),
);

/** The end of an id; its start is its time, which neighbours share. */
function ending(id: string): string {
  return `…${id.slice(-12)}`;
}
