import { uuidV5 } from "../../../lib/hashing.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { JsonObject } from "../../../lib/json.ts";
import { compareUnits, foldCase, normaliseText } from "../../../lib/text.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { NodeType, SourceType } from "../../enums.ts";
import { inferSourceType, initialDecayProfile, matrixConfidence } from "../../epistemics.ts";
import { canReplace } from "../../lifecycle.ts";
import { isPinned, type MemoryNode } from "../../node.ts";
import { QUANTITY_GROUNDING } from "../../quantity.ts";
import { isNamed } from "../cues.ts";
import { shortestRun, type Turn } from "../passages.ts";
import type { DropTally, ExtractedClaim, ExtractionResult } from "../result.ts";
import type { ShownMemory } from "../work.ts";
import {
  effectiveTime,
  type KnownClaim,
  type KnownMemories,
  newNode,
  type PlanContext,
  planIdOf,
  resolveDate,
} from "./context.ts";
import type { End, PlannedEntities } from "./entities.ts";

/** A claim as a node, before it is compared with known ones. */
type PlannedClaim = {
  readonly claim: ExtractedClaim;
  readonly node: MemoryNode;
  readonly subject: End;
  readonly object: End;
  /** Words about time that identify no moment. */
  readonly isTimeOpen: boolean;
};

/** The nodes of the claims, facts first. A relation that repeats a fact of the same passage is omitted. */
export function planClaims(
  { claims }: ExtractionResult,
  entities: PlannedEntities,
  context: PlanContext,
): readonly PlannedClaim[] {
  const planned: PlannedClaim[] = [];
  const facts = new Set<string>();
  for (const [index, claim] of claims.entries()) {
    const subject = entities.endOf(claim.subject, claim.subjectEntityType);
    const object = entities.endOf(claim.object, claim.objectEntityType);
    const place = JSON.stringify([
      subject.entityId ?? normaliseText(claim.subject),
      object.entityId ?? normaliseText(claim.object),
      claim.evidenceQuote ?? null,
    ]);
    if (claim.kind === "fact") facts.add(place);
    else if (facts.has(place)) continue;
    planned.push(planClaim({ claim, subject, object }, index, context));
  }
  return planned;
}

type Ends = Pick<PlannedClaim, "claim" | "subject" | "object">;

function planClaim(ends: Ends, index: number, context: PlanContext): PlannedClaim {
  const { claim } = ends;
  const { event, turn, settings } = context;
  const stated = textOf(claim, context);
  const resolved =
    claim.temporalRef === undefined
      ? undefined
      : resolveDate(claim.temporalRef, turn.at, context.readDates);
  const sourceType = sourceOf(claim, turn.role);
  const confidence = matrixConfidence(
    claim.epistemicType,
    sourceType,
    settings.confidenceOverrides,
  ).value;
  const nodeType: NodeType = claim.factType;
  const node = newNode(context, {
    id: claimId(context, index),
    nodeType,
    content: stated.text,
    confidence,
    confidenceBase: confidence,
    decayProfile: initialDecayProfile(nodeType, claim.epistemicType),
    epistemicType: claim.epistemicType,
    sourceType,
    eventTime: resolved ?? turn.at,
    validFrom: resolved ?? turn.at,
    metadata: metadataOf(ends, {
      method: stated.method,
      resolved,
      speaker: turn.speaker,
      userId: event.userId,
    }),
  });
  return { ...ends, node, isTimeOpen: claim.temporalRef !== undefined && resolved === undefined };
}

function claimId(context: PlanContext, index: number): Uuid {
  return uuidV5(planIdOf(context), `claim:${index}`);
}

/** The text of a memory: the sentences that state the claim, else the paragraph. */
function textOf(
  { subject, object, evidenceQuote }: ExtractedClaim,
  { turn, settings }: PlanContext,
): { readonly text: string; readonly method: string } {
  const passage = evidenceQuote ?? turn.content;
  const run = settings.claimSentenceText
    ? shortestRun(
        passage,
        [subject, object].map((name) => (sentence) => isNamed(name, sentence, turn.language)),
      )
    : undefined;
  return run === undefined
    ? { text: passage, method: "source_passage_v1" }
    : { text: run, method: "claim_sentences_v1" };
}

function sourceOf({ kind, epistemicType }: ExtractedClaim, role: string): SourceType {
  if (kind === "relationship" && epistemicType === "unverified") return "system_inferred";
  if (role === "assistant" || role === "system" || role === "tool") return inferSourceType(role);
  return "user_stated";
}

type Stated = {
  readonly method: string;
  readonly resolved: Instant | undefined;
  readonly speaker: string | undefined;
  readonly userId: string;
};

