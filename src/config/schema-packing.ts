import { REPRESENTATION_LEVELS } from "../domain/enums.ts";
import {
  ANCHOR_POLICIES,
  CONTEXT_FORMATS,
  GUIDANCE_MODES,
  MULTIPATH_ORDERINGS,
  SESSION_PACKINGS,
} from "../domain/records/packing.ts";
import {
  decimal,
  flag,
  integer,
  member,
  optionalDecimal,
  optionalInteger,
  optionalMember,
} from "./fields.ts";

const SHARE = { above: 0, max: 1 } as const;
const GROUPS = { min: 0, max: 1000 } as const;
const MEMBERS = { min: 1, max: 1000 } as const;

/** Accepted for configurations of similar programs; no value has any effect. */
export const IGNORED_PACKING = { chars_per_token: 4.2, cross_scope_token_budget: 512 } as const;

/** The context: its size, form and order. */
const CONTEXT = {
  token_budget: integer(
    { default: 4096, min: 0, max: 10_000_000 },
    "Tokens of a context when the caller names no budget; above 131072 it counts as that.",
  ),
  overhead_tokens: integer(
    { default: 100, min: 0, max: 1_000_000 },
    "Tokens of the budget reserved for the caller's own frame.",
  ),
  tokenizer: member(
    ["cl100k_base"],
    "cl100k_base",
    "The encoding in which tokens are counted. Texts of special tokens count as ordinary text.",
  ),
  min_fidelity: member(
    REPRESENTATION_LEVELS,
    "reference",
    "The shortest form in which a memory may enter a context.",
  ),
  context_format: member(
    CONTEXT_FORMATS,
    "reader",
    "How a memory is written. `reader`: one plain line. `auditable`: a JSON object with its id. `compact`: a JSON array with a short reference.",
  ),
  context_citations: flag(
    false,
    "Put a short reference such as `[m3]` before each line; needs `reader`.",
  ),
  context_guidance_mode: member(
    GUIDANCE_MODES,
    "temporal",
    "Tell the reader how to use the memories: `temporal` for questions about time, `all` also for questions about the present and for advice.",
  ),
  multipath_ordering: member(
    MULTIPATH_ORDERINGS,
    "balanced",
    "Order in which memories compete for the budget: by score, by score per token, or `balanced` between the two.",
  ),
  fold_repeated_text: flag(
    true,
    "`reader` only: leave out a memory whose text is part of another one from the same source.",
  ),
};

/** The searches: how many candidates each may find. */
const SEARCHES = {
  vector_k: optionalInteger(
    { default: undefined, min: 0, max: 4096 },
    "Candidates of the vector search; 0 turns it off. Unset: 50, and 300 with the fusions `relative` and `adaptive`.",
  ),
  lexical_k: optionalInteger(
    { default: undefined, min: 0, max: 10_000 },
    "Candidates of the text search; 0 turns it off. Unset: 50, and 300 with the fusions `relative` and `adaptive`.",
  ),
  graph_max_candidates: integer(
    { default: 50, min: 0, max: 10_000 },
    "Candidates of the walk from the entities of the question; 0 turns it off.",
  ),
  graph_max_hops: integer(
    { default: 3, min: 1, max: 3 },
    "Maximum edges that the walk follows from an entity.",
  ),
  aggregation_k_multiplier: decimal(
    { default: 3, min: 1, max: 1000 },
    "Factor on the three limits above when the question asks for a count or a complete list.",
  ),
  aggregation_k_max: integer(
    { default: 2000, min: 1, max: 4096 },
    "The maximum to which that factor raises a limit.",
  ),
  cross_scope_top_n: integer(
    { default: 5, min: 0, max: 1000 },
    "Hints from scopes that were not asked for, for embedded callers; 0: none.",
  ),
};

/** What is added to the candidates that were found. */
const EXPANSION = {
  session_context_window: integer(
    { default: 3, min: 0, max: 1000 },
    "Neighbours on either side that a found turn of a conversation brings in; 0: none.",
  ),
  session_context_top_k: integer(
    { default: 20, min: 0, max: 10_000 },
    "Number of best candidates that bring in their neighbours.",
  ),
  session_context_score_decay: decimal(
    { default: 0.85, ...SHARE },
    "Share of its trigger's score that a neighbour gets.",
  ),
  session_context_rank_fusion_score_decay: optionalDecimal(
    { default: 0.6, ...SHARE },
    "The same unless the fusion is `weighted`; unset: `packing.session_context_score_decay`.",
  ),
  session_context_packing: optionalMember(
    SESSION_PACKINGS,
    undefined,
    "`trigger_tier`: neighbours are packed as early as what brought them. `adjacent`: they also stand beside it.",
  ),
  episode_context_top_k: integer(
    { default: 0, ...GROUPS },
    "Conversations whose best memories are raised together; 0: none.",
  ),
  episode_context_local_k: integer(
    { default: 8, ...MEMBERS },
    "Memories raised per such conversation.",
  ),
  episode_context_score_decay: decimal(
    { default: 0.95, ...SHARE },
    "Share of the score that they get.",
  ),
  evidence_projection_top_k: integer(
    { default: 0, ...GROUPS },
    "Groups of memories of one source that the source replaces; 0: none. Excludes `packing.evidence_augmentation_top_k`.",
  ),
  evidence_projection_max_sources: integer(
    { default: 1, ...MEMBERS },
    "Sources that replace one group.",
  ),
  evidence_projection_score_decay: decimal(
    { default: 1, ...SHARE },
    "Share of the group's score that such a source gets.",
  ),
  evidence_augmentation_top_k: integer(
    { default: 0, ...GROUPS },
    "Groups of memories of one source that get the source added; 0: none. Excludes `packing.evidence_projection_top_k`.",
  ),
  evidence_augmentation_max_sources: integer(
    { default: 1, ...MEMBERS },
    "Sources that one group gets.",
  ),
  evidence_augmentation_score_decay: decimal(
    { default: 0.99, ...SHARE },
    "Share of the group's score that such a source gets.",
  ),
  evidence_augmentation_anchor_policy: member(
    ANCHOR_POLICIES,
    "all",
    "Which memories may lead a group: `all`, or all but entities.",
  ),
};

/** How many candidates there are and how they become a context. */
export const PACKING = {
  ...CONTEXT,
  ...SEARCHES,
  ...EXPANSION,
  chars_per_token: decimal(
    { default: IGNORED_PACKING.chars_per_token, above: 0 },
    "Accepted and ignored: tokens are counted. Another value gives a warning.",
  ),
  cross_scope_token_budget: integer(
    { default: IGNORED_PACKING.cross_scope_token_budget, min: 0 },
    "Accepted and ignored: hints are never packed. Another value gives a warning.",
  ),
};
