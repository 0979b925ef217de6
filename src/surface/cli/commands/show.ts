import { type MemoryNode, nodeForm } from "../../../domain/node.ts";
import { storedSpeaker } from "../../../domain/speaker.ts";
import type { MemoryEngine } from "../../../engine/memory-engine.ts";
import { rounded } from "../../contract/core/tool-text.ts";
import { organizerChange } from "../../contract/nodes/organizer-text.ts";
import { findMemory, ID_ARGUMENT, type MemoryOptions, withMemories } from "../memories.ts";
import { ownerOption } from "../options.ts";
import { allLines, fields, oneLine } from "../output.ts";
import { PACK, packCommand } from "../pack-command.ts";

const EXAMPLES = `
Examples:
  svc show ./memory.pack 0198a2b4-0000-7000-8000-000000000001
  svc show ./memory.pack 0198a2b4                    the beginning of an id, where it is clear
  svc show ./memory.pack 0198a2b4 --format json      every field

Shows memories in any state. svc list and svc search name their ids.`;

/** `svc show`: one memory in full. */
export const showCommand = packCommand(
  {
    name: "show",
    description: "show one memory: its text and everything known about it",
    arguments: [PACK, ["<id>", ID_ARGUMENT]],
    options: [ownerOption()],
    examples: EXAMPLES,
  },
  (context, path: string, id: string, options: MemoryOptions) =>
    withMemories(context, path, options, async (engine, userId) => {
      const { output } = context;
      const node = await findMemory(engine, userId, id);
      if (options.format === "json") {
        const [replaced] = (await engine.chain(node.id, { userId, direction: "backward" })) ?? [];
        output.json({ ...nodeForm.json(node), supersedes: replaced?.id ?? null });
        return;
      }
      for (const line of await memoryLines(engine, node)) output.line(line);
    }),
);

/** A memory for a person: what is known about it, then its text. */
export async function memoryLines(
  engine: MemoryEngine,
  node: MemoryNode,
): Promise<readonly string[]> {
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
