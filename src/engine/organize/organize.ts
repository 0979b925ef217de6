import {
  parseOptionalBoolean,
  parseOptionalInteger,
  parseOptionalList,
  parseOwner,
  parseSessionId,
  parseText,
  parseUserId,
} from "../../domain/arguments.ts";
import { invalid, reasonCode } from "../../domain/errors.ts";
import { ALL_OWNERS, isEverybody, type Owner } from "../../domain/owner.ts";
import { sha256Hex } from "../../lib/hashing.ts";
import { untilAborted } from "../../lib/pause.ts";
import type {
  KeyedNode,
  NodeVector,
  RebuildPlan,
  SearchIndex,
} from "../../ports/store/search-index.ts";
import type { Store } from "../../ports/store/store.ts";
import type { WorkQueue } from "../../ports/store/work.ts";
import { type EngineDeps, unhurried } from "../deps.ts";
import { isOutOfReach } from "../lifecycle/expire.ts";
import { drain, vectorOf } from "../write/materialize.ts";
import {
  type JobResult,
  MATERIALIZATION_DRAIN,
  type OrganizeInput,
  type OrganizeResult,
  type RebuildInput,
  type RebuildResult,
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

const DEFAULT_BATCH_SIZE = 256;
/** Texts embedded between two checks of the signal. */
const EMBEDDED_AT_ONCE = 32;

type Roles = Pick<Store, "rebuild"> & WorkQueue & SearchIndex;

type Run = {
  readonly batchSize: number;
  /** Nodes with entries. */
  readonly total: number;
  readonly signal: AbortSignal | undefined;
  readonly report: NonNullable<RebuildInput["onProgress"]>;
};

/**
 * Rebuilds vectors and word entries from the graph where needed; if aborted, the next call continues.
 * @throws SvcError storage_busy; embedding_failed
 */
export async function rebuildIndexes(
  given: EngineDeps<Roles>,
  input: RebuildInput,
): Promise<RebuildResult> {
  const batchSize = parseOptionalInteger(input.batchSize, "batch_size", 1) ?? DEFAULT_BATCH_SIZE;
  if (input.all !== undefined && typeof input.all !== "boolean") {
    throw invalid("all", "must be true or false");
  }
  const { signal, onProgress = () => {} } = input;
  signal?.throwIfAborted();
  const deps = unhurried(given);
  const { rebuild } = deps.store;
  const plan = await rebuild.begin(input.all ?? false);
  let outcome: "finished" | "unfinished" = "unfinished";
  let embedded: number;
  try {
    const { total, blank } = await rebuild.count();
    const run: Run = { batchSize, total: total - blank, signal, report: onProgress };
    embedded = await renewVectors(deps, plan, run);
    await rewriteTexts(deps, run);
    outcome = "finished";
  } finally {
    await rebuild.end(outcome);
  }
  // Texts that the previous model could not embed may succeed now.
  await drain(deps, { owner: ALL_OWNERS, budgetMs: Number.POSITIVE_INFINITY, signal });
  const { total, blank } = await rebuild.count();
  return {
    nodesIndexed: total - blank,
    nodesSkipped: blank,
    totalActive: total,
    nodesEmbedded: embedded,
  };
}

async function renewVectors(deps: EngineDeps<Roles>, plan: RebuildPlan, run: Run): Promise<number> {
  const { rebuild } = deps.store;
  let embedded = 0;
  do {
    // The next pass finds nodes that arrived meanwhile.
    for (let after = 0, done = 0, hasMore = true; hasMore; ) {
      run.signal?.throwIfAborted();
      const stale = await rebuild.stale(plan, after, run.batchSize);
      let ahead = embedSome(deps, stale.nodes, 0);
      for (let from = 0; from < stale.nodes.length; from += EMBEDDED_AT_ONCE) {
        run.signal?.throwIfAborted();
        const vectors = ahead;
        // The model works while these are written.
        ahead = embedSome(deps, stale.nodes, from + EMBEDDED_AT_ONCE);
        // A hanging model must not prevent stopping.
        await rebuild.put(plan, await untilAborted(vectors, run.signal));
      }
      embedded += stale.nodes.length;
      done += stale.scanned;
      ({ scannedTo: after, hasMore } = stale);
      run.report({ phase: "vectors", done, total: Math.max(run.total, done) });
    }
  } while (!(await rebuild.swap(plan)));
  return embedded;
}

function embedSome(deps: EngineDeps<Roles>, nodes: readonly KeyedNode[], from: number) {
  const some = nodes.slice(from, from + EMBEDDED_AT_ONCE).map((node) => embed(deps, node));
  const vectors = Promise.all(some);
  // Reported when its turn comes.
  vectors.catch(() => {});
  return vectors;
}

async function embed(deps: EngineDeps<Roles>, { key, node }: KeyedNode): Promise<NodeVector> {
  return { key, vector: await vectorOf(deps, node), contentHash: sha256Hex(node.content) };
}

async function rewriteTexts(deps: EngineDeps<Roles>, run: Run): Promise<void> {
  for (let done = 0, hasMore = true; hasMore; ) {
    run.signal?.throwIfAborted();
    const step = await deps.store.rebuild.rewriteTexts(run.batchSize, run.signal);
    done += step.written;
    hasMore = step.hasMore;
    run.report({ phase: "texts", done, total: Math.max(run.total, done) });
  }
}
