import type { EngineDeps } from "../deps.ts";
import { expireMemories } from "../lifecycle/expire.ts";
import type { UpkeepSettings } from "../settings.ts";
import type { Job } from "./runner.ts";
import { trustsClock } from "./trust-clock.ts";

/** Archives memories whose retention has ended, batch after batch until none is left: they take places of others in searches. */
export function expire(
  deps: Pick<EngineDeps, "store" | "clock" | "ids" | "settings" | "warn">,
  { cooldownSeconds, budgetMs, batchSize: limit }: UpkeepSettings,
): Job {
  return {
    kind: "expire",
    after: ["opening", "call", "ingest", "retrieval"],
    whole: {
      isByOwner: true,
      cooldownSeconds,
      isNeeded: async (owner) =>
        (await deps.store.expired({ owner, limit: 1, now: deps.clock.now() })).length > 0,
    },
    failure: "expired memories were not archived",
    work: async ({ owner, claim, signal, pause }) => {
      const isOriginal = deps.settings.organizer.fading === "original";
      if (!isOriginal && !(await trustsClock(deps, deps.clock.now()))) return undefined;
      for (;;) {
        const options = { owner, limit, budgetMs, signal, claim };
        const { archived, failed } = await expireMemories(deps, options);
        if (archived === 0 || !(await pause())) return failed > 0 ? "not_archived" : undefined;
      }
    },
  };
}
