import { z } from "zod";
import { LIFECYCLE_STATES } from "../../domain/enums.ts";
import { SvcError } from "../../domain/errors.ts";
import type { JobResult, OrganizeResult, WouldChange } from "../../engine/organize/api.ts";
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
} from "../../lib/form.ts";
import type { Caller } from "./core/caller.ts";
import { anyOwner } from "./core/fields.ts";
import { defineOperation, part, RETIRES } from "./core/operation.ts";
import { type Field, withDefault } from "./core/request.ts";

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
const organizeView = noted(view<OrganizeResult>()(members), {
  id: "OrganizeResult",
  description: "`per_job` has an entry for each job that ran, and `materialization_drain`.",
});

const organizeToolView = view<OrganizeResult>()({
  jobsRun: members.jobsRun,
  skippedBecause: members.skippedBecause,
  durationMs: members.durationMs,
  wouldChange: members.wouldChange,
});

/** The jobs of a request: a list over HTTP, text for a tool; blank text means none. */
const jobs: Field<readonly string[] | undefined> = {
  http: z
    .array(z.string())
    .nullish()
    .meta({
      description:
        "Names of jobs, run in this order; unknown ones are passed over and named. Absent: all but `feedback_apply`.",
      examples: [["promote", "deduplicate"]],
    }),
  tool: z.string().nullish().meta({
    description: "Names of jobs, separated by commas. Absent: all but feedback_apply.",
  }),
  read: (given) => {
    if (typeof given !== "string") {
      // SAFETY: the value has passed the schema of HTTP.
      return (given ?? undefined) as readonly string[] | undefined;
    }
    return given.trim() === "" ? undefined : given.split(",").map((name) => name.trim());
  },
};

/** A caller bound to an owner may not change what all owners share. @throws SvcError forbidden */
function requireAllowed({ boundUserId }: Caller, names: readonly string[] | undefined): void {
  if (boundUserId === undefined || names?.includes("feedback_apply") !== true) return;
  throw new SvcError("forbidden", "jobs: feedback_apply concerns all owners; leave it out");
}

export const organizeOperation = defineOperation({
  name: "organize",
  summary: "Put memories in order",
  description:
    "Promotes what has proved itself, archives what has faded, merges what is there twice, and sums up, job by job until the budget ends. " +
    "Nothing is deleted, and each change leaves a record. Unknown members of the body are ignored.",
  request: {
    user_id: anyOwner,
    jobs,
    budget_ms: withDefault(z.int(), 5000, "Milliseconds for all jobs."),
    dry_run: withDefault(z.boolean(), false, "Changes nothing; lists what would change."),
  },
  run: async ({ engine, caller }, { userId, jobs, budgetMs, dryRun }) => {
    requireAllowed(caller, jobs);
    return engine().organize({ userId, jobs, budgetMs, dryRun });
  },
  answer: organizeView,
  http: {
    route: "post /v1/organize",
    body: { schema: (shape) => z.looseObject(shape).meta({ id: "OrganizeRequest" }) },
  },
  mcp: {
    tool: "memory_organize",
    title: "Put memories in order",
    description:
      "Run upkeep, when the user asks to tidy up: promote, archive what has faded, merge duplicates, sum up.",
    toolSet: "core",
    coreArguments: ["dry_run"],
    annotations: RETIRES,
    output: organizeToolView,
    says: ({ wouldChange }) => wouldChange && "Nothing was changed. Without dry_run:",
  },
});

export const ORGANIZE_OPERATIONS = part("organizing", organizeOperation);
