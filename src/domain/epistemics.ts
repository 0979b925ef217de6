import type { JsonObject } from "../lib/json.ts";
import { normaliseText } from "../lib/text.ts";
import {
  CONDITION_STATES,
  type ConditionState,
  type DecayProfile,
  type EpistemicType,
  type NodeType,
  type Role,
  type SourceType,
} from "./enums.ts";
import type { MemoryNode } from "./node.ts";

/** The weight of a memory of each kind in ranking, 0 to 1. */
export const EPISTEMIC_WEIGHTS: Readonly<Record<EpistemicType, number>> = {
  observed: 1.0,
  asserted: 0.9,
  inferred: 0.7,
  hypothetical: 0.3,
  conditional: 0.5,
  deprecated: 0.1,
  unverified: 0.5,
};

/** Initial confidence, 0 to 1, by kind of knowledge and source. A missing cell has no documented value. */
const CONFIDENCE_MATRIX: Readonly<
  Record<EpistemicType, Readonly<Partial<Record<SourceType, number>>>>
> = {
  observed: {
    user_stated: 0.9,
    user_demonstrated: 0.85,
    system_inferred: 0.7,
    external_document: 0.75,
    tool_output: 0.8,
  },
  asserted: {
    user_stated: 0.8,
    user_demonstrated: 0.75,
    system_inferred: 0.6,
    external_document: 0.65,
    tool_output: 0.7,
  },
  inferred: {
    user_demonstrated: 0.6,
    system_inferred: 0.55,
    external_document: 0.5,
    tool_output: 0.55,
  },
  hypothetical: { user_stated: 0.35, system_inferred: 0.25, external_document: 0.3 },
  conditional: {
    user_stated: 0.45,
    system_inferred: 0.3,
    external_document: 0.35,
    tool_output: 0.4,
  },
  unverified: { system_inferred: 0.2, external_document: 0.25, tool_output: 0.3 },
  deprecated: {},
};

const UNLISTED_CONFIDENCE = 0.5;
/** The lowest initial confidence of an instruction whose confidence comes from the matrix. */
const INSTRUCTION_FLOOR = 0.7;

/** Replacement values of the matrix, keyed `epistemic:source`, each 0 to 1. */
export type ConfidenceOverrides = Readonly<Record<string, number>>;

/** The matrix value of a pair, overrides first; `listed` is false if neither has the pair. */
export function matrixConfidence(
  epistemic: EpistemicType,
  source: SourceType,
  overrides: ConfidenceOverrides,
): { readonly value: number; readonly listed: boolean } {
  const value = overrides[`${epistemic}:${source}`] ?? CONFIDENCE_MATRIX[epistemic][source];
  return value === undefined
    ? { value: UNLISTED_CONFIDENCE, listed: false }
    : { value, listed: true };
}

/** Initial confidence of a new node: as given, else from the matrix; for instructions the matrix value is raised to at least 0.70. */
export function initialConfidence(
  input: {
    readonly nodeType: NodeType;
    readonly epistemicType: EpistemicType;
    readonly sourceType: SourceType;
    readonly given: number | undefined;
  },
  overrides: ConfidenceOverrides,
): number {
  const matrix = matrixConfidence(input.epistemicType, input.sourceType, overrides).value;
  const value = input.given ?? matrix;
  return input.nodeType === "instruction" && value === matrix
    ? Math.max(value, INSTRUCTION_FLOOR)
    : value;
}

/** The default kind of knowledge of a direct store. */
export function inferEpistemicType(role: Role, nodeType: NodeType): EpistemicType {
  if (role === "assistant" || role === "system") return "inferred";
  if (nodeType === "summary") return "inferred";
  return nodeType === "event" || nodeType === "instruction" ? "observed" : "asserted";
}

/** The default source of a direct store. */
export function inferSourceType(role: Role): SourceType {
  if (role === "assistant" || role === "system") return "system_inferred";
  return role === "tool" ? "tool_output" : "user_stated";
}

