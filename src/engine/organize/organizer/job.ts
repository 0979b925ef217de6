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

/** One kind of work of `organize`. */
export type OrganizerJob = {
  /** How callers name it. */
  readonly name: string;
  /** Changes what all owners share: it runs only when it is named, and never for one owner. Absent: no. */
  readonly isGlobal?: true;
  /**
   * Does the work. Whatever it does may be stopped between two transactions and is found done by the next run.
   * @throws what makes all of it impossible; the job counts as skipped then
   */
  readonly work: (run: JobRun) => Promise<JobCounts | Skipped>;
};

/** What a job did. A failure that concerns one memory or one group is an error here, and no exception. */
export type JobCounts = {
  readonly nodesProcessed: number;
  readonly nodesModified: number;
  readonly errors: number;
  /** Its names are those of the interface. */
  readonly details?: JsonObject;
  /** Of a walk over memories: whether it looked at all of them. Not part of the answer. */
  readonly isWhole?: boolean;
};

/** A job that cannot do anything here, for example without a language model. */
export type Skipped = { readonly skipped: string };

/** One time that a job runs. */
export type JobRun = {
  /** Whose memories; a job never brings those of two owners together. */
  readonly owner: Owner;
  /** Whether nothing may be written. `change` obeys by itself; what a job writes otherwise it shows with `show`. */
  readonly isDryRun: boolean;
  /** When the job began. */
  readonly now: Instant;
  /** The job right before and what it did, so that nothing has to be looked at twice. */
  readonly before: { readonly job: string; readonly counts: JobCounts } | undefined;
  /** Memories that one transaction changes at most. */
  readonly batchSize: number;
  /** Memories that are looked at between two pauses. */
  readonly pageSize: number;
  /** Memories that a job changes at most, about. */
  readonly most: number;
  /** Milliseconds of its budget that are left, at least 0. */
  readonly leftMs: () => number;
  /** Whether it is to end: its budget is spent, or the engine is closing. Ask between two memories. */
  readonly isOver: () => boolean;
  /** Lets calls in between. Wait for it after each transaction or page. @returns false when it is to end */
  readonly pause: () => Promise<boolean>;
  /** As `Graph.change`. In a dry run it decides as always, shows the change and writes nothing. */
  readonly change: Graph["change"];
  /** Lists a change that a dry run does not make; does nothing otherwise. */
  readonly show: (change: Change, snapshot: Pick<ChangeSnapshot, "nodes">) => void;
};

const PAGE = 1000;

/** How jobs run. */
export type RunOptions = {
  readonly owner: Owner;
  /** Of `performance.now()`. */
  readonly endsAt: number;
  readonly batchSize: number;
  /** Default: about a millisecond's work. */
  readonly pageSize?: number;
  /** Default: no limit. */
  readonly most?: number;
  /** Aborted when the job is to end soon. */
  readonly signal?: AbortSignal | undefined;
  /** Under which changes are made. */
  readonly claim?: WorkClaim | undefined;
  /** What ran right before. */
  readonly before?: JobRun["before"];
  /** Gets what a dry run would change. Absent: changes are made. */
  readonly shown?: ShownChanges | undefined;
};

/** What a job is given. */
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

/** Changes that a dry run lists; the others are counted. */
const SHOWN_MAX = 1000;

/** What a dry run would have changed: a line for each operation. */
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

/** The owners whose memories a job goes through. */
export async function ownersOf(
  store: Pick<Store, "owners">,
  owner: Owner,
): Promise<readonly string[]> {
  if (!isEverybody(owner)) return [owner];
  return (await store.owners.list()).map(({ userId }) => userId);
}

/** The same, one after the other, until the run is to end. */
export async function* eachOwner(
  store: Pick<Store, "owners">,
  { owner, isOver }: Pick<JobRun, "owner" | "isOver">,
): AsyncGenerator<string> {
  for (const userId of await ownersOf(store, owner)) {
    if (isOver()) return;
    yield userId;
  }
}

/** Key of the newest memory that a job has looked at, in the place that it saved; 0: none yet. */
export function seenIn(place: JsonObject | undefined): number {
  const seen = place?.["seen"];
  return typeof seen === "number" ? seen : 0;
}

/** Days for which a pass that doubted the clock speaks for a later one. */
const REMEMBERED_DAYS = 35;

type TrustDeps = Pick<EngineDeps, "store" | "settings">;

/**
 * Whether work that depends on the age of things may believe a reading of the clock. It may if the pack is younger than a day, if
 * something in it is dated between two days and one day before, or if another pass had a like reading at least a day before: a clock
 * that was set wrong has none of that. A reading that it doubts is kept for that.
 * @param mayWrite whether it is; default true
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

/** A job that waits while the clock is in doubt. In the specification's profile it does not. */
export function trusting(deps: TrustDeps, job: OrganizerJob): OrganizerJob {
  if (deps.settings.organizer.fading === "original") return job;
  return {
    ...job,
    work: async (run) =>
      (await trustsClock(deps, run.now, !run.isDryRun)) ? job.work(run) : DOUBTED,
  };
}

const DOUBTED = { skipped: "clock_in_doubt" };
