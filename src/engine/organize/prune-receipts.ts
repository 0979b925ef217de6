import { addDays } from "../../lib/instant.ts";
import type { EngineDeps } from "../deps.ts";
import type { Job } from "./runner.ts";
import { trustsClock } from "./trust-clock.ts";

const COOLDOWN_SECONDS = 3600;
/** Receipts that one step removes at most, so that others write in between. */
const LIMIT = 250;

/** Removes receipts that are older than they are to be. @param days that they are kept */
export function pruneReceipts(
  { store, clock }: Pick<EngineDeps, "store" | "clock">,
  days: number,
): Job {
  return {
    kind: "prune-receipts",
    after: ["retrieval"],
    whole: { isByOwner: false, cooldownSeconds: COOLDOWN_SECONDS },
    failure: "old receipts were not removed",
    work: async ({ pause }) => {
      const now = clock.now();
      const before = addDays(now, -days);
      if (before === undefined || !(await trustsClock({ store }, now))) return undefined;
      while ((await store.pruneReceipts(before, LIMIT)) >= LIMIT && (await pause()));
      return undefined;
    },
  };
}
