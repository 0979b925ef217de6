import { Option } from "commander";
import { invalid } from "../../../domain/errors.ts";
import { requireStep } from "../../../domain/lifecycle.ts";
import { type MemoryNode, nodeForm } from "../../../domain/node.ts";
import type { OrganizeResult } from "../../../engine/organize/api.ts";
import { parseUuid } from "../../../lib/uuid.ts";
import { extractionStatusOperation } from "../../contract/events.ts";
import { processOperation, retryOperation } from "../../contract/extraction.ts";
import { archiveOperation, pinOperation, restoreOperation } from "../../contract/lifecycle.ts";
import { organizeOperation } from "../../contract/organize.ts";
import { type Desk, ID_ARGUMENT, memoryCommand, memoryTable } from "../memories.ts";
import { countOption } from "../options.ts";
import { answerLines, shortened, shortIds, table } from "../output.ts";
import { confirm, isTerminal } from "../terminal.ts";

const IDS = [["<id...>", ID_ARGUMENT]] as const;

/** Reports the result for each memory. */
function tellDone(desk: Desk<unknown>, nodes: readonly MemoryNode[], done: string): void {
  const name = shortIds(nodes.map(({ id }) => id));
  desk.tell({ nodes: nodes.map(nodeForm.json) }, () =>
    nodes.map(
      ({ id, nodeType, content }) => `${done} ${nodeType} ${name(id)}: ${shortened(content)}`,
    ),
  );
}

export const archiveCommand = memoryCommand<{ readonly yes?: true }, [readonly string[]]>(
  {
    name: "archive",
    description: "retire memories, so that they are no longer found",
    words: IDS,
    options: [new Option("--yes", "do not ask")],
    examples: `
Examples:
  svc archive 3f9a1c
  svc archive 3f9a1c 77b2e0 --yes     without a question

An archived memory is no longer found; svc restore brings it back, svc show reads it. To replace what a memory says: svc replace.
To erase its text: svc forget.`,
  },
  async (desk, ids) => {
    const meant = new Map<string, MemoryNode>();
    // All are looked up before the first is changed.
    for (const id of ids) {
      const node = await desk.find(id);
      requireStep("archive", node);
      meant.set(node.id, node);
    }
    const nodes = [...meant.values()];
    if (desk.options.yes !== true && !(await isAgreed(desk, nodes))) {
      return desk.output.note("Nothing was changed.");
    }
    const archived: MemoryNode[] = [];
    for (const { id } of nodes) {
      archived.push((await desk.ask(archiveOperation, { node_id: id })).output);
    }
    tellDone(desk, archived, "Archived");
  },
);

/** @throws SvcError invalid_argument if there is no terminal to ask on */
async function isAgreed({ output }: Desk<unknown>, nodes: readonly MemoryNode[]): Promise<boolean> {
  if (!isTerminal()) throw invalid("--yes", "is needed where there is no terminal to ask on");
  for (const line of memoryTable(nodes)) output.note(line);
  const what = nodes.length === 1 ? "this memory" : `these ${nodes.length} memories`;
  return await confirm(`Archive ${what}?`, false);
}

export const pinCommand = memoryCommand<{ readonly release?: true }, [readonly string[]]>(
  {
    name: "pin",
    description: "pin memories, so that they are considered for every question",
    words: IDS,
    options: [new Option("--release", "release them instead")],
    examples: `
Examples:
  svc pin 3f9a1c
  svc pin 3f9a1c --release

A pinned memory is a candidate for every question and is never archived by time.`,
  },
  async (desk, ids) => {
    const pinned = desk.options.release !== true;
    const nodes: MemoryNode[] = [];
    for (const id of ids) {
      const { id: node_id } = await desk.find(id);
      nodes.push((await desk.ask(pinOperation, { node_id, pinned })).output);
    }
    tellDone(desk, nodes, pinned ? "Pinned" : "Released");
  },
);

type RestoreOptions = {
  readonly faded?: true;
  readonly dryRun?: true;
  readonly reason?: string;
};

