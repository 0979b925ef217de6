import {
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
  text,
  uuid,
} from "../../lib/form.ts";
import type { ValueOf } from "../../lib/view.ts";
import { QUERY_INTENTS } from "../enums.ts";

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

/** What became of an opt-in stage. */
export const OUTCOMES = ["applied", "timeout", "failed"] as const;

/** Why a result is not in the context. */
export const PACKING_REASONS = ["token_budget", "blank_text", "folded", "one_sided"] as const;

const notPacked = object({
  nodeId: uuid,
  reason: member(PACKING_REASONS),
  /** The record in whose text it stands already; only for `folded`, where it is known. */
  foldedInto: nullable(uuid),
});
export type NotPacked = ValueOf<typeof notPacked>;

const filteredOut = object({ nodeId: uuid, reason: text });
/** A candidate that a filter left out. */
export type FilteredOut = ValueOf<typeof filteredOut>;

const selectedOut = object({
  nodeId: uuid,
  reason: text,
  score: decimal,
  /** Absent under weighted fusion. */
  semanticRelevance: omitted(decimal),
});
/** A candidate that selection left out. */
export type SelectedOut = ValueOf<typeof selectedOut>;

/** What stands beside a receipt, in the same form. */
export const recordForm = object({
  intent: member(QUERY_INTENTS),
  /** The time that the question speaks of, where it names one. */
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
  /** The records of the context in the order in which they stand in it. */
  context: list(object({ nodeId: uuid, section: member(SECTION_NAMES) })),
  /** All other candidates of the receipt, in rank order. */
  notPacked: list(notPacked),
  /** With the reason: for example `node_type_filtered:note`. */
  filteredOut: list(filteredOut),
  selectedOut: list(selectedOut),
  /** The program that asked. Absent: it did not say. */
  client: omitted(text),
  /** How long the answer took, in milliseconds; at most 2^32 - 1. Absent: an earlier version wrote the receipt. */
  timingMs: omitted(count),
});

/** What else is known of a retrieval and stored beside its receipt. */
export type RetrievalRecord = ValueOf<typeof recordForm>;
