import type { MemoryNode } from "../../../domain/node.ts";
import type { Aging, Upkeep } from "../../../ports/store/upkeep.ts";
import type { Tally } from "../../lifecycle/change-each.ts";
import type { JobCounts, JobRun } from "./job.ts";

/**
 * Walks over the memories of a run page by page, within its budget, and changes those at which the walk stops.
 * @param change what is done with those of one page, with `most` of them at most
 */
export async function walkAging(
  { store }: { readonly store: Upkeep },
  run: JobRun,
  at: Aging,
  change: (nodes: readonly MemoryNode[], most: number) => Promise<Tally>,
): Promise<JobCounts> {
  let nodesProcessed = 0;
  let nodesModified = 0;
  let errors = 0;
  for (let after: string | undefined; ; ) {
    const page = await store.walkAging({ owner: run.owner, at, after, limit: run.pageSize });
    const { changed, failed } = await change(page.nodes, run.most - nodesModified);
    nodesProcessed += page.considered;
    nodesModified += changed;
    errors += failed;
    after = page.next;
    const isEnough = after === undefined || nodesModified >= run.most;
    if (isEnough || !(await run.pause())) {
      const isWhole = after === undefined && nodesModified < run.most && !run.isOver();
      return { nodesProcessed, nodesModified, errors, isWhole };
    }
  }
}
