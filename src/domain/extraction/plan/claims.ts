import type { Instant } from "../../../lib/instant.ts";
import type { JsonObject } from "../../../lib/json.ts";
import { uuidV5 } from "../../../lib/new-uuid.ts";
import { normaliseText } from "../../../lib/normal-text.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { NodeType, SourceType } from "../../enums.ts";
import { inferSourceType, initialDecayProfile, matrixConfidence } from "../../epistemics.ts";
import type { MemoryNode } from "../../node.ts";
import { QUANTITY_GROUNDING } from "../../quantity.ts";
import { isNamed } from "../mentions.ts";
import { shortestRun } from "../passages.ts";
import { resolveDate } from "../relative-date.ts";
import type { ExtractedClaim, ExtractionResult } from "../result.ts";
import type { PlanContext } from "./context.ts";
import type { End, PlannedEntities } from "./entities.ts";
import { newNode, planIdOf } from "./nodes.ts";

/** A claim as a node, before it is compared with what is known. */
export type PlannedClaim = {
  readonly claim: ExtractedClaim;
  readonly node: MemoryNode;
  readonly subject: End;
  readonly object: End;
  /** Words about time that name no moment. */
  readonly isTimeOpen: boolean;
};

/** The nodes of the claims, facts first. A relation that repeats a fact of the same passage is left out. */
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

/** Whose first person the claim speaks in, and where. */
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
