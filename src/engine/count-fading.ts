import { fateOf, retentionEnd } from "../domain/fading.ts";
import { isActive } from "../domain/lifecycle.ts";
import { ALL_OWNERS } from "../domain/owner.ts";
import { addDays, type Instant } from "../lib/instant.ts";
import type { Upkeep } from "../ports/store/work.ts";
import { fadedMemories } from "./lifecycle/restore.ts";
import { agingFaded } from "./organize/organizer/aging.ts";
import type { EngineSettings } from "./settings.ts";

const SOON_DAYS = 30;
const PAGE = 500;

/** What ageing will archive within 30 days, and what `restoreFaded` can restore, for all owners. */
export type FadingCounts = {
  /** Active memories archived within 30 days unless used. */
  readonly soon: number;
  readonly restorable: number;
  /** Active memories with a former default retention. */
  readonly retained: number;
};

type CountDeps = {
  readonly store: Pick<Upkeep, "walkAging" | "lastSteps" | "lastUses" | "countRetained">;
  readonly settings: Pick<EngineSettings, "organizer" | "ttlDefaults">;
};

/** Yields to other work. */
export async function countFading(deps: CountDeps, now: Instant): Promise<FadingCounts> {
  let restorable = 0;
  let retained = 0;
  for await (const { last } of fadedMemories(deps, ALL_OWNERS)) {
    if (last === undefined) retained += 1;
    else restorable += 1;
  }
  return { soon: await countSoon(deps, now), restorable, retained };
}

async function countSoon({ store, settings }: CountDeps, now: Instant): Promise<number> {
  const until = addDays(now, SOON_DAYS) ?? now;
  const rules = settings.organizer;
  const at = agingFaded(rules, until);
  let count = await store.countRetained(ALL_OWNERS, until);
  for (let after: string | undefined; ; ) {
    const page = await store.walkAging({ owner: ALL_OWNERS, at, after, limit: PAGE });
    const uses = await store.lastUses(page.nodes.map(({ id }) => id));
    count += page.nodes.filter((node) => {
      const end = retentionEnd(node);
      const isCounted = end !== undefined && end < until;
      const usedAt = rules.fading === "original" ? undefined : uses.get(node.id);
      return !isCounted && isActive(node.lifecycleState) && fateOf(node, until, rules, usedAt);
    }).length;
    after = page.next;
    if (after === undefined) return count;
  }
}
