import type { EngineDeps } from "../../deps.ts";
import { trusting } from "../trust-clock.ts";
import { aliasResolve } from "./alias-resolve.ts";
import { consolidate } from "./consolidate.ts";
import { deduplicate } from "./deduplicate.ts";
import { archive, decaySweep } from "./fade.ts";
import { indexCompaction } from "./index-compaction.ts";
import type { OrganizerJob } from "./job.ts";
import { promote } from "./promote.ts";
import { snapshotGeneration } from "./snapshot-generation.ts";
import { summarize } from "./summarize.ts";
import { tombstoneSweep } from "./tombstone-sweep.ts";

/** What `organize` can do, in the order in which it does it unless jobs are named. @param feedbackApply the job of what was heard */
export function organizerJobs(
  deps: EngineDeps,
  feedbackApply: OrganizerJob,
): readonly OrganizerJob[] {
  return [
    trusting(deps, promote(deps)),
    trusting(deps, decaySweep(deps)),
    trusting(deps, archive(deps)),
    deduplicate(deps),
    aliasResolve(deps),
    summarize(deps),
    feedbackApply,
    trusting(deps, tombstoneSweep(deps)),
    snapshotGeneration(deps),
    consolidate(deps),
    indexCompaction(deps),
  ];
}
