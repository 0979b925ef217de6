import type { MemoryNode } from "../../../domain/node.ts";
import { isEverybody, type Owner } from "../../../domain/owner.ts";
import { addDays, type Instant } from "../../../lib/instant.ts";
import type { JsonObject } from "../../../lib/json.ts";
import { asUuid } from "../../../lib/uuid.ts";
import type { Change, ChangeSnapshot, Graph } from "../../../ports/store/graph.ts";
import type { Store } from "../../../ports/store/store.ts";
import type { WorkClaim } from "../../../ports/store/work.ts";
import type { EngineDeps } from "../../deps.ts";
import type { WouldChange } from "../api.ts";

export type OrganizerJob = {
  readonly name: string;
  /** Changes state shared by all owners: runs only if named, and never for one owner. */
  readonly isGlobal?: true;
  /** May stop between transactions; the next run continues. If it throws, the job counts as skipped. */
  readonly work: (run: JobRun) => Promise<JobCounts | Skipped>;
};

/** Failures of one memory or group count as errors. */
export type JobCounts = {
  readonly nodesProcessed: number;
  readonly nodesModified: number;
  readonly errors: number;
  /** Named as in the interface. */
  readonly details?: JsonObject;
  /** Whether a walk saw all memories. Not part of the answer. */
  readonly isWhole?: boolean;
};

/** Why a job cannot run, for example without a language model. */
export type Skipped = { readonly skipped: string };

export type JobRun = {
  /** A job never merges memories of two owners. */
  readonly owner: Owner;
  /** Dry run: nothing may be written. `change` enforces this. */
  readonly isDryRun: boolean;
  /** When the run began. */
  readonly now: Instant;
  /** The job that ran right before, and what it did. */
  readonly before: { readonly job: string; readonly counts: JobCounts } | undefined;
  /** Memories per transaction. */
  readonly batchSize: number;
  /** Memories examined between two yields. */
  readonly pageSize: number;
  /** Approximate maximum of memories changed. */
  readonly most: number;
  /** What is left of the budget. */
  readonly leftMs: () => number;
  /** Whether the budget is spent or the engine is closing. */
  readonly isOver: () => boolean;
  /** Yields to calls, after each transaction or page. @returns false to stop */
  readonly pause: () => Promise<boolean>;
  /** As `Graph.change`; a dry run lists the change and writes nothing. */
  readonly change: Graph["change"];
  /** Records a change of a dry run. */
  readonly show: (change: Change, snapshot: Pick<ChangeSnapshot, "nodes">) => void;
};

const PAGE = 1000;

export type RunOptions = {
  readonly owner: Owner;
  /** On the clock of `performance.now()`. */
  readonly endsAt: number;
  readonly batchSize: number;
  /** Default: about a millisecond of work. */
  readonly pageSize?: number;
  /** Default: unlimited. */
  readonly most?: number;
  readonly signal?: AbortSignal | undefined;
  readonly claim?: WorkClaim | undefined;
  readonly before?: JobRun["before"];
  /** Collects the changes of a dry run. Absent: changes are made. */
  readonly shown?: ShownChanges | undefined;
};

export function runOf(
  { store, clock }: Pick<EngineDeps<Graph>, "store" | "clock">,
  job: string,
  options: RunOptions,
): JobRun {
  const { owner, endsAt, batchSize, signal, claim, shown } = options;
  const leftMs = () => Math.max(0, endsAt - performance.now());
  const isOver = () => leftMs() === 0 || signal?.aborted === true;
  const show: JobRun["show"] = (change, snapshot) => shown?.add(job, change, snapshot);
  return {
    owner,
    isDryRun: shown !== undefined,
    now: clock.now(),
    before: options.before,
    batchSize,
    pageSize: options.pageSize ?? PAGE,
    most: options.most ?? Number.POSITIVE_INFINITY,
    leftMs,
    isOver,
    pause: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return !isOver();
    },
    change: (reads, decide) =>
      store.change({ claim, ...reads }, (snapshot) => {
        const decision = decide(snapshot);
        if (shown === undefined) return decision;
        if (decision.change !== undefined) show(decision.change, snapshot);
        return { change: undefined, result: decision.result };
      }),
    show,
  };
}

