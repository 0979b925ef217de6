import type { Uuid } from "../../lib/uuid.ts";
import type { NodeType } from "../enums.ts";
import type { MemoryNode } from "../node.ts";

/** A claim that was extracted from the message of a note. */
export type ClaimOfNote = {
  /** The key of the note. */
  readonly note: number;
  /** The events that the note cites. */
  readonly cited: readonly Uuid[];
  /** What replaced the claim; undefined for one that holds, or that ended otherwise. */
  readonly next: Uuid | undefined;
};

/** What came after a claim, and what replaced that. */
export type Later = Pick<MemoryNode, "id" | "evidenceRefs"> & {
  readonly type: NodeType;
  readonly next: Uuid | undefined;
};

/** Replacements that are followed for all notes together, the nearest first. */
export const REPLACEMENTS_FOLLOWED = 1000;

/** A claim of a note as stores read it: `cited` is JSON. */
export type ClaimRow = {
  readonly note: number;
  readonly cited: string;
  readonly next: Uuid | null;
};

export function claimOf({ note, cited, next }: ClaimRow): ClaimOfNote {
  return { note, cited: citedIn(cited), next: next ?? undefined };
}

/** What came after a claim as stores read it: `cited` is JSON. */
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

/** The claims of the notes all of whose claims were replaced. */
export function replacedClaims(claims: readonly ClaimOfNote[]): readonly ClaimOfNote[] {
  return [...Map.groupBy(claims, ({ note }) => note).values()]
    .filter((all) => all.every(({ next }) => next !== undefined))
    .flat();
}

/**
 * What replaced everything that the messages of notes said, by note, each once: no summary, and nothing that cites an event of
 * the note, which only says its message again. Notes with a claim that nothing else replaced are left out.
 * @param claims of `replacedClaims`
 * @param later what replaced them, and what replaced that, as far as it is known
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

/** A node and all that came after it. */
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
