import { invalid } from "./errors.ts";

/** The closed sets of the specification, in its order; wire values are these texts. */
export const NODE_TYPES = [
  "entity",
  "event",
  "fact",
  "decision",
  "preference",
  "task",
  "instruction",
  "summary",
  "note",
] as const;
export type NodeType = (typeof NODE_TYPES)[number];

export const EDGE_TYPES = [
  "relates_to",
  "supersedes",
  "derived_from",
  "mentions",
  "part_of",
  "caused_by",
  "supports",
  "contradicts",
  "has_fact",
] as const;
export type EdgeType = (typeof EDGE_TYPES)[number];

export const SCOPES = [
  "personal",
  "project",
  "organisation",
  "agent",
  "system",
  "sandbox",
] as const;
export type Scope = (typeof SCOPES)[number];

export const LIFECYCLE_STATES = [
  "tentative",
  "stable",
  "contested",
  "superseded",
  "deprecated",
  "archived",
] as const;
export type LifecycleState = (typeof LIFECYCLE_STATES)[number];

/** The states in which default queries and retrieval include a node. */
export const ACTIVE_STATES = [
  "tentative",
  "stable",
  "contested",
] as const satisfies LifecycleState[];

export const SOURCE_TYPES = [
  "user_stated",
  "user_demonstrated",
  "system_inferred",
  "external_document",
  "tool_output",
] as const;
export type SourceType = (typeof SOURCE_TYPES)[number];

export const EPISTEMIC_TYPES = [
  "observed",
  "asserted",
  "inferred",
  "hypothetical",
  "conditional",
  "deprecated",
  "unverified",
] as const;
export type EpistemicType = (typeof EPISTEMIC_TYPES)[number];

export const QUERY_INTENTS = [
  "semantic",
  "factual",
  "entity_lookup",
  "temporal",
  "relational",
] as const;
export type QueryIntent = (typeof QUERY_INTENTS)[number];

export const RETRIEVAL_MODES = ["default", "explicit"] as const;
export type RetrievalMode = (typeof RETRIEVAL_MODES)[number];

/** Highest fidelity first: packing tries them in this order. */
export const REPRESENTATION_LEVELS = [
  "full",
  "prose",
  "structured",
  "key_value",
  "reference",
] as const;
export type RepresentationLevel = (typeof REPRESENTATION_LEVELS)[number];

/** `human` is a synonym of `user` in every inference, but is stored as given. */
export const ROLES = ["user", "human", "participant", "assistant", "tool", "system"] as const;
export type Role = (typeof ROLES)[number];

export const DECAY_PROFILES = ["permanent", "slow", "medium", "fast", "rapid"] as const;
export type DecayProfile = (typeof DECAY_PROFILES)[number];

export const CONDITION_STATES = ["unknown", "true", "false", "expired"] as const;
export type ConditionState = (typeof CONDITION_STATES)[number];

/**
 * Reads a member of a closed set; case matters.
 * @throws SvcError invalid_argument naming the field, the value and the members.
 */
export function parseMember<T extends string>(
  members: readonly T[],
  value: unknown,
  field: string,
): T {
  const found = members.find((member) => member === value);
  if (found === undefined) {
    throw invalid(field, `${shown(value)} is not one of ${members.join(", ")}`);
  }
  return found;
}

/**
 * Reads a role, ignoring case.
 * @throws SvcError invalid_argument
 */
export function parseRole(value: unknown): Role {
  return parseMember(ROLES, typeof value === "string" ? value.toLowerCase() : value, "role");
}

function shown(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : plain(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

/** Any value as text; never calls the value's own conversion, which a caller may have overridden. */
function plain(value: unknown): string {
  if (typeof value === "object" && value !== null)
    return Array.isArray(value) ? "a list" : "an object";
  return typeof value === "function" ? "a function" : String(value);
}
