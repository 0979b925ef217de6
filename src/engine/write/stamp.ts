import { type Instant, nextInstant } from "../../lib/instant.ts";
import type { EventLog } from "../../ports/store/event-log.ts";
import type { EngineDeps } from "../deps.ts";

/** The latest moments, by owner, that the calls of a store got which the clock did not give. */
const ahead = new WeakMap<object, Map<string, Instant>>();

/**
 * Gives the moments of an owner's next events, each later than the one before and than all that the owner has: what is said last
 * is the newest, also where the clock was set back, or was ahead when something was said before.
 */
export async function stampsFor(
  { store, clock }: Pick<EngineDeps<EventLog>, "store" | "clock">,
  userId: string,
): Promise<(now?: Instant) => Instant> {
  const kept = await store.lastEventAt(userId);
  return (now = clock.now()) => {
    const given = ahead.get(store) ?? new Map<string, Instant>();
    const last = [kept ?? "", given.get(userId) ?? ""].sort().at(-1);
    if (last === undefined || now > last) return now;
    // SAFETY: of the two texts the later one is a moment, since it is not before `now`.
    const next = nextInstant(last as Instant);
    ahead.set(store, given.set(userId, next));
    return next;
  };
}
