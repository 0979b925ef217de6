import * as f from "../../lib/form.ts";
import { isPersonal } from "./cues.ts";

const POLARITIES = ["positive", "negative", "unknown"] as const;
export type Polarity = (typeof POLARITIES)[number];

export const FACT_TYPES = ["fact", "decision", "preference"] as const;

/** Kinds of knowledge that a text can express. */
export const STATED_TYPES = [
  "observed",
  "asserted",
  "inferred",
  "hypothetical",
  "conditional",
  "unverified",
] as const;

const entityForm = f.object({
  name: f.text,
  /** Free text, such as `person`. */
  entityType: f.text,
  description: f.nullable(f.text),
  scope: f.nullable(f.text),
});
/** A person or thing that a text names. */
export type ExtractedEntity = f.ValueOf<typeof entityForm>;

/** `value` is a decimal in plain notation; the rest are words of the text. */
const quantityForm = f.object({ value: f.text, unit: f.text, sourceText: f.text });
/** One exact amount, in the words of the text. */
export type ExtractedQuantity = f.ValueOf<typeof quantityForm>;

/** Members of facts and relationships alike. */
const judged = {
  /** `unknown` only from a custom provider. */
  polarity: f.member(POLARITIES),
  /** Words of the text; after the checks, the paragraph that contains them. Undefined: the whole text. */
  evidenceQuote: f.nullable(f.text),
  /** The model's own estimate, 0 to 1. Stored, not used. */
  confidence: f.unit,
};

const factForm = f.object({
  subject: f.text,
  predicate: f.text,
  object: f.text,
  subjectEntityType: f.nullable(f.text),
  objectEntityType: f.nullable(f.text),
  ...judged,
  factType: f.member(FACT_TYPES),
  epistemicType: f.member(STATED_TYPES),
  /** Words of the text. */
  condition: f.nullable(f.text),
  /** What the text says about time, in its words. */
  temporalRef: f.nullable(f.text),
  /** Only `update` has an effect. */
  temporalIntent: f.nullable(f.text),
  replacesObject: f.nullable(f.text),
  scope: f.nullable(f.text),
  quantity: f.nullable(quantityForm),
  replacesNodeId: f.omitted(f.uuid),
});

const relationshipForm = f.object({
  sourceEntity: f.text,
  relationshipType: f.text,
  targetEntity: f.text,
  sourceEntityType: f.nullable(f.text),
  targetEntityType: f.nullable(f.text),
  ...judged,
  epistemicType: f.member(STATED_TYPES),
  condition: f.nullable(f.text),
});

/** What a text states: a fact, or a relation between two entities. The same rules check both. */
export type ExtractedClaim = f.ValueOf<typeof factForm> & {
  readonly kind: "fact" | "relationship";
  /** The label of an earlier memory that the text corrects; undefined once it is resolved. */
  readonly replacesMemory: string | undefined;
};

export type ExtractionResult = {
  readonly entities: readonly ExtractedEntity[];
  /** Facts in their order, then relationships in theirs. */
  readonly claims: readonly ExtractedClaim[];
  readonly summary: string | undefined;
};

export const EMPTY_RESULT: ExtractionResult = { entities: [], claims: [], summary: undefined };

/** Members that only some claims use. */
export const PLAIN_CLAIM = {
  subjectEntityType: undefined,
  objectEntityType: undefined,
  condition: undefined,
  temporalRef: undefined,
  temporalIntent: undefined,
  replacesObject: undefined,
  scope: undefined,
  quantity: undefined,
  replacesMemory: undefined,
  replacesNodeId: undefined,
} as const;

const recordedForm = f.object({
  entities: f.list(entityForm),
  facts: f.list(factForm),
  relationships: f.list(relationshipForm),
  summary: f.nullable(f.text),
});
type Recorded = f.ValueOf<typeof recordedForm>;

/** The result as extraction records keep it: `{entities, facts, relationships, summary}`, null where there is nothing. */
export const resultForm: f.Form<ExtractionResult> = f.through(
  recordedForm,
  toRecorded,
  fromRecorded,
);

function toRecorded({ entities, claims, summary }: ExtractionResult): Recorded {
  return {
    entities,
    facts: claims.filter(({ kind }) => kind === "fact"),
    relationships: claims
      .filter(({ kind }) => kind === "relationship")
      .map((claim) => ({
        ...claim,
        sourceEntity: claim.subject,
        relationshipType: claim.predicate,
        targetEntity: claim.object,
        sourceEntityType: claim.subjectEntityType,
        targetEntityType: claim.objectEntityType,
      })),
    summary,
  };
}

