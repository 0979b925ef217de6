import { isOwnInstruction } from "../../../domain/instruction.ts";
import { isPinned, type MemoryNode } from "../../../domain/node.ts";
import type { PackingSettings } from "../../../domain/records/packing.ts";
import type { SectionName } from "../../../domain/records/retrieval-record.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { ResultCandidate } from "../api.ts";

/** The tier of everything that is not entitled to an earlier one. */
const ORDINARY = 3;

/** The rank of an ordinary record; see `packingRanks`. */
export const ORDINARY_RANK = 2 * ORDINARY;

/**
 * The rank of each candidate in the packing order, lowest first: instructions of the owner, pinned memories and open tasks,
 * context of an episode or of evidence, everything else. If the settings say so, an ordinary session neighbour of one of the
 * first three follows the records of that tier.
 */
export function packingRanks(
  candidates: readonly ResultCandidate[],
  sessionContextPacking: PackingSettings["sessionContextPacking"],
): ReadonlyMap<Uuid, number> {
  const tiers = new Map(candidates.map((candidate) => [candidate.node.id, tierOf(candidate)]));
  const rankOf = ({ sessionLink }: ResultCandidate, tier: number): number => {
    if (tier < ORDINARY || sessionContextPacking === undefined) return 2 * tier;
    const trigger = sessionLink === undefined ? undefined : tiers.get(sessionLink.triggerId);
    return trigger === undefined || trigger >= ORDINARY ? ORDINARY_RANK : 2 * trigger + 1;
  };
  return new Map(
    candidates.map((candidate) => [
      candidate.node.id,
      rankOf(candidate, tiers.get(candidate.node.id) ?? ORDINARY),
    ]),
  );
}

/** Whether a memory is an instruction of its owner, pinned, or an open task. */
export function hasOwnClaim({ node }: ResultCandidate): boolean {
  const openTask =
    node.nodeType === "task" &&
    (node.lifecycleState === "tentative" || node.lifecycleState === "stable");
  return isOwnInstruction(node) || isPinned(node) || openTask;
}

function tierOf(candidate: ResultCandidate): number {
  if (isOwnInstruction(candidate.node)) return 0;
  if (hasOwnClaim(candidate)) return 1;
  const { paths } = candidate;
  return paths.includes("EPISODE_CONTEXT") || paths.includes("EVIDENCE_CONTEXT") ? 2 : ORDINARY;
}

/** The section under which a memory is shown. */
export function sectionOf(node: MemoryNode): SectionName {
  if (node.lifecycleState === "contested") return "contested_claims";
  switch (node.nodeType) {
    case "instruction":
      return isOwnInstruction(node) ? "system_instructions" : "stable_facts";
    case "entity":
      return "entity_snapshots";
    case "decision":
      return "recent_decisions";
    case "task":
      return "active_tasks";
    case "summary":
      return "summaries";
    case "event":
    case "preference":
      return "provenance_refs";
    case "fact":
    case "note":
      return "stable_facts";
  }
}
