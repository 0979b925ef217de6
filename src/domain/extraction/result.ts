import {
  type Form,
  list,
  member,
  nullable,
  object,
  omitted,
  text,
  through,
  unit,
  uuid,
} from "../../lib/form.ts";
import type { Uuid } from "../../lib/uuid.ts";

export const POLARITIES = ["positive", "negative", "unknown"] as const;
export type Polarity = (typeof POLARITIES)[number];

export const FACT_TYPES = ["fact", "decision", "preference"] as const;
export type FactType = (typeof FACT_TYPES)[number];

/** Kinds of knowledge that a text can express. */
export const STATED_TYPES = [
  "observed",
  "asserted",
  "inferred",
  "hypothetical",
  "conditional",
  "unverified",
] as const;
export type StatedType = (typeof STATED_TYPES)[number];

/** Somebody or something that a text names. */
export type ExtractedEntity = {
  /** As in the text. */
  readonly name: string;
  /** Free text, such as `person`. */
  readonly entityType: string;
  readonly description: string | undefined;
  readonly scope: string | undefined;
};

/** One exact amount, in the words of the text. */
export type ExtractedQuantity = {
  /** Decimal, in plain notation. */
  readonly value: string;
  readonly unit: string;
  readonly sourceText: string;
};

/** What a text states: a fact, or a relation between two entities. Both are checked by the same rules. */
export type ExtractedClaim = {
  readonly kind: "fact" | "relationship";
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  readonly subjectEntityType: string | undefined;
  readonly objectEntityType: string | undefined;
  /** `unknown` only from a custom provider. */
  readonly polarity: Polarity;
  /** Words of the text; after the checks, the paragraph that they stand in. Undefined: the whole text. */
  readonly evidenceQuote: string | undefined;
  /** The model's own estimate, 0 to 1. Kept, not used. */
  readonly confidence: number;
  readonly factType: FactType;
  readonly epistemicType: StatedType;
  /** Words of the text. */
  readonly condition: string | undefined;
  /** What the text says about time, in its words. */
  readonly temporalRef: string | undefined;
  /** Only `update` has an effect. */
  readonly temporalIntent: string | undefined;
  /** The value that an update replaces. */
  readonly replacesObject: string | undefined;
  readonly scope: string | undefined;
  readonly quantity: ExtractedQuantity | undefined;
  /** The label of an earlier memory that the text corrects; undefined once it is resolved. */
  readonly replacesMemory: string | undefined;
  /** That memory. */
  readonly replacesNodeId: Uuid | undefined;
};

/** What came out of one turn. */
export type ExtractionResult = {
  readonly entities: readonly ExtractedEntity[];
  /** Facts in their order, then relationships in theirs. */
  readonly claims: readonly ExtractedClaim[];
  readonly summary: string | undefined;
};

export const EMPTY_RESULT: ExtractionResult = { entities: [], claims: [], summary: undefined };

/** Members that only a part of the claims uses. */
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

type Fact = Omit<ExtractedClaim, "kind" | "replacesMemory">;
type Relationship = Pick<
  ExtractedClaim,
  "polarity" | "evidenceQuote" | "confidence" | "epistemicType" | "condition"
> & {
  readonly sourceEntity: string;
  readonly relationshipType: string;
  readonly targetEntity: string;
  readonly sourceEntityType: string | undefined;
  readonly targetEntityType: string | undefined;
};
type Recorded = {
  readonly entities: readonly ExtractedEntity[];
  readonly facts: readonly Fact[];
  readonly relationships: readonly Relationship[];
  readonly summary: string | undefined;
};

const recordedForm = object<Recorded>({
  entities: list(
    object<ExtractedEntity>({
      name: text,
      entityType: text,
      description: nullable(text),
      scope: nullable(text),
    }),
  ),
  facts: list(
    object<Fact>({
      subject: text,
      predicate: text,
      object: text,
      subjectEntityType: nullable(text),
      objectEntityType: nullable(text),
      polarity: member(POLARITIES),
      evidenceQuote: nullable(text),
      confidence: unit,
      factType: member(FACT_TYPES),
      epistemicType: member(STATED_TYPES),
      condition: nullable(text),
      temporalRef: nullable(text),
      temporalIntent: nullable(text),
      replacesObject: nullable(text),
      scope: nullable(text),
      quantity: nullable(object<ExtractedQuantity>({ value: text, unit: text, sourceText: text })),
      replacesNodeId: omitted(uuid),
    }),
  ),
  relationships: list(
    object<Relationship>({
      sourceEntity: text,
      relationshipType: text,
      targetEntity: text,
      sourceEntityType: nullable(text),
      targetEntityType: nullable(text),
      polarity: member(POLARITIES),
      evidenceQuote: nullable(text),
      confidence: unit,
      epistemicType: member(STATED_TYPES),
      condition: nullable(text),
    }),
  ),
  summary: nullable(text),
});

/** The result as extraction records keep it: `{entities, facts, relationships, summary}`, null where there is nothing. */
export const resultForm: Form<ExtractionResult> = through(recordedForm, toRecorded, fromRecorded);

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
      ...relationships.map((relationship) => ({
        ...PLAIN_CLAIM,
        kind: "relationship" as const,
        factType: "fact" as const,
        subject: relationship.sourceEntity,
        predicate: relationship.relationshipType,
        object: relationship.targetEntity,
        subjectEntityType: relationship.sourceEntityType,
        objectEntityType: relationship.targetEntityType,
        polarity: relationship.polarity,
        evidenceQuote: relationship.evidenceQuote,
        confidence: relationship.confidence,
        epistemicType: relationship.epistemicType,
        condition: relationship.condition,
      })),
    ],
    summary,
  };
}
