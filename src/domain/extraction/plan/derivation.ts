import type { Uuid } from "../../../lib/uuid.ts";
import type { Edge } from "../../edge.ts";
import type { MemoryNode } from "../../node.ts";
import type { ExtractionResult } from "../result.ts";
import { planClaims } from "./claims.ts";
import type { PlanContext, PlanProblem } from "./context.ts";
import type { DerivationPlan, Replacement } from "./derivation-plan.ts";
import { planEntities } from "./entities.ts";
import { type MergedClaim, merge, withoutRepeats } from "./merge.ts";
import { newEdge, planIdOf } from "./nodes.ts";
import { correctedBy, replacedBy } from "./updates.ts";

/** The plan for what was extracted from an event. Pure: the same input gives the same plan, identifiers included. */
export function planDerivation(
  result: ExtractionResult,
  context: PlanContext,
): DerivationPlan | PlanProblem {
  const entities = planEntities(result, context);
  if (typeof entities === "string") return entities;
  const { known, settings } = context;
  const planned = planClaims(result, entities, context);
  const once = settings.claimMerge ? withoutRepeats(planned) : planned;
  const retired = new Set<Uuid>();
  const free = () => known.claims.filter(({ node }) => !retired.has(node.id));
  const replacements: (Replacement & { readonly old: MemoryNode })[] = [];
  const claims = once.map((claim) => {
    const merged: MergedClaim = settings.claimMerge
      ? merge(claim, free())
      : { ...claim, copies: [] };
    const corrected = correctedBy(claim, known);
    const ended = [
      ...merged.copies,
      ...replacedBy(claim, free()),
      ...(corrected === undefined ? [] : [corrected]),
    ];
    for (const old of ended) {
      if (retired.has(old.id)) continue;
      retired.add(old.id);
      replacements.push({ old, oldId: old.id, newId: merged.node.id });
    }
    return merged;
  });
  const nodes = [...entities.created, ...claims.map(({ node }) => node)];
  return {
    id: planIdOf(context),
    eventId: context.event.id,
    revision: context.revision,
    nodes,
    edges: edgesOf(claims, context),
    replacements: replacements.map(({ oldId, newId }) => ({ oldId, newId })),
    snapshots: unique([...entities.used, ...replacements.map(({ old }) => old)]),
    vectorTexts: nodes.map(({ id, content }) => entities.texts.get(id) ?? content),
    lexicalIds: claims.map(({ node }) => node.id),
  };
}

/** From each claim to who it is about, and to what it mentions. */
function edgesOf(claims: readonly MergedClaim[], context: PlanContext): readonly Edge[] {
  const planId = planIdOf(context);
  return claims.flatMap(({ node, subject, object }) => [
    ...(subject.entityId === undefined
      ? []
      : [newEdge(context, planId, "has_fact", [subject.entityId, node.id])]),
    ...(object.entityId === undefined
      ? []
      : [newEdge(context, planId, "mentions", [node.id, object.entityId])]),
  ]);
}

function unique(nodes: readonly MemoryNode[]): readonly MemoryNode[] {
  return [...new Map(nodes.map((node) => [node.id, node])).values()];
}
