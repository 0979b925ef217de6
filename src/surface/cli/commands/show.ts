import { Option } from "commander";
import { type MemoryNode, nodeForm } from "../../../domain/node.ts";
import { storedSpeaker } from "../../../domain/speaker.ts";
import type { MemoryEngine } from "../../../engine/memory-engine.ts";
import type { JsonObject } from "../../../lib/json.ts";
import { type TextWindow, textWindow, windowJson } from "../../contract/core/cut-texts.ts";
import { rounded } from "../../contract/core/tool-text.ts";
import { organizerChange } from "../../contract/nodes.ts";
import { findMemory, ID_ARGUMENT, type MemoryOptions, withMemories } from "../memories.ts";
import { ownerOption } from "../options.ts";
import { allLines, fields, type Output, oneLine } from "../output.ts";
import { PACK, packCommand } from "../pack-command.ts";

const EXAMPLES = `
Examples:
  svc show ./memory.pack 0198a2b4-0000-7000-8000-000000000001
  svc show ./memory.pack 0198a2b4                    the beginning of an id, where it is clear
  svc show ./memory.pack 0198a2b4 --format json      every field
  svc show ./memory.pack 0198a2b4 --whole            a text of more than 1,048,576 characters, too

Shows memories in any state. svc list and svc search name their ids.`;

/** `svc show`: one memory in full. */
export const showCommand = packCommand(
  {
    name: "show",
    description: "show one memory: its text and everything known about it",
    arguments: [PACK, ["<id>", ID_ARGUMENT]],
    options: [ownerOption(), wholeOption()],
    examples: EXAMPLES,
  },
  (context, path: string, id: string, options: ShowOptions) =>
    withMemories(context, path, options, async (engine, userId) => {
      const { output } = context;
      const node = await findMemory(engine, userId, id);
      if (options.format === "json") {
        const [replaced] = (await engine.chain(node.id, { userId, direction: "backward" })) ?? [];
        output.json({ ...memoryJson(node, options), supersedes: replaced?.id ?? null });
        return;
      }
      await printMemory(output, engine, node, options);
    }),
);

export type ShowOptions = MemoryOptions & { readonly whole?: true };

export function wholeOption(): Option {
  return new Option("--whole", "show the whole of a very long text");
}

/** A memory as JSON, of a very long text the beginning. */
export function memoryJson(node: MemoryNode, { whole }: ShowOptions): JsonObject {
  return whole === true ? nodeForm.json(node) : windowJson(nodeForm, node);
}

/** Prints a memory for a person: what is known about it, then its text. */
export async function printMemory(
  output: Output,
  engine: MemoryEngine,
  node: MemoryNode,
  { whole }: ShowOptions,
): Promise<void> {
  const { item, told } = whole === true ? { item: node, told: {} } : textWindow(node);
  const { next_offset: next }: TextWindow<MemoryNode>["told"] = told;
  for (const line of await memoryLines(engine, item)) output.line(line);
  if (next !== undefined) {
    output.note(`The first ${next} of ${node.content.length} characters; --whole shows all.`);
  }
}

async function memoryLines(engine: MemoryEngine, node: MemoryNode): Promise<readonly string[]> {
  const { id, userId } = node;
  const [replaced] = (await engine.chain(id, { userId, direction: "backward" })) ?? [];
  const organizer = await organizerChange(engine, node);
  return [...fields(factsOf(node, { replaced, organizer })), "", allLines(node.content)];
}

type Around = {
  /** What it replaced. */
  readonly replaced: MemoryNode | undefined;
  /** What the organizer made of it, in words. */
  readonly organizer: string | undefined;
};

function factsOf(node: MemoryNode, { replaced, organizer }: Around): [string, string][] {
  const { validTo, ttlDays, metadata } = node;
  const facts: [string, string | undefined][] = [
    ["Memory", node.id],
    ["Owner", node.userId],
    ["Type", node.nodeType],
    ["State", node.lifecycleState],
    ["Replaced by", node.supersededBy],
    ["Replaces", replaced?.id],
    ["Scope", node.scope],
    ["Known as", `${node.epistemicType}, ${node.sourceType}`],
    ["Said by", storedSpeaker(metadata)],
    ["Confidence", rounded(node.confidence)],
    ["Salience", rounded(node.salience)],
    ["Stored", node.createdAt],
    ["Changed", node.updatedAt === node.createdAt ? undefined : node.updatedAt],
    ["Organizer", organizer],
    ["Happened", node.eventTime],
    ["Valid", validTo === undefined ? `from ${node.validFrom}` : `${node.validFrom} to ${validTo}`],
    [
      "Kept for",
      ttlDays === undefined ? undefined : `${ttlDays} ${ttlDays === 1 ? "day" : "days"}`,
    ],
    ["Session", node.sessionId],
    ["Metadata", metadata === undefined ? undefined : JSON.stringify(metadata)],
    ["Evidence", node.evidenceRefs.length === 0 ? undefined : node.evidenceRefs.join(", ")],
  ];
  return facts.flatMap(([label, value]) => (value === undefined ? [] : [[label, oneLine(value)]]));
}
