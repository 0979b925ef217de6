import { reasonCode } from "../../domain/errors.ts";
import { isTakenOver } from "../../domain/jobs.ts";
import { ALL_OWNERS, type Owner } from "../../domain/owner.ts";
import { longFrom } from "../../domain/search/turns.ts";
import { addDays, toEpochMillis } from "../../lib/instant.ts";
import type { Erasures } from "../../ports/store/events.ts";
import type { Aging, WorkClaim, WorkQueue } from "../../ports/store/work.ts";
import type { Clock } from "../../ports/system.ts";
import { whileHeld } from "../concurrency.ts";
import { type EngineDeps, unhurried } from "../deps.ts";
import { PARTS_FAILURE, type PartsDeps, putParts } from "../embed-parts.ts";
import { expireMemories } from "../lifecycle/expire.ts";
import type { UpkeepSettings } from "../settings.ts";
import { drain, type ProcessingDeps } from "../write/materialize.ts";
import { agingFaded, decaySweep, promote } from "./organizer/aging.ts";
import { runOf, trusting, trustsClock } from "./organizer/job.ts";

/** Background jobs. A rebuild uses the same queue, but only a call starts it. */
export function jobsOf(given: EngineDeps): readonly Job[] {
  if (given.isReadOnly === true) return [];
  const deps = unhurried(given);
  const { upkeep, receiptRetentionDays: days } = deps.settings;
  return [
    materialize(deps),
    embedOlderParts(deps),
    settleErasures(deps),
    ...(upkeep === undefined ? [] : [expire(deps, upkeep), opportunistic(deps, upkeep)]),
    ...(days === undefined ? [] : [pruneReceipts(deps, days)]),
  ];
}

/** Milliseconds of one step: the model idles between two. */
const STEP_MS = 5_000;

/** Indexes work left pending by earlier processes or admissions. */
export function materialize(deps: ProcessingDeps): Job {
  return {
    kind: "materialization",
    after: ["opening", "admission"],
    failure: "repair of pending work did not finish",
    work: async ({ signal, pause }) => {
      for (let left = Number.POSITIVE_INFINITY; ; ) {
        const options = { owner: ALL_OWNERS, budgetMs: STEP_MS, signal };
        const { pending, failed } = await drain(deps, options);
        const open = pending - failed;
        if (open <= 0 || open >= left || !(await pause())) return undefined;
        left = open;
      }
    },
  };
}

/** Texts per step; some have many parts. */
const TEXTS_A_STEP = 4;

/** Embeds the parts of texts stored by an earlier version or imported. */
function embedOlderParts(deps: PartsDeps): Job {
  const { maxTokens } = deps.embedder;
  const next = async (limit: number) =>
    maxTokens === undefined ? [] : await deps.store.textsWithoutParts(longFrom(maxTokens), limit);
  return {
    kind: "embed-parts",
    after: ["opening"],
    whole: {
      isByOwner: false,
      cooldownSeconds: 0,
      isNeeded: async () => (await next(1)).length > 0,
    },
    failure: PARTS_FAILURE,
    work: async ({ pause }) => {
      try {
        for (;;) {
          const nodes = await next(TEXTS_A_STEP);
          if (nodes.length === 0) return undefined;
          await putParts(deps, nodes);
          if (!(await pause())) return undefined;
        }
      } catch (error) {
        deps.warn(`${PARTS_FAILURE} (${reasonCode(error)})`);
        return reasonCode(error);
      }
    },
  };
}

/** Milliseconds that one attempt waits for other processes. */
const WAIT_MS = 60_000;

/** Erases forgotten bytes if the call could not, because another process was reading or the program ended. */
function settleErasures({ store }: Pick<EngineDeps<Erasures>, "store">): Job {
  return {
    kind: "settle-erasures",
    after: ["opening"],
    whole: {
      isByOwner: false,
      cooldownSeconds: 0,
      isNeeded: () => store.hasUnsettledErasures(),
    },
    failure: "what was forgotten is not removed from the files yet",
    work: async () => ((await store.settleErasures(WAIT_MS)) ? undefined : "storage_busy"),
  };
}

/** Archives memories whose retention has ended until none is left: they would crowd out others in searches. */
function expire(
  deps: Pick<EngineDeps, "store" | "clock" | "ids" | "settings" | "warn">,
  { cooldownSeconds, budgetMs, batchSize: limit }: UpkeepSettings,
): Job {
  return {
    kind: "expire",
    after: ["opening", "call", "ingest", "retrieval"],
    whole: {
      isByOwner: true,
      cooldownSeconds,
      isNeeded: async (owner) =>
        (await deps.store.expired({ owner, limit: 1, now: deps.clock.now() })).length > 0,
    },
    failure: "expired memories were not archived",
    work: async ({ owner, claim, signal, pause }) => {
      const isOriginal = deps.settings.organizer.fading === "original";
      if (!isOriginal && !(await trustsClock(deps, deps.clock.now()))) return undefined;
      for (;;) {
        const options = { owner, limit, budgetMs, signal, claim };
        const { archived, failed } = await expireMemories(deps, options);
        if (archived === 0 || !(await pause())) return failed > 0 ? "not_archived" : undefined;
      }
    },
  };
}

