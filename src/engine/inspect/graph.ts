import { parseId, parseOptionalInteger, parseOwner } from "../../domain/arguments.ts";
import { parseMember } from "../../domain/enums.ts";
import { LIMITS } from "../../domain/limits.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { EventLog } from "../../ports/store/event-log.ts";
import type { Graph } from "../../ports/store/graph.ts";
import type { EngineDeps } from "../deps.ts";
import type { ChainOptions, NeighborhoodOptions } from "./api.ts";

const DEFAULT_HOPS = 2;
const DIRECTIONS = ["forward", "backward"] as const;

type GraphDeps = Pick<EngineDeps<Graph>, "store">;

/**
 * Active memories within some hops over edges, without the first. Undefined for an unknown memory, or one of another owner.
 * @throws SvcError invalid_argument
 */
export async function neighborhood(
  { store }: GraphDeps,
  nodeId: string,
  options: NeighborhoodOptions,
): Promise<readonly MemoryNode[] | undefined> {
  const id = parseId(nodeId, "node_id");
  const owner = parseOwner(options.userId);
  const maxHops =
    parseOptionalInteger(options.maxHops, "max_hops", 1, LIMITS.neighborhoodHops) ?? DEFAULT_HOPS;
  if ((await store.node(id, owner)) === undefined) return undefined;
  return store.neighborhood({ nodeId: id, owner, maxHops, maxVisited: LIMITS.neighborhoodVisited });
}

/**
 * What replaced a memory, or what it replaced, nearest first and without itself. Undefined for an unknown memory, or one of
 * another owner.
 * @throws SvcError invalid_argument
 */
export async function chain(
  { store }: GraphDeps,
  nodeId: string,
  options: ChainOptions,
): Promise<readonly MemoryNode[] | undefined> {
  const id = parseId(nodeId, "node_id");
  const owner = parseOwner(options.userId);
  const direction = parseMember(DIRECTIONS, options.direction ?? "forward", "direction");
  if ((await store.node(id, owner)) === undefined) return undefined;
  return store.chain({ nodeId: id, owner, direction, maxSteps: LIMITS.chainSteps });
}

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
