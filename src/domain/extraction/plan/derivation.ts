import { uuidV5 } from "../../../lib/hashing.ts";
import type { Instant } from "../../../lib/instant.ts";
import { canonicalJson, type JsonObject } from "../../../lib/json.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import { type ChecksummedPayload, checksummed, openChecksummed } from "../../checksummed.ts";
import { canReplace } from "../../lifecycle.ts";
import {
  type Edge,
  edgeRecord,
  type MemoryEvent,
  type MemoryNode,
  nodeRecord,
} from "../../node.ts";
import type { ExtractionResult } from "../result.ts";
import { operationOn } from "../work.ts";
import {
  correctedBy,
  type MergedClaim,
  merge,
  planClaims,
  replacedBy,
  withoutRepeats,
} from "./claims.ts";
import { effectiveTime, newEdge, type PlanContext, type PlanProblem, planIdOf } from "./context.ts";
import { planEntities } from "./entities.ts";

/** The plan for an event's extraction. Pure: the same input gives the same plan, identifiers included. */
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

/** From each claim to its subject, and to what it mentions. */
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

type Replacement = { readonly oldId: Uuid; readonly newId: Uuid };

/**
 * How an extraction changes the memory: nodes, edges and replacements, and the state of every existing object it relies on. It is kept
 * before it is applied, and applied unchanged or not at all.
 */
export type DerivationPlan = {
  readonly id: Uuid;
  readonly eventId: Uuid;
  readonly revision: number;
  readonly nodes: readonly MemoryNode[];
  readonly edges: readonly Edge[];
  readonly replacements: readonly Replacement[];
  /** Existing nodes as they were when the plan was made. */
  readonly snapshots: readonly MemoryNode[];
  /** The text to embed for each new node, in their order. */
  readonly vectorTexts: readonly string[];
  /** The new nodes that word search finds. */
  readonly lexicalIds: readonly Uuid[];
};

/** Whether a node that a plan relies on is unchanged. */
function isUnchanged(node: MemoryNode, planned: MemoryNode): boolean {
  const then = nodeRecord.to(planned);
  return Object.entries(nodeRecord.to(node)).every(([name, now]) => {
    const before = then[name] ?? null;
    return now === before || canonicalJson(now) === canonicalJson(before);
  });
}

export function ownedBy(plan: DerivationPlan, userId: string): DerivationPlan {
  const owned = <T extends { readonly userId: string }>(things: readonly T[]): readonly T[] =>
    things.map((thing) => ({ ...thing, userId }));
  return {
    ...plan,
    nodes: owned(plan.nodes),
    edges: owned(plan.edges),
    snapshots: owned(plan.snapshots),
  };
}

export type Publication = {
  readonly nodes: readonly MemoryNode[];
  /** Existing nodes in their new form, removed from the indexes. */
  readonly replaced: readonly MemoryNode[];
  readonly edges: readonly Edge[];
};

/**
 * Applies a plan to the current state, as a whole or not at all.
 * @param current the present nodes of the snapshots
 * @returns the node because of which the plan no longer applies
 */
export function publish(
  plan: DerivationPlan,
  current: ReadonlyMap<Uuid, MemoryNode>,
  at: Instant,
): Publication | { readonly staleId: Uuid } {
  const stale = plan.snapshots.find((planned) => {
    const node = current.get(planned.id);
    return node === undefined || !isUnchanged(node, planned);
  });
  if (stale !== undefined) return { staleId: stale.id };
  const byId = new Map(plan.nodes.map((node) => [node.id, node]));
  const replaced: MemoryNode[] = [];
  const edges = [...plan.edges];
  for (const { oldId, newId } of plan.replacements) {
    const old = current.get(oldId);
    const replacing = byId.get(newId);
    const fits = old !== undefined && replacing !== undefined && mayReplace(old, replacing);
    if (!fits) return { staleId: oldId };
    replaced.push(endedBy(old, replacing, at));
    edges.push(supersedes(plan, old, replacing, at));
  }
  return { nodes: plan.nodes, replaced, edges };
}

function mayReplace(old: MemoryNode, replacing: MemoryNode): boolean {
  const { epistemicType } = replacing;
  const isKnowledge = epistemicType === "observed" || epistemicType === "asserted";
  return (
    canReplace(old.lifecycleState) && isKnowledge && effectiveTime(replacing) >= effectiveTime(old)
  );
}

function endedBy(old: MemoryNode, replacing: MemoryNode, at: Instant): MemoryNode {
  const end = replacing.validFrom;
  const isEarlier = old.validTo === undefined || old.validTo > end;
  return {
    ...old,
    lifecycleState: "superseded",
    supersededBy: replacing.id,
    validTo: end >= old.validFrom && isEarlier ? end : old.validTo,
    updatedAt: at,
  };
}

function supersedes(
  { id, eventId }: DerivationPlan,
  old: MemoryNode,
  replacing: MemoryNode,
  at: Instant,
): Edge {
  const event = { id: eventId, userId: replacing.userId };
  return newEdge({ event, now: at }, id, "supersedes", [replacing.id, old.id]);
}