export const restoreCommand = memoryCommand<RestoreOptions, [readonly string[]]>(
  {
    name: "restore",
    description: "bring archived memories back, so that they are found again",
    words: [["[id...]", ID_ARGUMENT]],
    options: [
      new Option("--faded", "all that has faded"),
      new Option("--dry-run", "with --faded: count them, and change nothing"),
      new Option("--reason <text>", "why, for the record"),
    ],
    examples: `
Examples:
  svc restore 3f9a1c --reason "needed again"
  svc restore --faded --dry-run       how many have faded
  svc restore --faded                 bring all of them back

What time, a person or an assistant has archived is found again as before. Of a memory that was replaced, the one that stands is
named: archive that one first if the old one is right. What was forgotten is erased, and nothing brings it back.
--faded brings back what time has archived though nobody named a day for it, of all owners unless one is named, and lets what has
the retention that was once the default of its type stay indefinitely.`,
  },
  async (desk, ids) => {
    const { faded = false, dryRun = false, reason } = desk.options;
    if (faded === ids.length > 0) {
      throw invalid("<id...>", "needs an id, or --faded alone for all that has faded");
    }
    if (dryRun && !faded) throw invalid("--dry-run", "counts what has faded; it needs --faded");
    if (faded) return await restoreFaded(desk);
    const restored: MemoryNode[] = [];
    for (const given of ids) {
      // A whole id may be that of a forgotten memory, which the engine reports.
      const node_id = parseUuid(given) ?? (await desk.find(given)).id;
      restored.push((await desk.ask(restoreOperation, { node_id, reason })).output);
    }
    tellDone(desk, restored, "Restored");
  },
);

async function restoreFaded(desk: Desk<RestoreOptions>): Promise<void> {
  const { userId, dryRun = false } = desk.options;
  const done = await desk.engine.restoreFaded({ userId, actorId: "cli-operator", dryRun });
  const { restored, kept, failed } = done;
  const would = dryRun ? "would be" : "are";
  desk.tell(done, () => [
    `${restored} that have faded ${would} restored`,
    `${kept} with a former default retention ${would} kept indefinitely`,
    ...(failed > 0 ? [`${failed} could not be restored`] : []),
  ]);
  if (failed > 0) desk.context.fail();
}

const EVENT = [
  "<event_id>",
  "the id that ingest answered with, or an end or start of it that no memory has besides",
] as const;

/** The event of an id, or of part of the id of its memory. */
async function eventOf({ find }: Desk<unknown>, given: string): Promise<string> {
  return parseUuid(given) ?? (await find(given)).id;
}

export const extractionStatusCommand = memoryCommand<object, [string]>(
  {
    name: "extraction-status",
    description: "how far extraction from a message has come, and why it failed",
    words: [EVENT],
    examples: `
Examples:
  svc extraction-status 0198a2b4-0000-7000-8000-000000000001
  svc extraction-status 0198a2b4-0000-7000-8000-000000000001 --format json

States: pending (waits), running, complete, failed (tried again only by svc retry-extraction).`,
  },
  async (desk, given) => {
    const event_id = await eventOf(desk, given);
    desk.tell((await desk.ask(extractionStatusOperation, { event_id })).json);
  },
);

export const retryExtractionCommand = memoryCommand<object, [string]>(
  {
    name: "retry-extraction",
    description: "queue a message again from which nothing could be extracted",
    words: [EVENT],
    of: retryOperation,
    members: { replan: ["replan", "make a new plan in place of one that no longer fits"] },
    examples: `
Examples:
  svc retry-extraction 0198a2b4-0000-7000-8000-000000000001
  svc retry-extraction 0198a2b4-0000-7000-8000-000000000001 --replan

Makes it due now; svc process-extractions then runs it. What the model answered before is used again.
--replan is for a message that failed with StaleDerivationPlanError.`,
  },
  async (desk, given) => {
    const event_id = await eventOf(desk, given);
    desk.tell((await desk.ask(retryOperation, { ...desk.given, event_id })).json);
  },
);

export const processExtractionsCommand = memoryCommand<
  { readonly limit?: number; readonly budgetMs?: number },
  []
>(
  {
    name: "process-extractions",
    description: "extract what is queued of ingested messages now",
    of: processOperation,
    members: { limit: "limit", "budget-ms": "budget_ms" },
    examples: `
Examples:
  svc process-extractions
  svc process-extractions --limit 1000 --budget-ms 600000
  svc process-extractions --budget-ms 0      only count

Needs a language model: SVC_EXTRACTION__PROVIDER, SVC_EXTRACTION__MODEL. Exits with 1 if messages have failed permanently.`,
  },
  async (desk) => {
    const { context, options, output, pack } = desk;
    const { output: pass, json } = await desk.ask(processOperation, desk.given);
    const { processed, pending, failed } = pass;
    desk.tell(json, () => [`${processed} extracted, ${pending} pending, ${failed} failed`]);
    if (processed === 0 && pending > 0 && options.limit !== 0 && options.budgetMs !== 0) {
      output.note(
        `Nothing was due, a try failed, or extraction is off. svc info ${pack} says whether it is on, svc extraction-status ${pack} EVENT_ID how far one message is.`,
      );
    }
    if (failed === 0) return;
    output.note(`Why messages have failed: svc doctor ${pack}`);
    context.fail();
  },
);

