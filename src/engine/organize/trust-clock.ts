import { addDays, type Instant } from "../../lib/instant.ts";
import type { EngineDeps } from "../deps.ts";
import type { OrganizerJob } from "./organizer/job.ts";

/** Days for which a pass that doubted the clock speaks for a later one. */
const REMEMBERED_DAYS = 35;

type TrustDeps = Pick<EngineDeps, "store" | "settings">;

/**
 * Whether work that depends on the age of things may believe a reading of the clock. It may if the pack is younger than a day, if
 * something in it is dated between two days and one day before, or if another pass had a like reading at least a day before: a clock
 * that was set wrong has none of that. A reading that it doubts is kept for that.
 * @param mayWrite whether it is; default true
 */
export async function trustsClock(
  { store }: Pick<TrustDeps, "store">,
  now: Instant,
  mayWrite = true,
): Promise<boolean> {
  const [dayBefore, twoDaysBefore, longBefore] = [1, 2, REMEMBERED_DAYS].map((days) =>
    addDays(now, -days),
  );
  if (dayBefore === undefined || twoDaysBefore === undefined || longBefore === undefined) {
    return false;
  }
  const note = async (at: Instant | undefined) => mayWrite && (await store.doubtClock(at));
  const [{ createdAt }, doubted] = [await store.manifest(), await store.doubtedClock()];
  const isYoung = createdAt > dayBefore && createdAt <= now;
  if (isYoung || (await store.isDated(twoDaysBefore, dayBefore))) {
    if (doubted !== undefined) await note(undefined);
    return true;
  }
  const isLike = doubted !== undefined && doubted <= now && doubted >= longBefore;
  if (!isLike) await note(now);
  return isLike && doubted <= dayBefore;
}

/** A job that waits while the clock is in doubt. In the specification's profile it does not. */
export function trusting(deps: TrustDeps, job: OrganizerJob): OrganizerJob {
  if (deps.settings.organizer.fading === "original") return job;
  return {
    ...job,
    work: async (run) =>
      (await trustsClock(deps, run.now, !run.isDryRun)) ? job.work(run) : DOUBTED,
  };
}

const DOUBTED = { skipped: "clock_in_doubt" };
