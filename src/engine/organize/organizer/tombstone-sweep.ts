import type { Graph } from "../../../ports/store/graph.ts";
import type { Store } from "../../../ports/store/store.ts";
import type { Upkeep } from "../../../ports/store/upkeep.ts";
import type { EngineDeps } from "../../deps.ts";
import { expireSome } from "../../lifecycle/expire.ts";
import { settleUnopposed, unopposedOf } from "../../lifecycle/unopposed.ts";
import type { JobRun, OrganizerJob } from "./job.ts";
import { eachOwner } from "./owners-of.ts";

/** Memories that are looked for at a time. */
const PAGE = 500;
const NOTE = "Archived memories keep their text; nothing is removed.";

type SweepDeps = Pick<EngineDeps<Graph & Upkeep & Pick<Store, "owners">>, "store" | "warn" | "ids">;

/** Archives what its retention has ended for, the earliest ended first, and ends disputes of which only one side is left. */
export function tombstoneSweep(deps: SweepDeps): OrganizerJob {
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
      nodesModified += await settleLeft(deps, run);
      return { nodesProcessed, nodesModified, errors, details: { note: NOTE } };
    },
  };
}

/** @returns how many disputes ended */
async function settleLeft({ store, ids }: SweepDeps, run: JobRun): Promise<number> {
  const contradictionsOf: Graph["contradictionsOf"] = (id, owner) =>
    store.contradictionsOf(id, owner);
  let settled = 0;
  for await (const userId of eachOwner(store, run)) {
    for await (const node of unopposedOf(store, userId)) {
      const deps = { store: { contradictionsOf, change: run.change }, ids };
      settled += (await settleUnopposed(deps, [node])).length;
      if (!(await run.pause())) return settled;
    }
  }
  return settled;
}
