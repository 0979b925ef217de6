import type { Owner } from "../../domain/owner.ts";
import { addDays } from "../../lib/instant.ts";
import type { Aging } from "../../ports/store/upkeep.ts";
import type { EngineDeps } from "../deps.ts";
import type { UpkeepSettings } from "../settings.ts";
import { drain } from "../write/materialize.ts";
import { agingFaded, decaySweep } from "./organizer/fade.ts";
import { promote } from "./organizer/promote.ts";
import { runOf } from "./organizer/run-job.ts";
import type { Job } from "./runner.ts";
import { trusting } from "./trust-clock.ts";

/** Milliseconds of a pass for what stores have left, at most. */
const DRAIN_MS = 100;
/** Memories in one transaction, and looked at between two pauses: a call hardly waits for either. */
const BATCH = 4;
const PAGE = 250;

/** A little of the organizer's work for the owner of a call, after it: what stores have left, promotion, fading. */
export function opportunistic(
  deps: EngineDeps,
  { cooldownSeconds, budgetMs, batchSize: most }: UpkeepSettings,
): Job {
  const jobs = [promote(deps), decaySweep(deps)].map((job) => trusting(deps, job));
  return {
    kind: "opportunistic",
    after: ["ingest", "retrieval"],
    whole: { isByOwner: true, cooldownSeconds, isNeeded: (owner) => isAnythingDue(deps, owner) },
    failure: "upkeep beside calls did not finish",
    work: async ({ owner, claim, signal }) => {
      const endsAt = performance.now() + budgetMs;
      await drain(deps, { owner, budgetMs: Math.min(DRAIN_MS, budgetMs), isDueOnly: true, signal });
      let failed = 0;
      for (const job of jobs) {
        const options = { owner, endsAt, batchSize: BATCH, pageSize: PAGE, most, signal, claim };
        const run = runOf(deps, job.name, options);
        if (!(await run.pause())) break;
        const done = await job.work(run);
        if (!("skipped" in done)) failed += done.errors;
      }
      return failed > 0 ? "not_changed" : undefined;
    },
  };
}

/** Spares a claim, and so a write, where there is nothing to do. */
async function isAnythingDue({ store, clock, settings }: EngineDeps, owner: Owner) {
  const now = clock.now();
  const { promotionAgeDays, promotionEvidenceCount: evidence } = settings.organizer;
  const createdBefore = addDays(now, -promotionAgeDays);
  const { pending, failed } = await store.countJobs(owner);
  if (pending > failed) return true;
  const wanted: Aging[] = [agingFaded(settings.organizer, now)];
  if (createdBefore !== undefined) wanted.unshift({ kind: "tentative", createdBefore, evidence });
  for (const at of wanted) {
    for (let after: string | undefined; ; ) {
      const page = await store.walkAging({ owner, at, after, limit: PAGE });
      if (page.nodes.length > 0) return true;
      after = page.next;
      if (after === undefined) break;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return false;
}