const DECAY_BY_EPISTEMIC: Readonly<Record<EpistemicType, DecayProfile>> = {
  observed: "slow",
  asserted: "medium",
  inferred: "fast",
  hypothetical: "rapid",
  conditional: "medium",
  deprecated: "permanent",
  unverified: "rapid",
};

export function initialDecayProfile(nodeType: NodeType, epistemic: EpistemicType): DecayProfile {
  return nodeType === "instruction" ? "slow" : DECAY_BY_EPISTEMIC[epistemic];
}

/** The state of a conditional memory's condition; anything unreadable counts as `unknown`. */
export function conditionState(node: MemoryNode): ConditionState {
  const stored = node.metadata?.["condition_state"];
  return CONDITION_STATES.find((state) => state === stored) ?? "unknown";
}

/** The weight of a memory in ranking; for a conditional one, its condition's state decides. */
export function epistemicWeight(
  node: MemoryNode,
  weights: Readonly<Partial<Record<EpistemicType, number>>>,
): number {
  const unlisted = 0.7;
  return weights[effectiveEpistemicType(node)] ?? unlisted;
}

function effectiveEpistemicType(node: MemoryNode): EpistemicType {
  if (node.epistemicType !== "conditional") return node.epistemicType;
  const state = conditionState(node);
  if (state === "true") return "asserted";
  return state === "unknown" ? "hypothetical" : "deprecated";
}

type EpistemicLimits = {
  /** Unverified memories with less confidence are excluded, 0 to 1. */
  readonly unverifiedThreshold: number;
  readonly excludesThreshold: boolean;
};

/** Why a memory is excluded from the default mode: `reason:detail`. Undefined if it is not. Uses stored values, without decay. */
export function epistemicExclusion(node: MemoryNode, limits: EpistemicLimits): string | undefined {
  switch (node.epistemicType) {
    case "conditional": {
      const state = conditionState(node);
      return state === "true" ? undefined : `condition_filtered:${state}`;
    }
    case "hypothetical":
    case "deprecated":
      return `epistemic_filtered:${node.epistemicType}`;
    case "unverified": {
      const { confidence } = node;
      const { unverifiedThreshold: threshold, excludesThreshold } = limits;
      const isLow = excludesThreshold ? confidence <= threshold : confidence < threshold;
      return isLow
        ? `unverified_below_threshold:${confidence.toFixed(2)}<=${threshold.toFixed(2)}`
        : undefined;
    }
    default:
      return undefined;
  }
}

/** The parts of a claim, trimmed, as written in the metadata. None is blank. */
export type Claim = {
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  /** `positive` if the metadata has none. */
  readonly polarity: string;
};

/** The polarity of a claim that states none. */
export const POSITIVE = "positive";

/** The claim in a memory's metadata; undefined if a part is missing, blank or not text. */
export function readClaim(metadata: JsonObject | undefined): Claim | undefined {
  if (metadata === undefined) return undefined;
  const subject = textOf(metadata["subject"]);
  const predicate = textOf(metadata["predicate"]);
  const object = textOf(metadata["object"]);
  const polarity = textOf(metadata["polarity"] ?? POSITIVE);
  if (subject === undefined || predicate === undefined) return undefined;
  return object === undefined || polarity === undefined
    ? undefined
    : { subject, predicate, object, polarity };
}

/** Trimmed text; undefined if nothing is left, or the value is not text. */
function textOf(value: JsonObject[string] | undefined): string | undefined {
  const text = typeof value === "string" ? value.trim() : "";
  return text === "" ? undefined : text;
}

/** A predicate for comparison: `Works at`, `works-at` and `works_at` are the same. */
export function normalisePredicate(text: string): string {
  return normaliseText(text).replace(/[\s-]+/g, "_");
}

export function normaliseClaim(claim: Claim): Claim {
  return {
    subject: normaliseText(claim.subject),
    predicate: normalisePredicate(claim.predicate),
    object: normaliseText(claim.object),
    polarity: normaliseText(claim.polarity),
  };
}
