import type { MemoryNode } from "../../../domain/node.ts";
import type { Owner } from "../../../domain/owner.ts";
import { asUuid } from "../../../lib/uuid.ts";
import type { Change, ChangeSnapshot } from "../../../ports/store/changes.ts";
import type { Graph } from "../../../ports/store/graph.ts";
import type { WorkClaim } from "../../../ports/store/work-queue.ts";
import type { EngineDeps } from "../../deps.ts";
import type { WouldChange } from "../api.ts";
import type { JobRun } from "./job.ts";

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