/** Changes listed by a dry run; the others are counted. */
const SHOWN_MAX = 1000;

/** What a dry run would have changed, a line per operation. */
export class ShownChanges {
  readonly changes: WouldChange[] = [];
  more = 0;

  add(job: string, change: Change, snapshot: Pick<ChangeSnapshot, "nodes">): void {
    const written = [...change.nodes, ...(change.added ?? []).map(({ node }) => node)];
    const changed = new Map<string, MemoryNode>(written.map((node) => [node.id, node]));
    for (const { opType, targetId } of change.auditRecords) {
      if (this.changes.length >= SHOWN_MAX) {
        this.more += 1;
        continue;
      }
      const after = changed.get(targetId);
      const before = snapshot.nodes.get(asUuid(targetId));
      const subject = after ?? before;
      this.changes.push({
        job,
        operation: opType,
        targetId,
        userId: subject?.userId,
        content: subject?.content,
        from: after && before?.lifecycleState,
        to: after?.lifecycleState,
      });
    }
  }
}

export async function ownersOf(
  store: Pick<Store, "owners">,
  owner: Owner,
): Promise<readonly string[]> {
  if (!isEverybody(owner)) return [owner];
  return (await store.owners.list()).map(({ userId }) => userId);
}

/** The owners of a run, kept until it ends. */
export async function* eachOwner(
  store: Pick<Store, "owners">,
  { owner, isOver }: Pick<JobRun, "owner" | "isOver">,
): AsyncGenerator<string> {
  for (const userId of await ownersOf(store, owner)) {
    if (isOver()) return;
    yield userId;
  }
}

/** The walk of a job over the memories of one owner. */
export class OwnerWalk<Deps, Counts> {
  protected readonly deps: Deps;
  protected readonly run: JobRun;
  protected readonly userId: string;
  protected readonly counts: Counts;

  constructor(deps: Deps, run: JobRun, userId: string, counts: Counts) {
    this.deps = deps;
    this.run = run;
    this.userId = userId;
    this.counts = counts;
  }
}

/** Key of the newest memory that a job examined, as saved; 0: none. */
export function seenIn(place: JsonObject | undefined): number {
  const seen = place?.["seen"];
  return typeof seen === "number" ? seen : 0;
}

/** Days for which a doubted clock reading counts. */
const REMEMBERED_DAYS = 35;

type TrustDeps = Pick<EngineDeps, "store" | "settings">;

/**
 * Whether age-dependent work may trust a clock reading. It may if the pack is younger than a day, if something in it is dated between two
 * days and one day earlier, or if another pass had a similar reading at least a day before: a clock set wrong has none of these. Doubted
 * readings are stored for that comparison.
 * @param mayWrite default true
 */
export async function trustsClock(
  { store }: Pick<TrustDeps, "store">,
  now: Instant,
  mayWrite = true,
): Promise<boolean> {
  const [dayBefore, twoDaysBefore, longBefore] = [1, 2, REMEMBERED_DAYS].map((days) =>
    addDays(now, -days),
  );
  if (dayBefore === undefined || twoDaysBefore === undefined || longBefore === undefined) {
    return false;
  }
  const note = async (at: Instant | undefined) => mayWrite && (await store.doubtClock(at));
  const [{ createdAt }, doubted] = [await store.manifest(), await store.doubtedClock()];
  const isYoung = createdAt > dayBefore && createdAt <= now;
  if (isYoung || (await store.isDated(twoDaysBefore, dayBefore))) {
    if (doubted !== undefined) await note(undefined);
    return true;
  }
  const isLike = doubted !== undefined && doubted <= now && doubted >= longBefore;
  if (!isLike) await note(now);
  return isLike && doubted <= dayBefore;
}

/** A job that waits while the clock is in doubt, except in the specification's profile. */
export function trusting(deps: TrustDeps, job: OrganizerJob): OrganizerJob {
  if (deps.settings.organizer.fading === "original") return job;
  return {
    ...job,
    work: async (run) =>
      (await trustsClock(deps, run.now, !run.isDryRun)) ? job.work(run) : DOUBTED,
  };
}

const DOUBTED = { skipped: "clock_in_doubt" };