/** Milliseconds at most for pending work. */
const DRAIN_MS = 100;
/** Memories per transaction, and examined between two pauses. */
const BATCH = 4;
const PAGE = 250;

/** Maintenance after an owner's call: pending work, promotion, fading. */
function opportunistic(
  deps: EngineDeps,
  { cooldownSeconds, budgetMs, batchSize: most }: UpkeepSettings,
): Job {
  const jobs = [promote(deps), decaySweep(deps)].map((job) => trusting(deps, job));
  return {
    kind: "opportunistic",
    after: ["ingest", "retrieval"],
    whole: { isByOwner: true, cooldownSeconds, isNeeded: (owner) => isAnythingDue(deps, owner) },
    failure: "upkeep beside calls did not finish",
    work: async ({ owner, claim, signal }) => {
      const endsAt = performance.now() + budgetMs;
      await drain(deps, { owner, budgetMs: Math.min(DRAIN_MS, budgetMs), isDueOnly: true, signal });
      let failed = 0;
      for (const job of jobs) {
        const options = { owner, endsAt, batchSize: BATCH, pageSize: PAGE, most, signal, claim };
        const run = runOf(deps, job.name, options);
        if (!(await run.pause())) break;
        const done = await job.work(run);
        if (!("skipped" in done)) failed += done.errors;
      }
      return failed > 0 ? "not_changed" : undefined;
    },
  };
}

