import type { Scope } from "../../domain/enums.ts";
import type { MemoryEvent } from "../../domain/event.ts";
import { ALL_OWNERS } from "../../domain/owner.ts";
import { uuidV5 } from "../../lib/new-uuid.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { EventLog } from "../../ports/store/event-log.ts";
import type { NamedRecords } from "../owner-names.ts";

/** What makes a frame the same one in every call. */
export type FrameKey = {
  readonly userId: string;
  readonly scope: Scope;
  readonly sourceSha256: string;
  /** Undefined for a photo. */
  readonly timeS: number | undefined;
  readonly visionModel: string;
  readonly promptVersion: number;
};

/** The event of a frame, or the id that it is to have. */
export type FrameSlot = {
  readonly id: Uuid;
  /** Undefined: it was not observed yet. One that was forgotten is still there, without its text. */
  readonly event: MemoryEvent | undefined;
};

/**
 * Looks for the event of a frame. Its id follows from the frame, so that two processes that observe the same one cannot both admit it.
 */
export async function findFrame(
  store: Pick<EventLog, "event"> & Pick<NamedRecords, "owners">,
  key: FrameKey,
): Promise<FrameSlot> {
  const { userId } = key;
  for (const { userId: name } of await store.owners.names(userId)) {
    const event = await store.event(idOf(key, name, 0), userId);
    if (event !== undefined) return { id: event.id, event };
  }
  // Another owner may have had the name before, and have kept what was observed under it.
  for (let others = 0; ; others += 1) {
    const id = idOf(key, userId, others);
    const event = await store.event(id, ALL_OWNERS);
    if (event === undefined || event.userId === userId) return { id, event };
  }
}

function idOf(key: FrameKey, name: string, others: number): Uuid {
  const { scope, sourceSha256, timeS, visionModel, promptVersion } = key;
  const frame = [name, scope, sourceSha256, timeS ?? null, visionModel, promptVersion];
  return uuidV5(
    "url",
    JSON.stringify(["svc:observe:v1", ...frame, ...(others > 0 ? [others] : [])]),
  );
}