export const organizeCommand = memoryCommand<
  { readonly jobs?: string; readonly budgetMs?: number },
  []
>(
  {
    name: "organize",
    description: "put memories in order: promote, archive what has faded, merge, sum up",
    isOfAll: true,
    of: organizeOperation,
    members: { "dry-run": ["dry_run", "list what would be changed, and change nothing"] },
    options: [
      new Option(
        "--jobs <names>",
        "jobs to run, separated by commas (default: all but feedback_apply)",
      ),
      countOption(
        "--budget-ms <count>",
        "milliseconds for all jobs together",
        [0, 86_400_000],
        5000,
      ),
    ],
    doing: "organizing",
    examples: `
Examples:
  svc organize --dry-run                    what would be changed, without changing anything
  svc organize
  svc organize --user-id anna --jobs promote,deduplicate --budget-ms 60000

Jobs: promote, decay_sweep, archive, deduplicate, alias_resolve, summarize, feedback_apply, tombstone_sweep, snapshot_generation, consolidate, index_compaction.
Nothing is deleted: svc show says what became of a memory. The jobs, and how to undo what they do: docs/organizer.md.`,
  },
  async (desk) => {
    const { jobs, budgetMs } = desk.options;
    const names = jobs === undefined || jobs === "" ? undefined : jobs.split(",");
    const asked = { ...desk.given, jobs: names, budget_ms: budgetMs };
    const { output: result, json } = await desk.ask(organizeOperation, asked);
    const unknown = result.jobsSkipped.filter((name) => result.skippedBecause[name] === "unknown");
    if (unknown.length > 0 && unknown.length === names?.length) {
      throw invalid(
        "--jobs",
        `names no job: ${unknown.join(", ")}; svc organize --help lists them`,
      );
    }
    desk.tell(json, () => organizeLines(result));
    if (desk.options.format === "json") return;
    for (const name of unknown) {
      desk.output.note(`There is no job ${name}; svc organize --help lists them.`);
    }
    const wordless = result.jobsSkipped.filter(
      (name) => result.skippedBecause[name] === "no_language_model",
    );
    if (wordless.length === 0) return;
    desk.output.note(
      `${wordless.join(" and ")} need the language model of extraction, or SVC_ORGANIZER__EXTRACTIVE_SUMMARIES=true.`,
    );
  },
);

function organizeLines({
  jobsRun,
  jobsSkipped,
  skippedBecause,
  perJob,
  durationMs,
  wouldChange,
}: OrganizeResult): readonly string[] {
  const head = {
    duration: `${durationMs} ms`,
    jobs_run: jobsRun,
    jobs_skipped: jobsSkipped.map((name) => `${name} (${skippedBecause[name]})`),
  };
  const rows = Object.values(perJob).map(
    ({ job, nodesProcessed, nodesModified, errors, durationMs: ms }) => [
      ...[job, nodesProcessed, nodesModified, errors].map(String),
      `${ms} ms`,
    ],
  );
  const jobs = table(["JOB", "PROCESSED", "MODIFIED", "ERRORS", "DURATION"], rows);
  return [
    ...answerLines(head),
    ...(rows.length > 0 ? ["", ...jobs] : []),
    ...(wouldChange === undefined ? [] : ["", ...changeLines(wouldChange)]),
  ];
}

function changeLines({
  changes,
  more,
}: NonNullable<OrganizeResult["wouldChange"]>): readonly string[] {
  if (changes.length === 0) return ["Nothing would be changed."];
  const name = shortIds(changes.map(({ targetId }) => targetId));
  const rows = changes.map(({ job, targetId, from, to, operation, userId, content }) => [
    content ?? "",
    from === undefined || to === undefined || from === to ? operation : `${from} -> ${to}`,
    job,
    userId ?? "",
    name(targetId),
  ]);
  // Jobs do not see each other's changes, so two may list the same memory.
  const { size } = new Set(changes.map(({ targetId }) => targetId));
  const count = more === 0 ? size : changes.length + more;
  const shown = more === 0 ? "" : `, the first ${changes.length} of which are shown`;
  const end = `Nothing was changed. Without --dry-run: ${count} ${count === 1 ? "change" : "changes"}${shown}.`;
  return [...table(["MEMORY", "CHANGE", "JOB", "OWNER", "ID"], rows, true), "", end];
}
