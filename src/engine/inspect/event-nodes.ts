import { parseId, parseOwner } from "../../domain/arguments.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { EventLog } from "../../ports/store/event-log.ts";
import type { Graph } from "../../ports/store/graph.ts";
import type { EngineDeps } from "../deps.ts";

/**
 * Memories that cite an event, in any state, by ascending id. Undefined for an unknown event, or one of another owner.
 * @throws SvcError invalid_argument
 */
export async function getEventNodes(
  { store }: Pick<EngineDeps<EventLog & Graph>, "store">,
  eventId: string,
  userId: string | undefined,
): Promise<readonly MemoryNode[] | undefined> {
  const id = parseId(eventId, "event_id");
  const event = await store.event(id, parseOwner(userId));
  return event === undefined ? undefined : store.nodesCiting(event.id, event.userId);
}
