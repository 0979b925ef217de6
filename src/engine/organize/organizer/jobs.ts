import type { Graph } from "../../../ports/store/graph.ts";
import type { Upkeep } from "../../../ports/store/work.ts";
import type { EngineDeps } from "../../deps.ts";
import { isOutOfReach } from "../../lifecycle/expire.ts";
import { snapshotOf } from "../snapshot.ts";
import { archive, decaySweep, promote, tombstoneSweep } from "./aging.ts";
import { consolidate } from "./consolidate.ts";
import { type OrganizerJob, trusting } from "./job.ts";
import { aliasResolve, deduplicate } from "./merge.ts";
import { summarize } from "./summarize.ts";

/** The jobs of `organize` in their default order. */
export function organizerJobs(
  deps: EngineDeps,
  feedbackApply: OrganizerJob,
): readonly OrganizerJob[] {
  return [
    trusting(deps, promote(deps)),
    trusting(deps, decaySweep(deps)),
    trusting(deps, archive(deps)),
    deduplicate(deps),
    aliasResolve(deps),
    summarize(deps),
    feedbackApply,
    trusting(deps, tombstoneSweep(deps)),
    snapshotGeneration(deps),
    consolidate(deps),
    indexCompaction(deps),
  ];
}

/** Removes index entries without an active memory. They exist only if a file lost a commit. */
function indexCompaction({ store }: Pick<EngineDeps<Upkeep>, "store">): OrganizerJob {
  return {
    name: "index_compaction",
    work: async (run) => {
      let nodesProcessed = 0;
      let nodesModified = 0;
      for (;;) {
        const limit = run.isDryRun ? 0 : run.batchSize;
        const { found, removed } = await store.sweepIndexes(run.owner, limit);
        nodesProcessed = Math.max(nodesProcessed, found);
        nodesModified += removed;
        if (removed === 0 || removed === found || !(await run.pause())) break;
      }
      const details = {
        stale_found: nodesProcessed,
        retired_staging_found: 0,
        stage_cleanup_blocked: false,
        stage_cleanup_reason: null,
      };
      return { nodesProcessed, nodesModified, errors: 0, details };
    },
  };
}

/** Entities per run, the newest. */
const LIMIT = 500;
const NOTE = "Snapshots are made when they are asked for; none is stored.";

/** Builds a snapshot of each entity and stores nothing. */
function snapshotGeneration(
  deps: Pick<EngineDeps<Graph & Upkeep>, "store" | "clock">,
): OrganizerJob {
  return {
    name: "snapshot_generation",
    work: async (run) => {
      const entities = await deps.store.queryNodes({
        owner: run.owner,
        nodeType: "entity",
        lifecycleStates: ["tentative", "stable"],
        oldestFirst: false,
        limit: LIMIT,
      });
      let nodesModified = 0;
      let errors = 0;
      for (const entity of entities) {
        if (!(await run.pause())) break;
        try {
          await snapshotOf(deps, entity, undefined);
          nodesModified += 1;
        } catch (error) {
          if (isOutOfReach(error)) throw error;
          errors += 1;
        }
      }
      return { nodesProcessed: entities.length, nodesModified, errors, details: { note: NOTE } };
    },
  };
}
