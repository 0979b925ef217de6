import * as f from "../../lib/form.ts";
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
const PACKING_REASONS = ["token_budget", "blank_text", "folded", "one_sided", "weak"] as const;

const notPacked = f.object({
  nodeId: f.uuid,
  reason: f.member(PACKING_REASONS),
  /** The record that contains its text; only for `folded`, if known. */
  foldedInto: f.nullable(f.uuid),
});
export type NotPacked = f.ValueOf<typeof notPacked>;

const filteredOut = f.object({ nodeId: f.uuid, reason: f.text });

const selectedOut = f.object({
  nodeId: f.uuid,
  reason: f.text,
  score: f.decimal,
  /** Absent under weighted fusion. */
  semanticRelevance: f.omitted(f.decimal),
});
/** A candidate excluded by selection. */
export type SelectedOut = f.ValueOf<typeof selectedOut>;

/** The index record stored with a receipt, in the same form. */
export const recordForm = f.object({
  intent: f.member(QUERY_INTENTS),
  /** The time that the question names, if any. */
  queryTimeFrom: f.nullable(f.instant),
  queryTimeTo: f.nullable(f.instant),
  candidatesGenerated: f.dictionary(f.count),
  candidatesFiltered: f.count,
  candidatesIncluded: f.count,
  backendsUsed: f.list(f.text),
  embeddingMismatch: f.flag,
  backendFailures: f.dictionary(f.text),
  reranker: f.nullable(f.member(OUTCOMES)),
  reformulation: f.nullable(f.member(OUTCOMES)),
  tokensUsed: f.count,
  scoringConfigVersion: f.text,
  crossScopeHintCount: f.count,
  /** How each candidate of the receipt was found, in its order. */
  paths: f.list(f.list(f.member(CANDIDATE_PATHS))),
  /** The records of the context, in context order. */
  context: f.list(f.object({ nodeId: f.uuid, section: f.member(SECTION_NAMES) })),
  /** All other candidates of the receipt, in rank order. */
  notPacked: f.list(notPacked),
  /** With the reason: for example `node_type_filtered:note`. */
  filteredOut: f.list(filteredOut),
  selectedOut: f.list(selectedOut),
  /** The requesting program. Absent: it did not name itself. */
  client: f.omitted(f.text),
  /** How long the answer took, in milliseconds; at most 2^32 - 1. Absent in receipts of earlier versions. */
  timingMs: f.omitted(f.count),
});

/** Further data on a retrieval, stored with its receipt. */
export type RetrievalRecord = f.ValueOf<typeof recordForm>;

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
  return f.shownAs(f.member(members), f.text);
}

/**
 * How many candidates there are and how they become a context, as recorded in a receipt. The settings have the same names in
 * `config/schema.ts`. Absent: settings that the receipt's version does not have.
 */
export const packingForm = f.object({
  multipathOrdering: word(MULTIPATH_ORDERINGS),
  contextGuidanceMode: word(GUIDANCE_MODES),
  contextFormat: word(CONTEXT_FORMATS),
  /** `[m3]` references in the reader format. */
  contextCitations: f.omitted(f.flag),
  tokenBudget: f.count,
  tokenizer: f.text,
  minFidelity: f.member(REPRESENTATION_LEVELS),
  /** Tokens of the budget reserved for the caller's own frame. */
  overheadTokens: f.count,
  /** For compatibility with other programs of this kind; not used, like `crossScopeTokenBudget`. */
  charsPerToken: f.decimal,
  /** Candidates of each search; 0 turns it off. */
  graphMaxCandidates: f.count,
  vectorK: f.count,
  lexicalK: f.count,
  /** 1 to 3. */
  graphMaxHops: f.count,
  /** Hints from other scopes; 0: none. */
  crossScopeTopN: f.count,
  crossScopeTokenBudget: f.count,
  /** Neighbours on either side; 0 turns session expansion off. */
  sessionContextWindow: f.count,
  /** Best candidates whose session neighbours are added. */
  sessionContextTopK: f.count,
  /** Share of the trigger's score that a neighbour inherits, 0 exclusive to 1. */
  sessionContextScoreDecay: f.decimal,
  /** The same under rank fusion, if set. */
  sessionContextRankFusionScoreDecay: f.omitted(f.decimal),
  sessionContextPacking: f.omitted(f.member(SESSION_PACKINGS)),
  /** Reader format: omits a record whose text another one with the same evidence contains. */
  foldRepeatedText: f.omitted(f.constant(true)),
  /** Candidate groups of one session whose best members are raised; 0: none. */
  episodeContextTopK: f.count,
  episodeContextLocalK: f.count,
  episodeContextScoreDecay: f.decimal,
  /** Groups with the same evidence that are replaced by their sources; 0: none. Excludes augmentation. */
  evidenceProjectionTopK: f.count,
  evidenceProjectionMaxSources: f.count,
  evidenceProjectionScoreDecay: f.decimal,
  /** Groups with the same evidence to which their sources are added; 0: none. */
  evidenceAugmentationTopK: f.count,
  evidenceAugmentationMaxSources: f.count,
  evidenceAugmentationScoreDecay: f.decimal,
  evidenceAugmentationAnchorPolicy: word(ANCHOR_POLICIES),
  /** Factor on search limits for count and list questions, and its bound. */
  aggregationKMultiplier: f.decimal,
  aggregationKMax: f.count,
});

/** Packing settings as they took effect. */
export type ReceiptPacking = f.ValueOf<typeof packingForm>;

export type PackingSettings = Omit<
  ReceiptPacking,
  "contextCitations" | "foldRepeatedText" | "tokenizer" | "charsPerToken" | "crossScopeTokenBudget"
> & {
  /** `[m3]` references in the reader format. */
  readonly contextCitations: boolean;
  /** Reader format: omits a record whose text another one with the same evidence contains. */
  readonly foldRepeatedText: boolean;
};
