import type { Graph } from "../../../ports/store/graph.ts";
import type { Upkeep } from "../../../ports/store/upkeep.ts";
import type { EngineDeps } from "../../deps.ts";
import { expireSome } from "../../lifecycle/expire.ts";
import type { OrganizerJob } from "./job.ts";

/** Memories that are looked for at a time. */
const PAGE = 500;
const NOTE = "Archived memories keep their text; nothing is removed.";

/** Archives what its retention has ended for, the earliest ended first. */
export function tombstoneSweep(
  deps: Pick<EngineDeps<Graph & Upkeep>, "store" | "warn" | "ids">,
): OrganizerJob {
  return {
    name: "tombstone_sweep",
    work: async (run) => {
      const nodesProcessed = await deps.store.countRetained(run.owner);
      const read = { owner: run.owner, now: run.now, limit: PAGE };
      let nodesModified = 0;
      let errors = 0;
      for (;;) {
        const { changed, failed } = await expireSome(deps, read, run);
        nodesModified += changed;
        errors += failed;
        // A dry run finds the same ones again, and so does one that cannot change them.
        if (run.isDryRun || changed === 0 || !(await run.pause())) break;
      }
      return { nodesProcessed, nodesModified, errors, details: { note: NOTE } };
    },
  };
}
