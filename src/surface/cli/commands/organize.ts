import { InvalidArgumentError, Option } from "commander";
import { invalid } from "../../../domain/errors.ts";
import type { OrganizeResult, WouldChange } from "../../../engine/organize/api.ts";
import { organizeWholeView } from "../../contract/organize.ts";
import type { CliContext } from "../context.ts";
import { withEngine } from "../memories.ts";
import { configFor, type PackOptions, packCommand } from "../options.ts";
import { fields, type Output, shortened, table } from "../output.ts";

/** Characters of a memory in the list of a dry run. */
const SHOWN_CHARS = 60;

type OrganizeOptions = PackOptions & {
  readonly userId?: string;
  readonly jobs?: string;
  readonly budgetMs?: number;
  readonly dryRun?: true;
};

/** `svc organize`: puts the memories of a pack in order. */
export const organizeCommand = packCommand(
  {
    name: "organize",
    description: "put memories in order: promote, archive what has faded, merge, sum up",
    options: [
      new Option("--user-id <owner>", "only the memories of this owner (default: all owners)"),
      new Option(
        "--jobs <names>",
        "jobs to run, separated by commas (default: all but feedback_apply)",
      ),
      new Option(
        "--budget-ms <count>",
        "milliseconds for all jobs together (default: 5000)",
      ).argParser(integer),
      new Option("--dry-run", "list what would be changed, and change nothing"),
    ],
    examples: `
Examples:
  svc organize ./memory.pack --dry-run                    what would be changed, without changing anything
  svc organize ./memory.pack
  svc organize ./memory.pack --user-id anna --jobs promote,deduplicate --budget-ms 60000

Jobs: promote, decay_sweep, archive, deduplicate, alias_resolve, summarize, feedback_apply, tombstone_sweep, snapshot_generation, consolidate, index_compaction.
Nothing is deleted: svc show says what became of a memory. The jobs, and how to undo what they do: docs/organizer.md.`,
  },
  async (context, path: string, options: OrganizeOptions) => {
    const config = await configFor(context, path, options.encryptionKey);
    const { userId, jobs, budgetMs, dryRun = false } = options;
    await withEngine(context, config, async (engine) => {
      const stopProgress = await context.output.progress("organizing");
      try {
        const names = jobs === undefined || jobs === "" ? undefined : jobs.split(",");
        const result = await engine.organize({ userId, jobs: names, budgetMs, dryRun });
        stopProgress();
        requireKnown(result);
        print(context, result, options);
      } finally {
        stopProgress();
      }
    });
  },
);

function integer(text: string): number {
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError(`${JSON.stringify(text)} is not a whole number.`);
}

/** @throws SvcError invalid_argument if every job that was named is unknown */
function requireKnown({ jobsSkipped, skippedBecause, jobsRun }: OrganizeResult): void {
  const isKnown = jobsSkipped.some((name) => skippedBecause[name] !== "unknown");
  if (isKnown || jobsRun.length > 0 || jobsSkipped.length === 0) return;
  throw invalid(
    "--jobs",
    `names no job: ${jobsSkipped.join(", ")}; svc organize --help lists them`,
  );
}

function print({ output }: CliContext, result: OrganizeResult, { format }: OrganizeOptions): void {
  if (format === "json") {
    output.json(organizeWholeView.json(result));
    return;
  }
  const skipped = result.jobsSkipped.map((name) => `${name} (${result.skippedBecause[name]})`);
  const head = fields([
    ["Duration", `${result.durationMs} ms`],
    ["Budget remaining", `${result.budgetRemainingMs} ms`],
    ["Jobs run", result.jobsRun.join(", ") || "none"],
    ["Jobs skipped", skipped.join(", ") || "none"],
  ]);
  for (const line of head) output.line(line);
  output.line();
  const rows = Object.values(result.perJob).map((done) => [
    done.job,
    String(done.nodesProcessed),
    String(done.nodesModified),
    String(done.errors),
    `${done.durationMs} ms`,
  ]);
  const headings = ["JOB", "PROCESSED", "MODIFIED", "ERRORS", "DURATION"];
  if (rows.length > 0) for (const line of table(headings, rows)) output.line(line);
  noteSkipped(output, result);
  if (result.wouldChange !== undefined) printWouldChange(output, result.wouldChange);
}

function noteSkipped(output: Output, { jobsSkipped, skippedBecause }: OrganizeResult): void {
  const skippedFor = (reason: string) =>
    jobsSkipped.filter((name) => skippedBecause[name] === reason);
  for (const name of skippedFor("unknown")) {
    output.note(`There is no job ${name}; svc organize --help lists them.`);
  }
  const wordless = skippedFor("no_language_model");
  if (wordless.length > 0) {
    output.note(
      `${wordless.join(" and ")} need the language model of extraction, or SVC_ORGANIZER__EXTRACTIVE_SUMMARIES=true.`,
    );
  }
}

function printWouldChange(
  output: Output,
  { changes, more }: NonNullable<OrganizeResult["wouldChange"]>,
): void {
  output.line();
  if (changes.length === 0) {
    output.line("Nothing would be changed.");
    return;
  }
  const rows = changes.map((change) => [
    change.job,
    change.targetId,
    becomes(change),
    change.userId ?? "",
    shortened(change.content ?? "", SHOWN_CHARS),
  ]);
  for (const line of table(["JOB", "MEMORY", "CHANGE", "OWNER", "CONTENT"], rows)) {
    output.line(line);
  }
  output.line();
  // Jobs do not see each other's changes, so that two may list the same memory.
  const { size } = new Set(changes.map(({ targetId }) => targetId));
  const count = more === 0 ? size : changes.length + more;
  const shown = more === 0 ? "" : `, the first ${changes.length} of which are shown`;
  output.line(
    `Nothing was changed. Without --dry-run: ${count} ${count === 1 ? "change" : "changes"}${shown}.`,
  );
}

function becomes({ from, to, operation }: WouldChange): string {
  return from === undefined || to === undefined || from === to ? operation : `${from} -> ${to}`;
}
