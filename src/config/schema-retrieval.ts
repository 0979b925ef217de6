import { z } from "zod";
import { EPISTEMIC_WEIGHTS } from "../domain/epistemics.ts";
import {
  decimal,
  flag,
  integer,
  listOf,
  mapNumber,
  mapObject,
  mapOf,
  member,
  optionalInteger,
  text,
} from "./fields.ts";
import { SCORING } from "./schema-scoring.ts";

/** The share of the previous score that the reranker's policy `legacy` requires. */
export const LEGACY_PRIOR_WEIGHT = 0.3;

/** Settings of retrieval without a group. */
export const RETRIEVAL_SETTINGS = {
  epistemic_weights: mapOf(
    mapNumber({ min: 0 }),
    { default: EPISTEMIC_WEIGHTS, bounds: "keys: epistemic types; values at least 0" },
    "Weight in ranking by kind of knowledge; 0.7 for kinds that are left out.",
  ),
  unverified_confidence_threshold: decimal(
    { default: 0.3, min: 0, max: 1 },
    "Unverified memories with less confidence are left out by default.",
  ),
  namespace_weights: mapOf(
    mapObject(z.strictObject(SCORING)),
    { default: {}, bounds: "values: objects of `scoring` settings" },
    "Accepted and checked, without effect.",
  ),
  query_intent_order: member(
    ["entity_first", "temporal_first"],
    "entity_first",
    "How a question about both a name and a time is classified.",
  ),
  newer_first: flag(
    true,
    "Put a memory before an older one that it makes outdated, and mark the older one as `older than` it.",
  ),
  temporal_languages: listOf(
    z
      .string()
      .trim()
      .toLowerCase()
      .regex(/^[a-z]{2}$/),
    { default: ["en"], bounds: "two-letter language codes" },
    "Languages in which dates in questions are read, besides the question's own; empty: all supported ones.",
  ),
  enable_reranker: flag(
    false,
    "Let a local model read the best candidates again, together with the question.",
  ),
  reranker_model: text("cross-encoder/ms-marco-MiniLM-L-6-v2", "The model that reads them."),
  reranker_top_k: integer(
    { default: 100, min: 0, max: 1000 },
    "Best candidates that it reads; 0 changes nothing.",
  ),
  reranker_policy: member(
    ["legacy", "score_envelope", "anchored_score_envelope"],
    "legacy",
    "`legacy`: its scores are blended in. `score_envelope`: it decides the order, the set of scores stays the same. `anchored_score_envelope`: the same, with the previously best candidate first.",
  ),
  reranker_prior_weight: decimal(
    { default: LEGACY_PRIOR_WEIGHT, min: 0, max: 1 },
    "Share of the previous score in the new one. With the reranker on and the policy `legacy` it must be 0.3.",
  ),
  reranker_timeout_ms: integer(
    { default: 10_000, min: 1, max: 600_000 },
    "Milliseconds after which the previous order stays and the answer says so.",
  ),
  enable_query_reformulation: flag(
    false,
    "Let a language model reword the question and search for those wordings too. Needs the model of the group `extraction`.",
  ),
  query_reformulation_count: integer(
    { default: 2, min: 1, max: 5 },
    "Number of other wordings to request.",
  ),
  query_reformulation_merge_policy: member(
    ["new_only", "max_signals"],
    "new_only",
    "`new_only`: other wordings add candidates. `max_signals`: they also raise the signals of candidates found already.",
  ),
};

/** Records of retrievals. */
export const RECEIPTS = {
  retention_days: optionalInteger(
    { default: 365, min: 0, max: 1_000_000 },
    "Days that the receipt of a retrieval is kept; 0: none is written; unset: for ever. Citations can only name a retrieval whose receipt is there.",
  ),
};
