import { addDays } from "../../../lib/instant.ts";
import type { Graph } from "../../../ports/store/graph.ts";
import type { EngineDeps } from "../../deps.ts";
import type { JobCounts, OrganizerJob } from "./job.ts";
import { type ChooseStep, stepEach } from "./step-each.ts";

const PAGE = 500;

/** Makes tentative memories stable that are old enough and have enough evidence, the oldest first. */
export function promote(
  deps: Pick<EngineDeps<Graph>, "store" | "ids" | "warn" | "settings">,
): OrganizerJob {
  const { promotionAgeDays, promotionEvidenceCount } = deps.settings.organizer;
  return {
    name: "promote",
    work: async (run): Promise<JobCounts> => {
      const cutoff = addDays(run.now, -promotionAgeDays);
      if (cutoff === undefined) return { nodesProcessed: 0, nodesModified: 0, errors: 0 };
      const choose: ChooseStep = ({ lifecycleState, createdAt, evidenceRefs }) =>
        lifecycleState === "tentative" &&
        createdAt <= cutoff &&
        evidenceRefs.length >= promotionEvidenceCount
          ? { step: "promote", why: { job: "promote", reason: "age_and_evidence" } }
          : undefined;
      const nodes = await deps.store.queryNodes({
        owner: run.owner,
        lifecycleStates: ["tentative"],
        createdBefore: cutoff,
        oldestFirst: true,
        limit: PAGE,
      });
      const { changed, failed } = await stepEach(deps, run, nodes, choose);
      return { nodesProcessed: nodes.length, nodesModified: changed, errors: failed };
    },
  };
}
