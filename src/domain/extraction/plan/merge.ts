import { normaliseText } from "../../../lib/normal-text.ts";
import { compareUnits } from "../../../lib/text.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import { canReplace } from "../../lifecycle.ts";
import { isPinned, type MemoryNode } from "../../node.ts";
import type { PlannedClaim } from "./claims.ts";
import type { KnownClaim } from "./context.ts";
import { effectiveTime } from "./nodes.ts";

/** A claim with the earlier statements of the same, which it stands for from now on. */
export type MergedClaim = PlannedClaim & {
  /** Oldest first. */
  readonly copies: readonly MemoryNode[];
};

/** The same claim stated twice in one turn, once. */
export function withoutRepeats(claims: readonly PlannedClaim[]): readonly PlannedClaim[] {
  const seen = new Set<string>();
  return claims.filter((planned) => {
    if (!isMergeable(planned)) return true;
    const { metadata } = planned.node;
    const key = JSON.stringify([
      planned.subject.entityId ?? null,
      keyOf(planned.node, planned.object.entityId),
      metadata?.["temporal_intent"] ?? null,
      metadata?.["replaces_object"] ?? null,
    ]);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** The claim, with what its earlier statements have added up to. */
export function merge(planned: PlannedClaim, known: readonly KnownClaim[]): MergedClaim {
  if (!isMergeable(planned)) return { ...planned, copies: [] };
  const copies = known
    .filter((claim) => isCopy(claim, planned))
    .map(({ node }) => node)
    .sort((a, b) => compareUnits(effectiveTime(a), effectiveTime(b)) || compareUnits(a.id, b.id));
  return copies.length === 0
    ? { ...planned, copies }
    : { ...planned, copies, node: joined(planned.node, copies) };
}

function joined(node: MemoryNode, copies: readonly MemoryNode[]): MemoryNode {
  const all = [...copies, node];
  const most = (read: (one: MemoryNode) => number): number => Math.max(...all.map(read));
  return {
    ...node,
    evidenceRefs: [...new Set(all.flatMap(({ evidenceRefs }) => evidenceRefs))],
    confidence: most(({ confidence }) => confidence),
    confidenceBase: most(({ confidenceBase }) => confidenceBase),
    salience: most(({ salience }) => salience),
    salienceBase: most(({ salienceBase }) => salienceBase),
    reinforcementBoost: most(({ reinforcementBoost }) => reinforcementBoost),
    lifecycleState: copies.some(({ lifecycleState }) => lifecycleState === "stable")
      ? "stable"
      : node.lifecycleState,
    metadata: { ...node.metadata, merged_claim_ids: copies.map(({ id }) => id) },
  };
}

function isMergeable({ node, subject, isTimeOpen }: PlannedClaim): boolean {
  return subject.entityId !== undefined && !isTimeOpen && isPlain(node);
}

/** Whether a memory says nothing but its claim: no amount, no condition, no end. */
function isPlain(node: MemoryNode): boolean {
  const { epistemicType, ttlDays, metadata } = node;
  const isKnowledge = epistemicType === "observed" || epistemicType === "asserted";
  const isBare = metadata?.["quantity"] === undefined && metadata?.["condition"] === undefined;
  return isKnowledge && isBare && ttlDays === undefined && !isPinned(node);
}

function isCopy({ node, subjectIds, objectIds }: KnownClaim, planned: PlannedClaim): boolean {
  const { entityId } = planned.subject;
  const objectId = planned.object.entityId;
  const isTimeOpen =
    node.metadata?.["temporal_ref"] !== undefined && node.metadata["resolved_date"] === undefined;
  return (
    entityId !== undefined &&
    subjectIds.includes(entityId) &&
    canReplace(node.lifecycleState) &&
    node.validTo === undefined &&
    !isTimeOpen &&
    isPlain(node) &&
    effectiveTime(node) <= effectiveTime(planned.node) &&
    hasOnly(objectIds, objectId) &&
    keyOf(node, objectId) === keyOf(planned.node, objectId)
  );
}

function hasOnly(ids: readonly Uuid[], id: Uuid | undefined): boolean {
  return id === undefined ? ids.length === 0 : ids.length === 1 && ids[0] === id;
}

/** What two statements of the same claim have in common. */
function keyOf(node: MemoryNode, objectId: Uuid | undefined): string {
  const metadata = node.metadata ?? {};
  const textOf = (name: string): string => {
    const value = metadata[name];
    return typeof value === "string" ? normaliseText(value.replaceAll("_", " ")) : "";
  };
  return JSON.stringify([
    node.nodeType,
    node.epistemicType,
    node.sourceType,
    textOf("predicate"),
    textOf("object"),
    objectId ?? null,
    textOf("polarity"),
    textOf("resolved_date"),
  ]);
}
