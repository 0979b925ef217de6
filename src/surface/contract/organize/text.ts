import type { OrganizeResult } from "../../../engine/organize/api.ts";
import { counted, EXCERPT_CHARS, listed, oneLine } from "../core/tool-text.ts";

export function tellOrganized(result: OrganizeResult): string {
  const { jobsRun, jobsSkipped, perJob, wouldChange } = result;
  const changed = Object.values(perJob).filter(({ nodesModified }) => nodesModified > 0);
  const skipped = jobsSkipped.length === 0 ? "" : ` Skipped: ${jobsSkipped.join(", ")}.`;
  const run = `${counted(jobsRun.length, "job", "jobs")} run.${skipped}`;
  return wouldChange === undefined
    ? [run, ...listed(changed, ({ job, nodesModified }) => `${job}: ${nodesModified}`)].join("\n")
    : [`Nothing was changed. ${run}`, ...wouldBe(wouldChange)].join("\n");
}

function wouldBe({ changes, more }: NonNullable<OrganizeResult["wouldChange"]>): readonly string[] {
  return [
    `${counted(changes.length + more, "change", "changes")} without dry_run:`,
    ...listed(changes, ({ job, operation, targetId, from, to, content }) => {
      const step =
        from === undefined || to === undefined || from === to ? operation : `${from} to ${to}`;
      const text = content === undefined ? "" : ` ${oneLine(content, EXCERPT_CHARS)}`;
      return `${job}: ${step} ${targetId}${text}`;
    }),
  ];
}
