import {
  constant,
  count,
  decimal,
  dictionary,
  flag,
  instant,
  list,
  member,
  nullable,
  object,
  omitted,
  shownAs,
  text,
  uuid,
  type ValueOf,
} from "../../lib/form.ts";
import { QUERY_INTENTS, REPRESENTATION_LEVELS } from "../enums.ts";

/** The ways in which a memory became a candidate, as named on the wire. */
export const CANDIDATE_PATHS = [
  "GRAPH",
  "VECTOR",
  "LEXICAL",
  "PINNED",
  "SESSION_CONTEXT",
  "EPISODE_CONTEXT",
  "EVIDENCE_CONTEXT",
] as const;
export type CandidatePath = (typeof CANDIDATE_PATHS)[number];

/** Every section of a context. */
export const SECTION_NAMES = [
  "entity_snapshots",
  "stable_facts",
  "recent_decisions",
  "active_tasks",
  "provenance_refs",
  "contested_claims",
  "system_instructions",
  "summaries",
] as const;
export type SectionName = (typeof SECTION_NAMES)[number];

/** The outcome of an opt-in stage. */
export const OUTCOMES = ["applied", "timeout", "failed"] as const;

/** Why a result is not in the context. */
const PACKING_REASONS = ["token_budget", "blank_text", "folded", "one_sided"] as const;

const notPacked = object({
  nodeId: uuid,
  reason: member(PACKING_REASONS),
  /** The record that contains its text; only for `folded`, if known. */
  foldedInto: nullable(uuid),
});
export type NotPacked = ValueOf<typeof notPacked>;

const filteredOut = object({ nodeId: uuid, reason: text });

const selectedOut = object({
  nodeId: uuid,
  reason: text,
  score: decimal,
  /** Absent under weighted fusion. */
  semanticRelevance: omitted(decimal),
});
/** A candidate excluded by selection. */
export type SelectedOut = ValueOf<typeof selectedOut>;

/** The index record stored with a receipt, in the same form. */
export const recordForm = object({
  intent: member(QUERY_INTENTS),
  /** The time that the question names, if any. */
  queryTimeFrom: nullable(instant),
  queryTimeTo: nullable(instant),
  candidatesGenerated: dictionary(count),
  candidatesFiltered: count,
  candidatesIncluded: count,
  backendsUsed: list(text),
  embeddingMismatch: flag,
  backendFailures: dictionary(text),
  reranker: nullable(member(OUTCOMES)),
  reformulation: nullable(member(OUTCOMES)),
  tokensUsed: count,
  scoringConfigVersion: text,
  crossScopeHintCount: count,
  /** How each candidate of the receipt was found, in its order. */
  paths: list(list(member(CANDIDATE_PATHS))),
  /** The records of the context, in context order. */
  context: list(object({ nodeId: uuid, section: member(SECTION_NAMES) })),
  /** All other candidates of the receipt, in rank order. */
  notPacked: list(notPacked),
  /** With the reason: for example `node_type_filtered:note`. */
  filteredOut: list(filteredOut),
  selectedOut: list(selectedOut),
  /** The requesting program. Absent: it did not name itself. */
  client: omitted(text),
  /** How long the answer took, in milliseconds; at most 2^32 - 1. Absent in receipts of earlier versions. */
  timingMs: omitted(count),
});

/** Further data on a retrieval, stored with its receipt. */
export type RetrievalRecord = ValueOf<typeof recordForm>;

export const CONTEXT_FORMATS = ["auditable", "compact", "reader"] as const;
export type ContextFormat = (typeof CONTEXT_FORMATS)[number];

export const GUIDANCE_MODES = ["off", "temporal", "all"] as const;
export type GuidanceMode = (typeof GUIDANCE_MODES)[number];

export const MULTIPATH_ORDERINGS = ["balanced", "score", "density"] as const;
export type MultipathOrdering = (typeof MULTIPATH_ORDERINGS)[number];

export const SESSION_PACKINGS = ["trigger_tier", "adjacent"] as const;
export const ANCHOR_POLICIES = ["all", "non_entity"] as const;

/** A member of a closed set, which documents describe as plain text. */
function word<const T extends string>(members: readonly T[]) {
  return shownAs(member(members), text);
}

/**
 * How many candidates there are and how they become a context, as recorded in a receipt. The settings have the same names in
 * `config/schema.ts`. Absent: settings that the receipt's version does not have.
 */
export const packingForm = object({
  multipathOrdering: word(MULTIPATH_ORDERINGS),
  contextGuidanceMode: word(GUIDANCE_MODES),
  contextFormat: word(CONTEXT_FORMATS),
  /** `[m3]` references in the reader format. */
  contextCitations: omitted(flag),
  tokenBudget: count,
  tokenizer: text,
  minFidelity: member(REPRESENTATION_LEVELS),
  /** Tokens of the budget reserved for the caller's own frame. */
  overheadTokens: count,
  /** For compatibility with other programs of this kind; not used, like `crossScopeTokenBudget`. */
  charsPerToken: decimal,
  /** Candidates of each search; 0 turns it off. */
  graphMaxCandidates: count,
  vectorK: count,
  lexicalK: count,
  /** 1 to 3. */
  graphMaxHops: count,
  /** Hints from other scopes; 0: none. */
  crossScopeTopN: count,
  crossScopeTokenBudget: count,
  /** Neighbours on either side; 0 turns session expansion off. */
  sessionContextWindow: count,
  /** Best candidates whose session neighbours are added. */
  sessionContextTopK: count,
  /** Share of the trigger's score that a neighbour inherits, 0 exclusive to 1. */
  sessionContextScoreDecay: decimal,
  /** The same under rank fusion, if set. */
  sessionContextRankFusionScoreDecay: omitted(decimal),
  sessionContextPacking: omitted(member(SESSION_PACKINGS)),
  /** Reader format: omits a record whose text another one with the same evidence contains. */
  foldRepeatedText: omitted(constant(true)),
  /** Candidate groups of one session whose best members are raised; 0: none. */
  episodeContextTopK: count,
  episodeContextLocalK: count,
  episodeContextScoreDecay: decimal,
  /** Groups with the same evidence that are replaced by their sources; 0: none. Excludes augmentation. */
  evidenceProjectionTopK: count,
  evidenceProjectionMaxSources: count,
  evidenceProjectionScoreDecay: decimal,
  /** Groups with the same evidence to which their sources are added; 0: none. */
  evidenceAugmentationTopK: count,
  evidenceAugmentationMaxSources: count,
  evidenceAugmentationScoreDecay: decimal,
  evidenceAugmentationAnchorPolicy: word(ANCHOR_POLICIES),
  /** Factor on search limits for count and list questions, and its bound. */
  aggregationKMultiplier: decimal,
  aggregationKMax: count,
});

/** Packing settings as they took effect. */
export type ReceiptPacking = ValueOf<typeof packingForm>;

export type PackingSettings = Omit<
  ReceiptPacking,
  "contextCitations" | "foldRepeatedText" | "tokenizer" | "charsPerToken" | "crossScopeTokenBudget"
> & {
  /** `[m3]` references in the reader format. */
  readonly contextCitations: boolean;
  /** Reader format: omits a record whose text another one with the same evidence contains. */
  readonly foldRepeatedText: boolean;
};
