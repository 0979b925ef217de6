import { NODE_TYPES } from "../domain/enums.ts";
import { FADING_PROFILES } from "../domain/fading.ts";
import { decimal, flag, integer, mapInteger, mapOf, member } from "./fields.ts";

const SHARE = { min: 0, max: 1 } as const;
const COUNT = { min: 1, max: 1_000_000 } as const;
const DAYS = { min: 0, max: 1_000_000 } as const;

/** When the organizer does what. */
export const ORGANIZER_RULES = {
  default_organize_budget_ms: integer(
    { default: 5000, min: 0, max: 86_400_000 },
    "Milliseconds for a run of the organizer that names no budget.",
  ),
  promotion_age_days: decimal(
    { default: 7, ...DAYS },
    "Days after which a tentative memory becomes stable.",
  ),
  promotion_evidence_count: integer(
    { default: 1, min: 0, max: 1_000_000 },
    "Events that must support it by then.",
  ),
  fading: member(
    FADING_PROFILES,
    "own",
    "What decays: `own`: only summaries that the organizer wrote; `original`: every memory, and new ones have the specification's retention.",
  ),
  fade_after_days: mapOf(
    mapInteger({ min: 1, max: 1_000_000 }),
    { default: {}, bounds: `keys: ${NODE_TYPES.join(", ")}; values at least 1` },
    "Days after which a memory of a type is archived that was in no context and was not reinforced meanwhile; a type that is left out: never. Receipts must be kept that long.",
  ),
  archive_salience_threshold: decimal(
    { default: 0.1, ...SHARE },
    "A memory whose decayed salience is below this and whose decayed confidence is below `archive_confidence_threshold` is archived.",
  ),
  archive_confidence_threshold: decimal(
    { default: 0.4, ...SHARE },
    "The confidence of `archive_salience_threshold`.",
  ),
  force_archive_salience_threshold: decimal(
    { default: 0.05, ...SHARE },
    "A memory whose decayed salience is below this is archived, whatever its confidence.",
  ),
  deprecate_confidence_threshold: decimal(
    { default: 0.15, ...SHARE },
    "A memory whose decayed confidence is below this is archived; a contested one becomes deprecated.",
  ),
  dedup_similarity_threshold: decimal(
    { default: 0.92, ...SHARE },
    "Cosine from which two memories are compared as duplicates.",
  ),
  consolidation_min_cluster_size: integer(
    { default: 3, min: 2, max: 1_000_000 },
    "Similar memories from which a group is summed up.",
  ),
  consolidation_similarity_threshold: decimal(
    { default: 0.8, ...SHARE },
    "Cosine from which memories belong to one group.",
  ),
  consolidation_preserve_recent_days: integer(
    { default: 7, ...DAYS },
    "Days for which a memory of a group that was summed up stays active in any case.",
  ),
  consolidation_min_confidence_preserve: decimal(
    { default: 0.8, ...SHARE },
    "Confidence from which it stays active for ever.",
  ),
  summarization_daily_min_events: integer(
    { default: 5, ...COUNT },
    "Memories of a day from which the day gets a summary.",
  ),
  summarization_weekly_min_summaries: integer(
    { default: 3, ...COUNT },
    "Summaries of days from which a week gets one.",
  ),
  summarization_monthly_min_summaries: integer(
    { default: 2, ...COUNT },
    "Summaries of weeks from which a month gets one.",
  ),
  summarization_max_items_per_summary: integer(
    { default: 10, ...COUNT },
    "Sources that one summary quotes at most.",
  ),
  extractive_summaries: flag(
    false,
    "Let summaries of days, weeks, months and groups quote whole memories, without a language model. Off: the model of extraction chooses sentences; where there is none, no summaries are made.",
  ),
};