function metadataOf({ claim, subject, object }: Ends, stated: Stated): JsonObject {
  const { quantity, condition, temporalRef } = claim;
  return {
    subject: claim.subject,
    predicate: claim.predicate,
    object: claim.object,
    polarity: claim.polarity,
    subject_entity_type: claim.subjectEntityType ?? null,
    object_entity_type: claim.objectEntityType ?? null,
    subject_link_status: subject.status,
    object_link_status: object.status,
    extraction_kind: claim.kind,
    evidence_quote: claim.evidenceQuote ?? null,
    grounding_method: stated.method,
    temporal_intent: claim.temporalIntent ?? null,
    replaces_object: claim.replacesObject ?? null,
    ...(condition !== undefined && { condition, condition_state: "unknown" }),
    ...(quantity !== undefined && {
      quantity: {
        value: quantity.value,
        unit: quantity.unit,
        source_text: quantity.sourceText,
        grounding: QUANTITY_GROUNDING,
      },
    }),
    ...(claim.scope !== undefined && { suggested_scope: claim.scope }),
    ...(temporalRef !== undefined && { temporal_ref: temporalRef }),
    ...(stated.resolved !== undefined && { resolved_date: stated.resolved }),
    ...(claim.replacesNodeId !== undefined && { replaces_node_id: claim.replacesNodeId }),
    ...referencesOf(subject, object, stated),
  };
}

function referencesOf(subject: End, object: End, { speaker, userId }: Stated): JsonObject {
  const fieldsOf = (who: End["firstPerson"]): readonly string[] => [
    ...(subject.firstPerson === who ? ["subject"] : []),
    ...(object.firstPerson === who ? ["object"] : []),
  ];
  const spoken = fieldsOf("speaker");
  const owned = fieldsOf("owner");
  return {
    ...(spoken.length > 0 && { speaker_reference: { speaker: speaker ?? null, fields: spoken } }),
    ...(owned.length > 0 && { owner_reference: { user_id: userId, fields: owned } }),
  };
}

/** A claim with the earlier equal statements that it now represents. */
export type MergedClaim = PlannedClaim & {
  /** Oldest first. */
  readonly copies: readonly MemoryNode[];
};

/** Merges claims stated twice in one turn. */
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

/** The claim combined with its earlier statements. */
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

/** Whether a memory contains only its claim: no amount, no condition, no end. */
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

/** Predicates with the same meaning. */
const CLASSES: readonly ReadonlySet<string>[] = [
  new Set(["works_at", "employed_by", "employed_at", "joined"]),
  new Set(["lives_in", "resides_in", "located_in"]),
  new Set(["role", "position", "title"]),
];
/** Words of an old value that a shorter name may stand for. */
const OLD_WORDS_MAX = 4;

/** The values for which a store must look up known claims before planning: only such claims can be merged or replaced. */
export function valuesToFind({ claims }: ExtractionResult): readonly string[] {
  const values = claims.flatMap(({ object, replacesObject }) => [object, replacesObject ?? object]);
  return [...new Set(values)];
}

/** A value in the forms that `merge` and `replacedBy` compare, between blanks. */
export type ValueForms = readonly [plain: string, normal: string];

export function formsOf(value: string): ValueForms {
  const plain = foldCase(value.trim()).split(/\s+/).join(" ");
  return [` ${plain} `, ` ${normaliseText(value.replaceAll("_", " "))} `];
}

/** Whether a claim with this value may concern a sought value. May be true for others as well. */
export function mayMean([plain, normal]: ValueForms, sought: readonly ValueForms[]): boolean {
  return sought.some((one) => plain.includes(one[0]) || normal.includes(one[1]));
}

/** The known claims that a new one explicitly ends: an update that names the value it replaces. None if several values could be meant. */
export function replacedBy(
  planned: PlannedClaim,
  known: readonly KnownClaim[],
): readonly MemoryNode[] {
  const target = targetOf(planned);
  const { entityId } = planned.subject;
  if (target === undefined || entityId === undefined) return [];
  const candidates = known
    .filter(({ subjectIds }) => subjectIds.includes(entityId))
    .map(({ node }) => node)
    .filter((node) => isReplaceable(node, planned) && meansValue(node, target));
  const values = new Set(candidates.map((node) => foldCase(fieldOf(node, "object").trim())));
  if (values.size > 1) return [];
  return candidates.filter((node) => effectiveTime(node) <= effectiveTime(planned.node));
}

/** The memory shown to the model that its turn corrects, if still correctable. */
export function correctedBy(
  { claim, node }: PlannedClaim,
  { shown }: KnownMemories,
): MemoryNode | undefined {
  const target = claim.replacesNodeId === undefined ? undefined : shown.get(claim.replacesNodeId);
  if (target === undefined || !isUpdate(claim) || !isCorrectable(target)) return undefined;
  const isSame =
    target.userId === node.userId &&
    target.scope === node.scope &&
    target.sourceType === node.sourceType;
  return isSame && effectiveTime(target) <= effectiveTime(node) ? target : undefined;
}

/** Types of memories that later turns may correct. */
export const STATEMENTS: ReadonlySet<NodeType> = new Set(["fact", "decision", "preference"]);

