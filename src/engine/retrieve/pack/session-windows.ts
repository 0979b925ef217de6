import type { Uuid } from "../../../lib/uuid.ts";
import type { ResultCandidate } from "../api.ts";

/** The position of a memory in the session window of a trigger; the trigger itself is at 0. */
export type WindowPlace = { readonly triggerId: Uuid; readonly offset: number };

/** The position of each candidate that is in the window of another candidate, or has one in its own. */
export function windowPlaces(
  candidates: readonly ResultCandidate[],
): ReadonlyMap<Uuid, WindowPlace> {
  const ids = new Set(candidates.map(({ node }) => node.id));
  const places = new Map<Uuid, WindowPlace>();
  for (const { node, sessionLink } of candidates) {
    if (sessionLink === undefined || !ids.has(sessionLink.triggerId)) continue;
    places.set(node.id, sessionLink);
    if (!places.has(sessionLink.triggerId)) {
      places.set(sessionLink.triggerId, { triggerId: sessionLink.triggerId, offset: 0 });
    }
  }
  return places;
}

/**
 * The place in a section that keeps a window together and in session order: before the first member that comes later, else after
 * the last member; undefined if no member is there yet.
 */
export function placeInWindow(
  records: readonly { readonly window: WindowPlace | undefined }[],
  own: WindowPlace | undefined,
): number | undefined {
  if (own === undefined) return undefined;
  let place: number | undefined;
  for (const [at, { window }] of records.entries()) {
    if (window?.triggerId !== own.triggerId) continue;
    if (window.offset > own.offset) return at;
    place = at + 1;
  }
  return place;
}
