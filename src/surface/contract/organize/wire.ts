import { LIFECYCLE_STATES } from "../../../domain/enums.ts";
import type { JobResult, OrganizeResult, WouldChange } from "../../../engine/organize/api.ts";
import {
  anyObject,
  dictionary,
  list,
  member,
  named,
  natural,
  nonNegative,
  noted,
  nullable,
  object,
  omitted,
  text,
  view,
} from "../../../lib/form.ts";

const jobResultForm = named<JobResult>("OrganizerJobResult", "What one job did.", {
  job: text,
  nodesProcessed: natural,
  nodesModified: natural,
  errors: noted(natural, { description: "Memories or groups that failed; the others were done." }),
  durationMs: nonNegative,
  details: anyObject,
});

const wouldChangeForm = named("WouldChange", "What a dry run would have changed.", {
  changes: list(
    object<WouldChange>({
      job: text,
      operation: text,
      targetId: text,
      userId: nullable(text),
      content: nullable(text),
      from: nullable(member(LIFECYCLE_STATES)),
      to: nullable(member(LIFECYCLE_STATES)),
    }),
    1000,
  ),
  more: noted(natural, { description: "Changes that are not listed." }),
});

const members = {
  jobsRun: list(text),
  skippedBecause: noted(dictionary(text), {
    description:
      "Jobs that did not run, and why: `unknown`, `no_budget`, an error code, or what they lack.",
  }),
  perJob: dictionary(jobResultForm),
  durationMs: nonNegative,
  wouldChange: omitted(wouldChangeForm),
};

/** The answer over HTTP. */
export const organizeView = noted(view<OrganizeResult>()(members), {
  id: "OrganizeResult",
  description: "`per_job` has an entry for each job that ran, and `materialization_drain`.",
});

/** The answer of the tool. */
export const organizeToolView = view<OrganizeResult>()({
  jobsRun: members.jobsRun,
  skippedBecause: members.skippedBecause,
  durationMs: members.durationMs,
  wouldChange: members.wouldChange,
});

/** Everything, as the command line prints it. */
export const organizeWholeView = view<OrganizeResult>()({
  jobsRun: members.jobsRun,
  jobsSkipped: list(text),
  skippedBecause: members.skippedBecause,
  durationMs: members.durationMs,
  budgetRemainingMs: nonNegative,
  perJob: members.perJob,
  wouldChange: members.wouldChange,
});
