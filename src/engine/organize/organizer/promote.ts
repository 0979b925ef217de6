import { mayBePromoted } from "../../../domain/instruction.ts";
import { addDays } from "../../../lib/instant.ts";
import type { Graph } from "../../../ports/store/graph.ts";
import type { Upkeep } from "../../../ports/store/upkeep.ts";
import type { EngineDeps } from "../../deps.ts";
import type { OrganizerJob } from "./job.ts";
import { type ChooseStep, stepEach } from "./step-each.ts";
import { walkAging } from "./walk.ts";

/** Makes tentative memories stable that are old enough and have enough evidence, the oldest first. */
export function promote(
  deps: Pick<EngineDeps<Graph & Upkeep>, "store" | "ids" | "warn" | "settings">,
): OrganizerJob {
  const { promotionAgeDays, promotionEvidenceCount: evidence } = deps.settings.organizer;
  return {
    name: "promote",
    work: async (run) => {
      const createdBefore = addDays(run.now, -promotionAgeDays);
      // Nothing is as old as that.
      if (createdBefore === undefined) return { nodesProcessed: 0, nodesModified: 0, errors: 0 };
      const choose: ChooseStep = (node) =>
        node.lifecycleState === "tentative" &&
        mayBePromoted(node) &&
        node.createdAt <= createdBefore &&
        node.evidenceRefs.length >= evidence
          ? { step: "promote", why: { job: "promote", reason: "age_and_evidence" } }
          : undefined;
      return walkAging(deps, run, { kind: "tentative", createdBefore, evidence }, (nodes, most) =>
        stepEach(deps, run, nodes.slice(0, most), choose),
      );
    },
  };
}
