import type { Graph } from "../../../ports/store/graph.ts";
import type { Upkeep } from "../../../ports/store/upkeep.ts";
import type { EngineDeps } from "../../deps.ts";
import { isOutOfReach } from "../../lifecycle/change-each.ts";
import { snapshotOf } from "../snapshot.ts";
import type { OrganizerJob } from "./job.ts";

/** Entities of one run, the newest. */
const LIMIT = 500;
const NOTE = "Snapshots are made when they are asked for; none is stored.";

/** Builds a snapshot of each entity, to see that it can be done, and stores nothing. */
export function snapshotGeneration(
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
