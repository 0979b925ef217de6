import { Option } from "commander";
import { invalid } from "../../../domain/errors.ts";
import { requireStep } from "../../../domain/lifecycle.ts";
import { callersMetadata } from "../../../domain/metadata.ts";
import { type MemoryNode, nodeForm } from "../../../domain/node.ts";
import { storedSpeaker } from "../../../domain/speaker.ts";
import type { StoreInput } from "../../../engine/write/api.ts";
import { parseUuid } from "../../../lib/uuid.ts";
import type { CliContext } from "../context.ts";
import {
  ACTOR,
  findMemory,
  ID_ARGUMENT,
  type MemoryOptions,
  memoryTable,
  textOf,
  withMemories,
  withPack,
} from "../memories.ts";
import { ownerOption, PACK, packCommand } from "../options.ts";
import type { Output } from "../output.ts";
import { confirm, isTerminal } from "../terminal.ts";

type ArchiveOptions = MemoryOptions & { readonly yes?: true };

/** `svc archive`: retires memories. */
export const archiveCommand = packCommand(
  {
    name: "archive",
    description: "retire memories, so that they are no longer found",
    arguments: [PACK, ["<id...>", ID_ARGUMENT]],
    options: [ownerOption(), new Option("--yes", "do not ask")],
    examples: `
Examples:
  svc archive ./memory.pack 0198a2b4-0000-7000-8000-000000000001
  svc archive ./memory.pack 0198a2b4 0198a2b5 --yes     without a question

An archived memory is no longer found; svc restore brings it back, svc show reads it. To replace what a memory says: svc edit.
To erase its text: svc forget.`,
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

/** `svc pin`: pins memories, or releases them. */
export const pinCommand = packCommand(
  {
    name: "pin",
    description: "pin memories, so that they are considered for every question",
    arguments: [PACK, ["<id...>", ID_ARGUMENT]],
    options: [ownerOption(), new Option("--release", "release them instead")],
    examples: `
Examples:
  svc pin ./memory.pack 0198a2b4
  svc pin ./memory.pack 0198a2b4 --release

A pinned memory is a candidate for every question and is never archived by time.`,
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

type RestoreOptions = MemoryOptions & {
  readonly faded?: true;
  readonly dryRun?: true;
  readonly reason?: string;
};

/** `svc restore`: brings retired memories back. */
export const restoreCommand = packCommand(
  {
    name: "restore",
    description: "bring archived memories back, so that they are found again",
    arguments: [PACK, ["[id...]", ID_ARGUMENT]],
    options: [
      ownerOption(),
      new Option("--faded", "all that has faded"),
      new Option("--dry-run", "with --faded: count them, and change nothing"),
      new Option("--reason <text>", "why, for the record"),
    ],
    examples: `
Examples:
  svc restore ./memory.pack 0198a2b4-0000-7000-8000-000000000001 --reason "needed again"
  svc restore ./memory.pack --faded --dry-run       how many have faded
  svc restore ./memory.pack --faded                 bring all of them back

What time, a person or an assistant has archived is found again as before. Of a memory that was replaced, the one that stands is
named: archive that one first if the old one is right. What was forgotten is erased, and nothing brings it back.
--faded brings back what time has archived though nobody named a day for it, of all owners unless one is named, and lets what has
the retention that was once the default of its type stay for ever.`,
  },
  async (context, path: string, ids: readonly string[], options: RestoreOptions) => {
    const { faded = false, dryRun = false } = options;
    if (faded === ids.length > 0) {
      throw invalid("<id...>", "needs an id, or --faded alone for all that has faded");
    }
    if (dryRun && !faded) throw invalid("--dry-run", "counts what has faded; it needs --faded");
    if (faded) await restoreFaded(context, path, options);
    else await restoreSome(context, path, ids, options);
  },
);

async function restoreSome(
  context: CliContext,
  path: string,
  ids: readonly string[],
  options: RestoreOptions,
): Promise<void> {
  await withMemories(context, path, options, async (engine, userId) => {
    const { output } = context;
    const { reason, format } = options;
    const restored = [];
    for (const given of ids) {
      // A whole id may be that of a memory that was forgotten, which the engine tells.
      const id = parseUuid(given) ?? (await findMemory(engine, userId, given)).id;
      restored.push(await engine.restore(id, { userId, actorId: ACTOR, reason }));
    }
    if (format === "json") output.json({ nodes: restored.map(nodeForm.json) });
    else for (const { nodeType, id } of restored) output.line(`Restored ${nodeType} ${id}`);
  });
}

async function restoreFaded(
  context: CliContext,
  path: string,
  options: RestoreOptions,
): Promise<void> {
  const { userId, dryRun = false, format } = options;
  await withPack(context, path, options, async (engine) => {
    const { output } = context;
    const stopProgress = await output.progress(dryRun ? "counting" : "restoring");
    let done: Awaited<ReturnType<typeof engine.restoreFaded>>;
    try {
      done = await engine.restoreFaded({ userId, actorId: ACTOR, dryRun });
    } finally {
      stopProgress();
    }
    if (format === "json") return output.json(done);
    const { restored, kept, failed } = done;
    const would = dryRun ? " would be" : "";
    output.line(`${restored} that have faded${would || " are"} restored`);
    output.line(`${kept} with a former default retention${would || " are"} kept for ever`);
    if (failed > 0) output.line(`${failed} could not be restored`);
    if (failed > 0) context.fail();
  });
}

/** `svc edit`: replaces the text of a memory. */
export const editCommand = packCommand(
  {
    name: "edit",
    description: "replace the text of a memory",
    arguments: [PACK, ["<id>", ID_ARGUMENT], ["<text...>", "the new text; - reads it from stdin"]],
    options: [ownerOption()],
    examples: `
Examples:
  svc edit ./memory.pack 0198a2b4 "Anna prefers coffee to tea"
  cat note.txt | svc edit ./memory.pack 0198a2b4 -

The new text becomes a memory of its own, with what was known of the old one, and replaces it: only the new one is found.
The old one stays as it was, superseded; svc show reads it.`,
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