/** Avoids a claim, which is a write, if nothing is due. */
async function isAnythingDue({ store, clock, settings }: EngineDeps, owner: Owner) {
  const now = clock.now();
  const { promotionAgeDays, promotionEvidenceCount: evidence } = settings.organizer;
  const createdBefore = addDays(now, -promotionAgeDays);
  const { pending, failed } = await store.countJobs(owner);
  if (pending > failed) return true;
  const wanted: Aging[] = [agingFaded(settings.organizer, now)];
  if (createdBefore !== undefined) wanted.unshift({ kind: "tentative", createdBefore, evidence });
  for (const at of wanted) {
    for (let after: string | undefined; ; ) {
      const page = await store.walkAging({ owner, at, after, limit: PAGE });
      if (page.nodes.length > 0) return true;
      after = page.next;
      if (after === undefined) break;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return false;
}

const COOLDOWN_SECONDS = 3600;
/** Receipts removed per step. */
const LIMIT = 250;

/** Removes receipts older than `days`. */
function pruneReceipts({ store, clock }: Pick<EngineDeps, "store" | "clock">, days: number): Job {
  return {
    kind: "prune-receipts",
    after: ["retrieval"],
    whole: { isByOwner: false, cooldownSeconds: COOLDOWN_SECONDS },
    failure: "old receipts were not removed",
    work: async ({ pause }) => {
      const now = clock.now();
      const before = addDays(now, -days);
      if (before === undefined || !(await trustsClock({ store }, now))) return undefined;
      while ((await store.pruneReceipts(before, LIMIT)) >= LIMIT && (await pause()));
      return undefined;
    },
  };
}

/** What triggers a job. */
export type Occasion = "opening" | "call" | "ingest" | "retrieval" | "admission";

/** A background job. */
export type Job = {
  /** Its kind in the queue. */
  readonly kind: string;
  readonly after: readonly Occasion[];
  /** Work that one process does at a time, for one owner or all, after its cooldown. Absent: the queue holds single jobs. */
  readonly whole?: {
    readonly isByOwner: boolean;
    readonly cooldownSeconds: number;
    /** Avoids the claim if false. Absent: true. */
    readonly isNeeded?: (owner: Owner) => Promise<boolean>;
  };
  /** Reported when it throws. */
  readonly failure: string;
  /** @returns the code of what failed */
  readonly work: (run: Run) => Promise<string | undefined>;
};

export type Run = {
  readonly owner: Owner;
  readonly claim: WorkClaim | undefined;
  readonly signal: AbortSignal;
  /** Yields to calls. @returns false to stop */
  readonly pause: () => Promise<boolean>;
};

type RunnerDeps = {
  readonly store: WorkQueue;
  readonly clock: Clock;
  /** Runs background work and reports its failure. */
  readonly background: (
    failure: string,
    work: (signal: AbortSignal) => Promise<void>,
  ) => Promise<void>;
};

/** Runs jobs in the background, each once at a time. Never throws, never delays a call. */
type Runner = {
  after(occasion: Occasion, owner?: Owner): void;
  /** Stops running jobs, releases their work, and starts no more until the next opening. */
  stop(): Promise<void>;
};

/** Cooldowns kept; the oldest go first. */
const REMEMBERED = 4096;

export function createRunner(
  { store, clock, background }: RunnerDeps,
  jobs: readonly Job[],
): Runner {
  const running = new Map<Job, Promise<void>>();
  const rests = createRests(clock);
  let stopping = new AbortController();

  const start = (job: Job, owner: Owner, isDueOnly: boolean): void => {
    const stop = stopping.signal;
    const end = background(job.failure, async (closing) => {
      const signal = AbortSignal.any([closing, stop]);
      try {
        await doJob(job, { owner, isDueOnly, signal });
      } finally {
        running.delete(job);
      }
    });
    running.set(job, end);
  };
  const doJob = async (job: Job, { owner, isDueOnly, signal }: Start): Promise<void> => {
    const { whole } = job;
    const free = {
      owner,
      claim: undefined,
      signal,
      pause: () => nextTurn(signal),
    };
    if (whole === undefined) return void (await job.work(free));
    if (!(await free.pause())) return;
    const isNeeded = (await whole.isNeeded?.(owner).catch(() => true)) ?? true;
    if (!isNeeded) return rests.begin(job, owner, whole.cooldownSeconds);
    const claim = await store.takeWork({ kind: job.kind, owner }, isDueOnly);
    if (typeof claim !== "object") {
      return rests.begin(job, owner, claim === undefined ? 0 : secondsTo(clock, claim));
    }
    await doClaimed(store, job, { ...free, claim });
    if (!signal.aborted) rests.begin(job, owner, whole.cooldownSeconds);
  };
  return {
    after: (occasion, caller = ALL_OWNERS) => {
      if (occasion === "opening") stopping = new AbortController();
      for (const job of jobs) {
        if (!job.after.includes(occasion) || running.has(job)) continue;
        const owner = job.whole?.isByOwner === true ? caller : ALL_OWNERS;
        const isDueOnly = occasion !== "opening";
        if (!isDueOnly || !rests.has(job, owner)) start(job, owner, isDueOnly);
      }
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(running.values());
    },
  };
}

type Start = Pick<Run, "owner" | "signal"> & { readonly isDueOnly: boolean };

/** Runs claimed work, renews its lease, and records the outcome. */
async function doClaimed(
  store: WorkQueue,
  { work, whole }: Job,
  run: Run & { readonly claim: WorkClaim },
): Promise<void> {
  const { claim } = run;
  const lost = new AbortController();
  const signal = AbortSignal.any([run.signal, lost.signal]);
  const renew = async () => {
    if (!(await store.renewWork(claim))) lost.abort();
  };
  const finish = (failure: string | undefined) =>
    store.finishWork(
      claim,
      run.signal.aborted ? "stopped" : { failure, cooldownSeconds: whole?.cooldownSeconds ?? 0 },
    );
  try {
    await finish(
      await whileHeld(renew, () => work({ ...run, signal, pause: () => nextTurn(signal) })),
    );
  } catch (error) {
    if (isTakenOver(error)) return;
    await finish(reasonCode(error));
    throw error;
  }
}

/** Cooldowns known to this process; cleared if the clock is set back. */
function createRests(clock: Clock) {
  const rests = new Map<string, { readonly from: number; readonly to: number }>();
  const keyOf = ({ kind }: Job, owner: Owner) => JSON.stringify([kind, owner]);
  return {
    begin: (job: Job, owner: Owner, seconds: number): void => {
      const key = keyOf(job, owner);
      const from = toEpochMillis(clock.now());
      rests.delete(key);
      rests.set(key, { from, to: from + seconds * 1000 });
      const [oldest] = rests.keys();
      if (rests.size > REMEMBERED && oldest !== undefined) rests.delete(oldest);
    },
    has: (job: Job, owner: Owner): boolean => {
      const rest = rests.get(keyOf(job, owner));
      const now = toEpochMillis(clock.now());
      return rest !== undefined && now >= rest.from && now < rest.to;
    },
  };
}

function secondsTo(clock: Clock, instant: Parameters<typeof toEpochMillis>[0]): number {
  return Math.max(0, (toEpochMillis(instant) - toEpochMillis(clock.now())) / 1000);
}

async function nextTurn(signal: AbortSignal): Promise<boolean> {
  await new Promise((resolve) => setTimeout(resolve, 0));
  return !signal.aborted;
}
