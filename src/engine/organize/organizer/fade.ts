import { type FadingRules, fateOf, unusedBefore } from "../../../domain/fading.ts";
import { isActive } from "../../../domain/lifecycle.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { Graph } from "../../../ports/store/graph.ts";
import type { Aging, Upkeep } from "../../../ports/store/upkeep.ts";
import type { EngineDeps } from "../../deps.ts";
import { isContested, opponentsOf, settleUnopposed } from "../../lifecycle/unopposed.ts";
import type { JobCounts, JobRun, OrganizerJob } from "./job.ts";
import { stepEach } from "./step-each.ts";
import { walkAging } from "./walk.ts";

type FadeDeps = Pick<EngineDeps<Graph & Upkeep>, "store" | "ids" | "warn" | "settings">;

const SWEEP = "decay_sweep";

/** Archives what has faded by any rule; contested claims without confidence become deprecated. */
export function decaySweep(deps: FadeDeps): OrganizerJob {
  return fade(deps, SWEEP, deps.settings.organizer);
}

/** Archives only what has hardly any salience left. */
export function archive(deps: FadeDeps): OrganizerJob {
  const { fading, forceArchiveSalienceThreshold } = deps.settings.organizer;
  const rules = {
    fading,
    fadeAfterDays: {},
    archiveSalienceThreshold: 0,
    archiveConfidenceThreshold: 0,
    deprecateConfidenceThreshold: 0,
    forceArchiveSalienceThreshold,
  };
  const { name, work } = fade(deps, "archive", rules);
  return { name, work: async (run) => leftBySweep(run) ?? work(run) };
}

/** What there is for `archive` right after a sweep, which has the same rule among others: nothing, unless the sweep left some out. */
function leftBySweep({ before, isDryRun }: JobRun): JobCounts | undefined {
  if (before?.job !== SWEEP || isDryRun) return undefined;
  const { isWhole, nodesProcessed, nodesModified, errors } = before.counts;
  if (isWhole !== true || errors > 0) return undefined;
  return { nodesProcessed: nodesProcessed - nodesModified, nodesModified: 0, errors: 0 };
}

/** What a walk has to stop at, so that no memory is missed that the rules are about. */
export function agingFaded(rules: FadingRules, now: Instant): Aging {
  const salience = Math.max(rules.archiveSalienceThreshold, rules.forceArchiveSalienceThreshold);
  return {
    kind: "faded",
    now,
    fading: rules.fading,
    salience,
    confidence: rules.deprecateConfidenceThreshold,
    unusedBefore: unusedBefore(now, rules.fadeAfterDays),
  };
}

function fade(deps: FadeDeps, name: string, rules: FadingRules): OrganizerJob {
  return {
    name,
    work: (run) =>
      walkAging(deps, run, agingFaded(rules, run.now), async (nodes, most) => {
        const uses = await usesOf(deps, nodes, rules);
        const fateAt = (node: MemoryNode) => fateOf(node, run.now, rules, uses?.get(node.id));
        // Those that were used lately stay, and keep no other from its turn.
        const faded = nodes.filter(fateAt).slice(0, most);
        const tally = await stepEach(deps, run, faded, (node) => {
          const fate = isActive(node.lifecycleState) && fateAt(node);
          if (fate === false || fate === undefined) return undefined;
          const { step, rule: reason, ...values } = fate;
          return { step, why: { job: name, reason, ...values } };
        });
        if (!run.isDryRun) {
          await settleUnopposed(deps, await opponentsOf(deps, faded.filter(isContested)));
        }
        return tally;
      }),
  };
}

/** When memories were used; the original profile does not ask. */
async function usesOf(
  { store }: FadeDeps,
  nodes: readonly MemoryNode[],
  { fading }: FadingRules,
): Promise<ReadonlyMap<Uuid, Instant> | undefined> {
  if (fading === "original" || nodes.length === 0) return undefined;
  return await store.lastUses(nodes.map(({ id }) => id));
}