function fromRecorded({ entities, facts, relationships, summary }: Recorded): ExtractionResult {
  return {
    entities,
    claims: [
      ...facts.map((fact) => ({ ...PLAIN_CLAIM, ...fact, kind: "fact" as const })),
      ...relationships.map((one) => {
        const { sourceEntity, relationshipType, targetEntity, ...rest } = one;
        const { sourceEntityType, targetEntityType, ...claim } = rest;
        return {
          ...{ ...PLAIN_CLAIM, ...claim, kind: "relationship" as const, factType: "fact" as const },
          ...{ subject: sourceEntity, predicate: relationshipType, object: targetEntity },
          ...{ subjectEntityType: sourceEntityType, objectEntityType: targetEntityType },
        };
      }),
    ],
    summary,
  };
}

/** Why a claim, an entity or a part of a claim is rejected. Counted under these names. */
const DROP_REASONS = [
  // Malformed.
  "malformed",
  "too_many",
  "duplicate",
  "foreign_turn",
  // Not in the text.
  "quote_not_in_text",
  "subject_not_in_text",
  "object_not_in_text",
  "entity_not_in_text",
  "reference_not_listed",
  "reference_ambiguous",
  // The text says less, or something else.
  "condition_hidden",
  "condition_not_in_text",
  "condition_misplaced",
  "uncertain",
  "not_decided",
  "not_done",
  "negation_lost",
  "negation_invented",
  "not_stated",
  // Said by another person, or by none.
  "other_person",
  "role_policy",
  "instruction_to_model",
] as const;
export type DropReason = (typeof DROP_REASONS)[number];

/** Why a part of a claim is dropped while the claim is kept. */
const REMOVED_PARTS = [
  "quantity_not_in_text",
  "temporal_ref_not_in_text",
  "replaced_value_not_in_text",
  "update_not_stated",
  "memory_not_shown",
  "condition_not_quoted",
] as const;
export type RemovedPart = (typeof REMOVED_PARTS)[number];

/** How often each reason occurred. Reasons that did not occur are absent. */
export type DropCounts = Readonly<Partial<Record<DropReason | RemovedPart, number>>>;

export class DropTally {
  readonly #counts = new Map<DropReason | RemovedPart, number>();

  add(reason: DropReason | RemovedPart, times = 1): void {
    if (times > 0) this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + times);
  }

  addAll(counts: DropCounts): void {
    for (const reason of [...DROP_REASONS, ...REMOVED_PARTS]) this.add(reason, counts[reason] ?? 0);
  }

  /** In the order of the catalogues, so that equal counts give equal JSON. */
  get counts(): DropCounts {
    const all = [...DROP_REASONS, ...REMOVED_PARTS];
    return Object.fromEntries(
      all.flatMap((reason) => {
        const times = this.#counts.get(reason);
        return times === undefined ? [] : [[reason, times]];
      }),
    );
  }
}

/** What a name of a claim refers to among the listed entities. */
export type Reference = "resolved" | "missing" | "ambiguous";

/** Whether exactly one listed identity (name and type) has this name. @param type narrows the search */
export function referenceOf(
  name: string,
  type: string | undefined,
  entities: readonly ExtractedEntity[],
): Reference {
  const identities = new Set(
    entities
      .filter((entity) => key(entity.name) === key(name))
      .filter(({ entityType }) => type === undefined || key(entityType) === key(type))
      .map(({ entityType }) => key(entityType)),
  );
  if (identities.size === 0) return "missing";
  return identities.size === 1 ? "resolved" : "ambiguous";
}

/** Why the names of a claim do not resolve to listed entities. Personal words need not be listed. */
export function referenceProblem(
  claim: ExtractedClaim,
  entities: readonly ExtractedEntity[],
): DropReason | undefined {
  const { subject, object, subjectEntityType, objectEntityType } = claim;
  const problem = endProblem(subject, subjectEntityType, entities);
  if (problem !== undefined) return problem;
  const reference = referenceOf(object, objectEntityType, entities);
  // The object of a fact is usually a value, and values are not listed.
  const isChecked =
    claim.kind === "relationship" || objectEntityType !== undefined || reference === "ambiguous";
  return isChecked ? endProblem(object, objectEntityType, entities) : undefined;
}

function endProblem(
  name: string,
  type: string | undefined,
  entities: readonly ExtractedEntity[],
): DropReason | undefined {
  const reference = referenceOf(name, type, entities);
  if (reference === "resolved") return undefined;
  if (reference === "ambiguous") return "reference_ambiguous";
  return isPersonal(name, type) ? undefined : "reference_not_listed";
}

function key(text: string): string {
  return text.trim().toLowerCase();
}
