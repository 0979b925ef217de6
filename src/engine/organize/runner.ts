import { reasonCode } from "../../domain/errors.ts";
import { isTakenOver } from "../../domain/jobs.ts";
import { ALL_OWNERS, type Owner } from "../../domain/owner.ts";
import { toEpochMillis } from "../../lib/instant.ts";
import type { WorkClaim, WorkQueue } from "../../ports/store/work.ts";
import type { Clock } from "../../ports/system.ts";
import { whileHeld } from "../concurrency.ts";

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

export type RunnerDeps = {
  readonly store: WorkQueue;
  readonly clock: Clock;
  /** Runs background work and reports its failure. */
  readonly background: (
    failure: string,
    work: (signal: AbortSignal) => Promise<void>,
  ) => Promise<void>;
};

/** Runs jobs in the background, each once at a time. Never throws, never delays a call. */
export type Runner = {
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
