import { findModel } from "../../../domain/embedding-models.ts";
import { invalid } from "../../../domain/errors.ts";
import { isForeign } from "../../../domain/language.ts";
import { callersMetadata } from "../../../domain/metadata.ts";
import { type MemoryNode, nodeForm } from "../../../domain/node.ts";
import { storedSpeaker } from "../../../domain/speaker.ts";
import type { StoreInput, StoreReceipt } from "../../../engine/write/api.ts";
import { fromDate } from "../../../lib/instant.ts";
import { age } from "../../contract/core/tool-text.ts";
import { supersedeOperation } from "../../contract/lifecycle.ts";
import { storeOperation } from "../../contract/store.ts";
import { ACTOR, type Desk, ID_ARGUMENT, memoryCommand, textOf } from "../memories.ts";
import { shortened, shortIds } from "../output.ts";
import { confirm, isTerminal } from "../terminal.ts";

/** Characters of a similar memory. */
const SHOWN_CHARS = 80;

type StoreOptions = { readonly supersedes?: readonly string[] };

export const storeCommand = memoryCommand<StoreOptions, [readonly string[]]>(
  {
    name: "store",
    description: "remember something",
    words: [["<text...>", "what to remember; - reads it from stdin"]],
    of: storeOperation,
    members: {
      type: "node_type",
      scope: "scope",
      role: "role",
      speaker: "speaker",
      "event-time": ["event_time", 'when it happened: a date, a time, "yesterday", "2 weeks ago"'],
      metadata: ["metadata", "a JSON object to store with it"],
      supersedes: ["supersedes", "memories to replace: all of them, or nothing is stored"],
    },
    isStoring: true,
    doing: "storing",
    examples: `
Examples:
  svc store "Anna prefers tea to coffee"
  svc store "Paid the invoice" --event-time yesterday
  svc store "Anna drinks coffee now" --supersedes 3f9a1c
  svc store ./work.pack "The demo is on Friday" --type task       in another pack
  cat note.txt | svc store - --metadata '{"source":"diary"}'`,
  },
  async (desk, words) => {
    const content = await textOf(words);
    const { output: receipt, json } = await desk.ask(storeOperation, { ...desk.given, content });
    const { node, near = [] } = receipt;
    const { node_type, user_id } = nodeForm.json(node);
    const short = shortIds([node.id])(node.id);
    desk.tell({ ...json, node_type, user_id }, () => [
      receipt.duplicate
        ? `Known already as ${node.nodeType} ${short}, from ${age(node.createdAt, fromDate(new Date()))}; confirmed, not stored twice`
        : `Stored as ${node.nodeType} ${short}`,
    ]);
    if (desk.options.format === "json" || receipt.duplicate) return;
    await noteLanguage(desk, node);
    const same = near.find(({ identical }) => identical)?.node;
    if (same !== undefined) {
      const [old, fresh] = [same.id, node.id].map(shortIds([same.id, node.id]));
      return desk.output.line(
        `That is there already as ${old}, from ${age(same.createdAt, fromDate(new Date()))}. To keep it once: svc archive ${fresh}`,
      );
    }
    await replaceNear(desk, receipt);
  },
);

/** Memories without another one in a foreign language, before which the next such one is remarked. */
const REMARKED_AFTER = 20;

/** Says at the first memory in another language that the model of the pack reads English. */
async function noteLanguage(desk: Desk<unknown>, { content, userId }: MemoryNode): Promise<void> {
  if (!isForeign(content)) return;
  const { engine, output, options } = desk;
  const [, ...before] = await engine.queryNodes({ userId, limit: REMARKED_AFTER + 1 });
  if (before.some((node) => isForeign(node.content))) return;
  const { details } = await engine.stats(userId);
  if (findModel(details?.model.model ?? "")?.isEnglish !== true) return;
  const pack = options.isNamed ? ` ${desk.pack}` : "";
  output.note(
    `This is not in English, and the model of this pack reads English only: it is found by its words, hardly by its meaning. For about 100 languages: svc rebuild${pack} --model multilingual`,
  );
}

/** Lists the memories that the new one may replace; on a terminal asks whether it replaces the nearest. */
async function replaceNear(
  { ask, output, options }: Desk<StoreOptions>,
  { node: fresh, near = [] }: StoreReceipt,
): Promise<void> {
  const [nearest] = near;
  if (nearest === undefined || options.supersedes !== undefined) return;
  const quoted = `"${shortened(nearest.node.content, SHOWN_CHARS)}"`;
  if (isTerminal()) {
    if (!(await confirm(`Replaces ${quoted}?`, false))) return;
    await ask(supersedeOperation, { old_node_id: nearest.node.id, new_node_id: fresh.id });
    return output.line("Replaced.");
  }
  const name = shortIds([...near.map(({ node }) => node.id), fresh.id]);
  for (const { node } of near) {
    output.line(`Near: ${name(node.id)} "${shortened(node.content, SHOWN_CHARS)}"`);
  }
  output.line(`If it replaces one of them: svc replace ID ${name(fresh.id)}`);
}

export const replaceCommand = memoryCommand<object, [string, readonly string[]]>(
  {
    name: "replace",
    description: "replace a memory by a new text, or by another memory",
    words: [
      ["<id>", ID_ARGUMENT],
      [
        "<text...>",
        "the new text, or the id of the memory that replaces it; - reads a text from stdin",
      ],
    ],
    examples: `
Examples:
  svc replace 3f9a1c "Anna prefers coffee to tea"
  svc replace 3f9a1c 77b2e0                        the second one replaces the first
  cat note.txt | svc replace 3f9a1c -

A new text becomes a memory of its own, with what was known of the old one, and replaces it: only the new one is found.
The old one stays as it was, superseded; svc show reads it, svc chain what became of it.`,
  },
  async (desk, id, words) => {
    const old = await desk.find(id);
    const other = words.length === 1 ? await known(desk, words[0] ?? "") : undefined;
    const name = shortIds([old.id, ...(other === undefined ? [] : [other.id])]);
    if (other !== undefined) {
      const ids = { old_node_id: old.id, new_node_id: other.id };
      const { json } = await desk.ask(supersedeOperation, ids);
      return desk.tell(json, () => [`${name(other.id)} replaces ${name(old.id)}`]);
    }
    const content = await textOf(words);
    if (content === old.content) {
      throw invalid("text", `memory ${old.id} already says exactly that; nothing was changed`);
    }
    const { node } = await desk.engine.storeWithReceipt({ ...inheritance(old), content });
    desk.tell({ ...nodeForm.json(node), supersedes: old.id }, () => [
      `Stored as ${node.nodeType} ${shortIds([node.id])(node.id)}, which replaces ${name(old.id)}`,
    ]);
  },
);

/** The memory that a word identifies; undefined: it is a text. */
async function known({ find }: Desk<object>, word: string): Promise<MemoryNode | undefined> {
  if (!/^…?[0-9a-f-]{4,36}$/i.test(word)) return undefined;
  return await find(word).catch(() => undefined);
}

/** The members that the new memory inherits. Certainty is not one: an edit is a new statement by the editor. */
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
