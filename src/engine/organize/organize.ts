import {
  parseOptionalBoolean,
  parseOptionalList,
  parseOwner,
  parseSessionId,
  parseText,
  parseUserId,
} from "../../domain/arguments.ts";
import { invalid, reasonCode } from "../../domain/errors.ts";
import { isEverybody, type Owner } from "../../domain/owner.ts";
import type { EngineDeps } from "../deps.ts";
import { isOutOfReach } from "../lifecycle/expire.ts";
import { drain } from "../write/materialize.ts";
import {
  type JobResult,
  MATERIALIZATION_DRAIN,
  type OrganizeInput,
  type OrganizeResult,
} from "./api.ts";
import {
  type JobCounts,
  type OrganizerJob,
  type RunOptions,
  runOf,
  ShownChanges,
} from "./organizer/job.ts";

const END_BUDGET_MS = 1000;
/** Memories per transaction: few enough that calls wait only briefly. */
const BATCH = 256;

type Request = {
  readonly owner: Owner;
  /** Runs jobs in order, each with the remaining budget. */
  readonly names: readonly string[];
  readonly budgetMs: number | undefined;
  readonly isDryRun: boolean;
};

/** Runs jobs one after the other, each with what is left of the budget. @param jobs all known ones */
export async function organize(
  deps: EngineDeps,
  jobs: readonly OrganizerJob[],
  input: OrganizeInput,
  signal: AbortSignal,
): Promise<OrganizeResult> {
  const { owner, names, isDryRun, ...request } = parse(jobs, input);
  const { budgetMs = deps.settings.organizer.defaultOrganizeBudgetMs } = request;
  const began = performance.now();
  const shown = isDryRun ? new ShownChanges() : undefined;
  const perJob: Record<string, JobResult> = {};
  const drained = await drainFirst(deps, owner, isDryRun);
  if (drained !== undefined) perJob[MATERIALIZATION_DRAIN] = drained;
  const endsAt = performance.now() + budgetMs;
  const jobsRun: string[] = [];
  const jobsSkipped: string[] = [];
  const skippedBecause = new Map<string, string>();
  let before: RunOptions["before"];
  for (const name of names) {
    const job = jobs.find((known) => known.name === name);
    const options = { owner, endsAt, batchSize: BATCH, signal, before, shown };
    const outcome = job === undefined ? "unknown" : await runJob(deps, job, options);
    if (typeof outcome === "string") {
      before = undefined;
      jobsSkipped.push(name);
      skippedBecause.set(name, outcome);
    } else {
      before = { job: name, counts: outcome.counts };
      jobsRun.push(name);
      perJob[name] = outcome.result;
    }
  }
  return {
    jobsRun,
    jobsSkipped,
    skippedBecause: Object.fromEntries(skippedBecause),
    durationMs: hundredths(performance.now() - began),
    budgetRemainingMs: hundredths(Math.max(0, endsAt - performance.now())),
    perJob,
    wouldChange: shown && { changes: shown.changes, more: shown.more },
  };
}

/** Promotes at the end of a conversation. */
export async function endSession(
  deps: EngineDeps,
  jobs: readonly OrganizerJob[],
  input: { readonly userId: string; readonly sessionId: string | null | undefined },
  signal: AbortSignal,
): Promise<OrganizeResult> {
  const userId = parseUserId(input.userId);
  parseSessionId(input.sessionId);
  return organize(deps, jobs, { userId, jobs: ["promote"], budgetMs: END_BUDGET_MS }, signal);
}

/** @returns why it did not run, if it did not */
async function runJob(
  deps: EngineDeps,
  job: OrganizerJob,
  options: RunOptions,
): Promise<{ readonly result: JobResult; readonly counts: JobCounts } | string> {
  const run = runOf(deps, job.name, options);
  if (!(await run.pause())) return "no_budget";
  const began = performance.now();
  try {
    const done = await job.work(run);
    if ("skipped" in done) return done.skipped;
    const { nodesProcessed, nodesModified, errors, details = {} } = done;
    const durationMs = hundredths(performance.now() - began);
    const counts = { nodesProcessed, nodesModified, errors, details };
    return { result: { job: job.name, ...counts, durationMs }, counts: done };
  } catch (error) {
    if (isOutOfReach(error)) throw error;
    const reason = reasonCode(error);
    // The message could contain memory text: only the code is reported.
    deps.warn(`organize: ${job.name} failed (${reason})`);
    return reason;
  }
}

/** Finishes pending stores, so that jobs see them. Undefined: there were none. */
async function drainFirst(
  deps: EngineDeps,
  owner: Owner,
  isDryRun: boolean,
): Promise<JobResult | undefined> {
  const began = performance.now();
  const before = await deps.store.countJobs(owner);
  if (before.pending === 0) return undefined;
  const budgetMs = isDryRun ? 0 : deps.settings.materializationBudgetMs;
  const { processed, pending } = await drain(deps, { owner, budgetMs });
  return {
    job: MATERIALIZATION_DRAIN,
    nodesProcessed: processed,
    nodesModified: processed,
    errors: 0,
    durationMs: hundredths(performance.now() - began),
    details: { materialized: processed, debt_remaining: pending },
  };
}

function parse(jobs: readonly OrganizerJob[], input: OrganizeInput): Request {
  const owner = parseOwner(input.userId);
  const names = parseOptionalList(input.jobs, "jobs")?.map((name) => parseText(name, "jobs"));
  const budgetMs = input.budgetMs ?? undefined;
  if (budgetMs !== undefined && (typeof budgetMs !== "number" || Number.isNaN(budgetMs))) {
    throw invalid("budget_ms", "must be a number of milliseconds");
  }
  const isGlobal = ({ name, isGlobal }: OrganizerJob) =>
    isGlobal === true && names?.includes(name) === true;
  const refused = isEverybody(owner) ? undefined : jobs.find(isGlobal);
  if (refused !== undefined) {
    throw invalid("jobs", `${refused.name} concerns all owners; leave user_id out, or this job`);
  }
  return {
    owner,
    names: names ?? jobs.flatMap(({ name, isGlobal }) => (isGlobal === true ? [] : [name])),
    budgetMs,
    isDryRun: parseOptionalBoolean(input.dryRun, "dry_run") ?? false,
  };
}

/** Rounded to two decimals. */
function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}
