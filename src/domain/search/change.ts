import { type Instant, nextInstant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { LifecycleState, NodeType } from "../enums.ts";
import { SvcError } from "../errors.ts";
import { isActive } from "../lifecycle.ts";
import type { MemoryNode } from "../node.ts";
import { hasText } from "./turns.ts";

/** What a change of memories may do without making index entries stale. */

/** Members of a node that never change once written. Some of them determine its index entries. */
export const LASTING_MEMBERS = [
  "id",
  "userId",
  "sessionId",
  "nodeType",
  "content",
  "scope",
  "createdAt",
  "eventTime",
] as const satisfies (keyof MemoryNode)[];

/**
 * The time of a change: later than the last change of each node. A writer that waited for the lock may have read the clock before the
 * previous holder did, and the clocks of processes differ.
 */
export function momentAfter(nodes: Iterable<Pick<MemoryNode, "updatedAt">>, now: Instant): Instant {
  const after = Array.from(nodes, ({ updatedAt }) => nextInstant(updatedAt));
  return [now, ...after].sort().at(-1) ?? now;
}

export type NodeChange = { readonly before: MemoryNode; readonly after: MemoryNode };

/**
 * The changes that a decision wants to make to nodes.
 * @param found the nodes that were read for the decision
 * @param added those that get index entries
 * @throws SvcError internal for a node that is written twice or was not read, whose immutable members change, or that becomes active again
 * without its index entries
 */
export function nodeChanges(
  nodes: readonly MemoryNode[],
  found: ReadonlyMap<Uuid, MemoryNode>,
  added: readonly { readonly node: MemoryNode }[] = [],
): readonly NodeChange[] {
  const indexed = new Set(added.map(({ node }) => node.id));
  if (new Set(nodes.map(({ id }) => id)).size < nodes.length) {
    throw brokenChange("a node is written twice");
  }
  return nodes.map((after) => {
    const before = found.get(after.id);
    if (before === undefined)
      throw brokenChange(`the node ${after.id} is written but was not read`);
    const altered = LASTING_MEMBERS.find((name) => after[name] !== before[name]);
    if (altered !== undefined) throw brokenChange(`the node ${after.id} gets another ${altered}`);
    const isBack = isActive(after.lifecycleState) && !isActive(before.lifecycleState);
    if (isBack && hasText(after.content) && !indexed.has(after.id)) {
      throw brokenChange(
        `the node ${after.id} goes from ${before.lifecycleState} back to an active state without index entries`,
      );
    }
    return { before, after };
  });
}

/** Whether a change removes a node from the indexes. */
export function isRetired({ before, after }: NodeChange): boolean {
  return isActive(before.lifecycleState) && !isActive(after.lifecycleState);
}

/** The error of a change that breaks the rules. */
export function brokenChange(what: string): SvcError {
  return new SvcError("internal", `a change of memories was not made: ${what}`);
}

/** A claim that was extracted from the message of a note. */
type ClaimOfNote = {
  /** The key of the note. */
  readonly note: number;
  /** The events that the note cites. */
  readonly cited: readonly Uuid[];
  /** What replaced the claim; undefined if it is valid, or ended otherwise. */
  readonly next: Uuid | undefined;
};

/** What replaced a claim, and what replaced that. */
export type Later = Pick<MemoryNode, "id" | "evidenceRefs"> & {
  readonly type: NodeType;
  readonly next: Uuid | undefined;
};

/** Replacements followed for all notes together, nearest first. */
export const REPLACEMENTS_FOLLOWED = 1000;

/** A claim of a note as read by stores: `cited` is JSON. */
export type ClaimRow = {
  readonly note: number;
  readonly cited: string;
  readonly next: Uuid | null;
};

export function claimOf({ note, cited, next }: ClaimRow): ClaimOfNote {
  return { note, cited: citedIn(cited), next: next ?? undefined };
}

/** A claim's replacement as read by stores: `cited` is JSON. */
export type LaterRow = {
  readonly id: Uuid;
  readonly node_type: NodeType;
  readonly cited: string;
  readonly next: Uuid | null;
};

export function laterOf({ id, node_type: type, cited, next }: LaterRow): Later {
  return { id, type, evidenceRefs: citedIn(cited), next: next ?? undefined };
}

function citedIn(json: string): readonly Uuid[] {
  // SAFETY: the column is only ever written from lists of identifiers.
  return JSON.parse(json) as Uuid[];
}

type Replacement = Pick<MemoryNode, "id" | "evidenceRefs">;

/** The claims of those notes whose claims were all replaced. */
export function replacedClaims(claims: readonly ClaimOfNote[]): readonly ClaimOfNote[] {
  return [...Map.groupBy(claims, ({ note }) => note).values()]
    .filter((all) => all.every(({ next }) => next !== undefined))
    .flat();
}

/**
 * Replacements of everything that the messages of notes said, by note, each once: no summaries, and nothing that cites an event of the
 * note, which only repeats its message. Notes with a claim that was not replaced are left out.
 * @param claims of `replacedClaims`
 * @param later what replaced them, and what replaced that, as far as known
 */
export function replacementsOf(
  claims: readonly ClaimOfNote[],
  later: ReadonlyMap<Uuid, Later>,
): ReadonlyMap<number, readonly Replacement[]> {
  return new Map(
    [...Map.groupBy(claims, ({ note }) => note)].flatMap(([note, all]) => {
      const ways = all.map(({ next, cited }) => followed(later, next, cited));
      const found = new Map(ways.flat().map((one) => [one.id, one]));
      return ways.every((way) => way.length > 0) ? [[note, [...found.values()]] as const] : [];
    }),
  );
}

/** A node and all its successors. */
function followed(
  later: ReadonlyMap<Uuid, Later>,
  first: Uuid | undefined,
  said: readonly Uuid[],
): readonly Replacement[] {
  const way = new Map<Uuid, Later>();
  for (let id = first; id !== undefined && !way.has(id); ) {
    const node = later.get(id);
    if (node === undefined) break;
    way.set(id, node);
    id = node.next;
  }
  return [...way.values()]
    .filter(
      ({ type, evidenceRefs }) =>
        type !== "summary" && !evidenceRefs.some((id) => said.includes(id)),
    )
    .map(({ id, evidenceRefs }) => ({ id, evidenceRefs }));
}

/** The newest pinned memories, and the newest tasks, considered for every context, whatever the question. Contested ones are not. */
export const PINS_MAX = 500;
/** States in which a memory is considered. */
export const PIN_STATES = ["tentative", "stable"] as const satisfies readonly LifecycleState[];