/** Whether a later turn may correct a memory: a currently valid statement without condition. */
export function isCorrectable(node: MemoryNode): boolean {
  return STATEMENTS.has(node.nodeType) && canReplace(node.lifecycleState) && isUnconditional(node);
}

function isUnconditional({ epistemicType, metadata }: MemoryNode): boolean {
  const isKnown = epistemicType === "observed" || epistemicType === "asserted";
  return isKnown && (metadata?.["condition"] ?? null) === null;
}

function isUpdate(claim: PlannedClaim["claim"]): boolean {
  const isKnown = claim.epistemicType === "observed" || claim.epistemicType === "asserted";
  return claim.temporalIntent === "update" && claim.condition === undefined && isKnown;
}

function targetOf({ claim }: PlannedClaim): string | undefined {
  if (!isUpdate(claim)) return undefined;
  return claim.replacesObject ?? (claim.polarity === "negative" ? claim.object : undefined);
}

function isReplaceable(old: MemoryNode, { claim, node }: PlannedClaim): boolean {
  const isOpen =
    old.sourceType === node.sourceType &&
    old.nodeType === node.nodeType &&
    old.scope === node.scope &&
    old.userId === node.userId &&
    canReplace(old.lifecycleState) &&
    isUnconditional(old);
  if (!isOpen || !isSamePredicate(old, claim, node)) return false;
  return claim.polarity === "negative"
    ? fieldOf(old, "polarity") === "positive"
    : foldCase(fieldOf(old, "object").trim()) !== foldCase(claim.object.trim());
}

function isSamePredicate(
  old: MemoryNode,
  { predicate, polarity }: PlannedClaim["claim"],
  { nodeType }: MemoryNode,
): boolean {
  const one = fieldOf(old, "predicate").trim().toLowerCase();
  const other = predicate.trim().toLowerCase();
  if (one === other || CLASSES.some((same) => same.has(one) && same.has(other))) return true;
  const isUse = one === "uses" || one === "use";
  const isSwitch = other === "switched_to" && polarity === "positive" && nodeType === "fact";
  return isSwitch && isUse && fieldOf(old, "polarity") === "positive";
}

/** Whether an old value is the one named, or contains its name as a run of words: `pump` for `insulin pump`. */
function meansValue(old: MemoryNode, target: string): boolean {
  const value = foldCase(fieldOf(old, "object").trim());
  const named = foldCase(target.trim());
  if (value === named) return true;
  const words = value.split(/\s+/);
  const sought = named.split(/\s+/);
  const isShorter = sought.length < words.length && words.length <= OLD_WORDS_MAX;
  const areWords =
    words.every((word) => /^[\p{L}\p{M}]+$/u.test(word)) &&
    sought.every((word) => /^[\p{L}\p{M}]{3,}$/u.test(word));
  return isShorter && areWords && ` ${words.join(" ")} `.includes(` ${sought.join(" ")} `);
}

function fieldOf({ metadata }: MemoryNode, name: string): string {
  const value = metadata?.[name];
  return typeof value === "string" ? value : "";
}

/** Memories that are shown for one turn, and for all turns of a request. */
const SHOWN_PER_TURN = 5;
const SHOWN_PER_REQUEST = 20;

export type ShownText = ShownMemory & { readonly text: string; readonly at: Instant };

/**
 * Selects the memories that a request shows for correction by its turns. Each memory has one label, in the order in which turns need it.
 * @param nearest for each turn of the request, in order: memories of its owner and scope, nearest first
 */
export function memoriesToShow(
  turns: readonly Turn[],
  nearest: readonly (readonly MemoryNode[])[],
): readonly ShownText[] {
  const shown = new Map<Uuid, ShownText & { readonly turns: number[] }>();
  for (const [index, turn] of turns.entries()) {
    const fitting = (nearest[index] ?? []).filter(
      (node) => isCorrectable(node) && effectiveTime(node) <= turn.at,
    );
    for (const node of fitting.slice(0, SHOWN_PER_TURN)) {
      const known = shown.get(node.id);
      if (known !== undefined) known.turns.push(index + 1);
      else if (shown.size < SHOWN_PER_REQUEST) {
        const label = `m${shown.size + 1}`;
        const at = effectiveTime(node);
        shown.set(node.id, { label, nodeId: node.id, turns: [index + 1], text: node.content, at });
      }
    }
  }
  return [...shown.values()];
}

/** The result with labels resolved to the memories shown. An unknown label is dropped, its claim stays. */
export function withCorrections(
  result: ExtractionResult,
  shown: readonly ShownMemory[],
  tally: DropTally,
): ExtractionResult {
  const byLabel = new Map(shown.map(({ label, nodeId }) => [label, nodeId]));
  return {
    ...result,
    claims: result.claims.map((claim) => {
      const { replacesMemory, ...rest } = claim;
      if (replacesMemory === undefined) return claim;
      const replacesNodeId = byLabel.get(replacesMemory.trim());
      if (replacesNodeId === undefined) tally.add("memory_not_shown");
      return { ...rest, replacesMemory: undefined, replacesNodeId };
    }),
  };
}
