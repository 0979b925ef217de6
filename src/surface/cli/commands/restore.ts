import { Option } from "commander";
import { invalid } from "../../../domain/errors.ts";
import { nodeForm } from "../../../domain/node.ts";
import { parseUuid } from "../../../lib/uuid.ts";
import type { CliContext } from "../context.ts";
import {
  ACTOR,
  findMemory,
  ID_ARGUMENT,
  type MemoryOptions,
  withMemories,
  withPack,
} from "../memories.ts";
import { ownerOption } from "../options.ts";
import { PACK, packCommand } from "../pack-command.ts";

const EXAMPLES = `
Examples:
  svc restore ./memory.pack 0198a2b4-0000-7000-8000-000000000001 --reason "needed again"
  svc restore ./memory.pack --faded --dry-run       how many have faded
  svc restore ./memory.pack --faded                 bring all of them back

What time, a person or an assistant has archived is found again as before. Of a memory that was replaced, the one that stands is
named: archive that one first if the old one is right. What was forgotten is erased, and nothing brings it back.
--faded brings back what time has archived though nobody named a day for it, of all owners unless one is named, and lets what has
the retention that was once the default of its type stay for ever.`;

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
    examples: EXAMPLES,
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
