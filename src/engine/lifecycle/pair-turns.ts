import type { MemoryEvent } from "../../domain/event.ts";
import { isActive } from "../../domain/lifecycle.ts";
import type { MemoryNode } from "../../domain/node.ts";
import { beginsWithSpeaker, storedSpeaker } from "../../domain/speaker.ts";
import { nextInstant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { Graph } from "../../ports/store/graph.ts";
import type { EngineDeps } from "../deps.ts";
import type { StoredMemory } from "../write/api.ts";

/** Two turns must have fewer characters than this together. */
const PAIR_CHARS = 1000;
/** Conversations whose last turn is remembered; the one silent for longest is forgotten first. */
const CONVERSATIONS = 10_000;

type Turn = {
  readonly nodeId: Uuid;
  readonly role: string;
  readonly speaker: string | undefined;
  /** Truncated if it is too long for any pair. */
  readonly text: string;
};

export type TurnPairs = {
  readonly add: (stored: StoredMemory) => Promise<void>;
  /** Forgets all: the next turn of every conversation is then treated as its first. */
  readonly forget: () => void;
};

/**
 * Joins a turn with the previous one in its conversation, as an additional memory: question and answer are then found together.
 * Previous turns are those that this process stored. Call `add` for each stored memory, in order.
 */
export function createTurnPairs(
  deps: Pick<EngineDeps<Graph>, "store" | "embedder" | "clock" | "ids">,
): TurnPairs {
  const last = new Map<string, Turn>();
  /** Replaces the previous turn with this one, and returns the previous one. */
  const replace = (conversation: string, turn: Turn): Turn | undefined => {
    const previous = last.get(conversation);
    last.delete(conversation);
    last.set(conversation, turn);
    if (last.size > CONVERSATIONS) {
      const [oldest = ""] = last.keys();
      last.delete(oldest);
    }
    return previous;
  };
  const add = async ({ event, node }: StoredMemory): Promise<void> => {
    if (node.sessionId === undefined || node.content.trim() === "") return;
    const turn = turnOf(event, node);
    const previous = replace(JSON.stringify([node.userId, node.sessionId, node.scope]), turn);
    if (previous === undefined || !belongTogether(previous, turn)) return;
    const pair = pairOf(node, [previous, turn], deps);
    const vector = await deps.embedder.embedDocument(pair.content, node.userId);
    const nodeIds = [previous.nodeId, turn.nodeId];
    await deps.store.change({ nodeIds, auditRecordIds: [], eventIds: [] }, ({ at, nodes }) => {
      // A turn retired or forgotten meanwhile must not come back in a pair.
      const isThere = nodeIds.every((id) => {
        const found = nodes.get(id);
        return found !== undefined && isActive(found.lifecycleState);
      });
      const added = [{ node: pair, vector, at }];
      const change = { nodes: [], added, edges: [], auditRecords: [] };
      return { change: isThere ? change : undefined, result: undefined };
    });
  };
  return { add, forget: () => last.clear() };
}

function turnOf({ role }: MemoryEvent, { id, content, metadata }: MemoryNode): Turn {
  return {
    nodeId: id,
    role: role === "human" ? "user" : role,
    speaker: storedSpeaker(metadata),
    // A character is one or two units.
    text: content.slice(0, 2 * PAIR_CHARS),
  };
}

function belongTogether(one: Turn, other: Turn): boolean {
  const isSame = one.role === other.role && one.speaker === other.speaker;
  return !isSame && [...one.text, ...other.text].length < PAIR_CHARS;
}

/** It has no session: its neighbours there are the two turns themselves. */
function pairOf(
  node: MemoryNode,
  turns: readonly Turn[],
  { ids }: Pick<EngineDeps, "ids">,
): MemoryNode {
  const now = nextInstant(node.createdAt);
  return {
    ...node,
    id: ids.next(),
    sessionId: undefined,
    content: turns.map(spoken).join("\n"),
    metadata: { qa_pair: true },
    createdAt: now,
    updatedAt: now,
    lastReinforcedAt: now,
    ttlDays: undefined,
  };
}

function spoken({ speaker, text }: Turn): string {
  return speaker === undefined || beginsWithSpeaker(text, speaker) ? text : `${speaker}: ${text}`;
}
