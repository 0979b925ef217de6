import type { Upkeep } from "../../../ports/store/upkeep.ts";
import type { EngineDeps } from "../../deps.ts";
import type { OrganizerJob } from "./job.ts";

/** Removes entries of the indexes that belong to no active memory. There are none unless a file of the pack lost a commit. */
export function indexCompaction({ store }: Pick<EngineDeps<Upkeep>, "store">): OrganizerJob {
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
