import { invalid } from "../../../domain/errors.ts";
import { callersMetadata } from "../../../domain/metadata.ts";
import { type MemoryNode, nodeForm } from "../../../domain/node.ts";
import { storedSpeaker } from "../../../domain/speaker.ts";
import type { StoreInput } from "../../../engine/write/api.ts";
import {
  ACTOR,
  findMemory,
  ID_ARGUMENT,
  type MemoryOptions,
  textOf,
  withMemories,
} from "../memories.ts";
import { ownerOption } from "../options.ts";
import { PACK, packCommand } from "../pack-command.ts";

const EXAMPLES = `
Examples:
  svc edit ./memory.pack 0198a2b4 "Anna prefers coffee to tea"
  cat note.txt | svc edit ./memory.pack 0198a2b4 -

The new text becomes a memory of its own, with what was known of the old one, and replaces it: only the new one is found.
The old one stays as it was, superseded; svc show reads it.`;

/** `svc edit`: replaces the text of a memory. */
export const editCommand = packCommand(
  {
    name: "edit",
    description: "replace the text of a memory",
    arguments: [PACK, ["<id>", ID_ARGUMENT], ["<text...>", "the new text; - reads it from stdin"]],
    options: [ownerOption()],
    examples: EXAMPLES,
  },
  async (context, path: string, id: string, words: readonly string[], options: MemoryOptions) => {
    const content = await textOf(words);
    await withMemories(context, path, options, async (engine, userId) => {
      const { output } = context;
      const old = await findMemory(engine, userId, id);
      if (content === old.content) {
        throw invalid("text", `memory ${old.id} already says exactly that; nothing was changed`);
      }
      const { node } = await engine.storeWithReceipt({ ...inheritance(old), content });
      if (options.format === "json") output.json({ ...nodeForm.json(node), supersedes: old.id });
      else output.line(`Stored as ${node.nodeType} ${node.id}, which replaces ${old.id}`);
    });
  },
);

/** The members that the new memory inherits. Certainty is not one of them: an edit is a new statement by the editor. */
function inheritance(old: MemoryNode): Omit<StoreInput, "content"> {
  const { metadata, epistemicType } = old;
  const isConditional = epistemicType === "conditional";
  const { condition_state: _, ...own } = callersMetadata(metadata) ?? {};
  return {
    userId: old.userId,
    nodeType: old.nodeType,
    scope: old.scope,
    sessionId: old.sessionId,
    speaker: storedSpeaker(metadata),
    // The condition of the new memory has not been evaluated.
    metadata: isConditional ? own : callersMetadata(metadata),
    epistemicType: isConditional ? epistemicType : undefined,
    eventTime: old.eventTime,
    validFrom: old.validTo === undefined ? undefined : old.validFrom,
    validTo: old.validTo,
    ttlDays: old.ttlDays ?? null,
    supersedes: [old.id],
    actorId: ACTOR,
  };
}
