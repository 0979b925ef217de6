import type { OrganizeResult } from "../../../engine/organize/api.ts";
import { counted, listed } from "../core/tool-text.ts";

export function tellOrganized({ jobsRun, jobsSkipped, perJob }: OrganizeResult): string {
  const changed = Object.values(perJob).filter(({ nodesModified }) => nodesModified > 0);
  const skipped = jobsSkipped.length === 0 ? "" : ` Skipped: ${jobsSkipped.join(", ")}.`;
  return [
    `${counted(jobsRun.length, "job", "jobs")} run.${skipped}`,
    ...listed(changed, ({ job, nodesModified }) => `${job}: ${nodesModified}`),
  ].join("\n");
}