/** Why a plan may not be kept: it breaks an invariant that its readers rely on. Undefined for a valid one. */
export function planProblem(plan: DerivationPlan): string | undefined {
  const { nodes, replacements, eventId, vectorTexts, edges } = plan;
  const [first] = nodes;
  const ids = new Set(nodes.map(({ id }) => id));
  const olds = new Set(replacements.map(({ oldId }) => oldId));
  const there = new Set([...ids, ...plan.snapshots.map(({ id }) => id)]);
  const isOfOne = nodes.every(
    ({ userId, scope }) => userId === first?.userId && scope === first.scope,
  );
  if (!isOfOne) return "its nodes are of several owners or scopes";
  if (!nodes.every(({ evidenceRefs }) => evidenceRefs.includes(eventId))) {
    return "a node does not cite the event";
  }
  if (ids.size < nodes.length) return "two nodes have one identifier";
  if (olds.size < replacements.length) return "a memory is replaced twice";
  if (!replacements.every(({ oldId, newId }) => ids.has(newId) && !ids.has(oldId))) {
    return "a replacement is not by a new node";
  }
  if (!edges.every(({ sourceId, targetId }) => there.has(sourceId) && there.has(targetId))) {
    return "an edge leads to a node that the plan does not know";
  }
  return vectorTexts.length === nodes.length ? undefined : "a node has no text to embed";
}

export function toPlanPayload(plan: DerivationPlan): ChecksummedPayload {
  return checksummed({
    schema_version: 1,
    plan_id: plan.id,
    event_id: plan.eventId,
    revision: plan.revision,
    nodes: plan.nodes.map(nodeRecord.to),
    edges: plan.edges.map(edgeRecord.to),
    replacements: plan.replacements.map(({ oldId, newId }) => ({ old_id: oldId, new_id: newId })),
    snapshots: plan.snapshots.map(nodeRecord.to),
    vector_texts: [...plan.vectorTexts],
    lexical_ids: [...plan.lexicalIds],
  });
}

/** The plan of a record. @throws SvcError storage_failed if damaged */
export function fromPlanPayload(payload: JsonObject): DerivationPlan {
  // SAFETY: the record's checksum matches, and toPlanPayload always writes these members.
  const saved = openChecksummed(payload) as {
    readonly plan_id: Uuid;
    readonly event_id: Uuid;
    readonly revision: number;
    readonly nodes: readonly JsonObject[];
    readonly edges: readonly JsonObject[];
    readonly replacements: readonly { readonly old_id: Uuid; readonly new_id: Uuid }[];
    readonly snapshots: readonly JsonObject[];
    readonly vector_texts: readonly string[];
    readonly lexical_ids: readonly Uuid[];
  };
  return {
    id: saved.plan_id,
    eventId: saved.event_id,
    revision: saved.revision,
    nodes: saved.nodes.map(nodeRecord.from),
    edges: saved.edges.map(edgeRecord.from),
    replacements: saved.replacements.map(({ old_id, new_id }) => ({
      oldId: old_id,
      newId: new_id,
    })),
    snapshots: saved.snapshots.map(nodeRecord.from),
    vectorTexts: saved.vector_texts,
    lexicalIds: saved.lexical_ids,
  };
}

/** The kind of operation that discards a plan and requests another. */
export const REPLAN_OPERATION = "DERIVATION_REPLAN_REQUESTED";

export const PLAN_OPERATION = "DERIVATION_PREPARED";

/** The plan as kept in the audit log, under its own id. */
export function toPreparedRecord(plan: DerivationPlan, event: MemoryEvent, at: Instant) {
  return {
    ...operationOn(event, at, "derivation"),
    id: plan.id,
    opType: PLAN_OPERATION,
    payload: toPlanPayload(plan),
  };
}

type KeptPlan = { readonly id: Uuid; readonly checksum: string };

/** Records that a plan was applied, and its result. */
export function toCommittedRecord(
  plan: KeptPlan,
  { nodes, edges }: Publication,
  given: { readonly event: MemoryEvent; readonly generation: number; readonly at: Instant },
) {
  const { event, generation, at } = given;
  return {
    ...operationOn(event, at, "derivation"),
    id: uuidV5(plan.id, "svc:derivation-committed:v1"),
    opType: "DERIVATION_COMMITTED",
    payload: {
      event_id: event.id,
      plan_id: plan.id,
      user_id: event.userId,
      generation,
      plan_checksum: plan.checksum,
      node_ids: nodes.map(({ id }) => id),
      edge_ids: edges.map(({ id }) => id),
      created_at: at,
    },
  };
}

export function toReplanRecord(
  event: MemoryEvent,
  given: { readonly planId: Uuid; readonly revision: number; readonly generation: number },
  at: Instant,
) {
  const { planId, revision, generation } = given;
  return {
    ...operationOn(event, at, "derivation"),
    id: uuidV5(planId, "svc:replan:v1"),
    opType: REPLAN_OPERATION,
    payload: {
      event_id: event.id,
      user_id: event.userId,
      previous_plan_id: planId,
      revision,
      generation,
    },
  };
}
