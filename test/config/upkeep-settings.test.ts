import { describe, expect, test } from "bun:test";
import { loadConfig } from "../../src/config/load.ts";
import { SvcError } from "../../src/domain/errors.ts";

type Environment = Readonly<Record<string, string>>;

const config = (environment: Environment = {}) =>
  loadConfig({ environment, folder: "/nonexistent" }).config;

function refused(environment: Environment): unknown {
  try {
    config(environment);
  } catch (error) {
    if (error instanceof SvcError) return error.message;
    throw error;
  }
  return undefined;
}

describe("what follows a store", () => {
  test("is off by default, and has the numbers of the product", () => {
    expect(config()).toMatchObject({
      enable_store_supersedence: false,
      reinforce_similarity_threshold: undefined,
      enable_qa_pairing: false,
    });
  });

  test("upkeep is on by default, once an hour and owner", () => {
    expect(config().organizer).toMatchObject({
      opportunistic_enabled: true,
      opportunistic_cooldown: 3600,
      opportunistic_budget_ms: 200,
      opportunistic_batch_size: 50,
    });
  });

  test("the organizer has the numbers of the product", () => {
    expect(config().organizer).toMatchObject({
      default_organize_budget_ms: 5000,
      promotion_age_days: 7,
      promotion_evidence_count: 1,
      archive_salience_threshold: 0.1,
      archive_confidence_threshold: 0.4,
      force_archive_salience_threshold: 0.05,
      deprecate_confidence_threshold: 0.15,
      dedup_similarity_threshold: 0.92,
      consolidation_min_cluster_size: 3,
      consolidation_similarity_threshold: 0.8,
      consolidation_preserve_recent_days: 7,
      consolidation_min_confidence_preserve: 0.8,
      summarization_daily_min_events: 5,
      summarization_weekly_min_summaries: 3,
      summarization_monthly_min_summaries: 2,
      summarization_max_items_per_summary: 10,
    });
  });

  test("may be unset, and written with one underscore in the group", () => {
    expect(config({ SVC_REINFORCE_SIMILARITY_THRESHOLD: "0.9" })).toMatchObject({
      reinforce_similarity_threshold: 0.9,
    });
    expect(config({ SVC_REINFORCE_SIMILARITY_THRESHOLD: "null" })).toMatchObject({
      reinforce_similarity_threshold: undefined,
    });
    expect(config({ SVC_ORGANIZER_OPPORTUNISTIC_ENABLED: "off" }).organizer).toMatchObject({
      opportunistic_enabled: false,
    });
  });

  test.each([
    ["SVC_REINFORCE_SIMILARITY_THRESHOLD", "1.5"],
    ["SVC_ENABLE_QA_PAIRING", "perhaps"],
    ["SVC_ORGANIZER__PROMOTION_AGE_DAYS", "-1"],
    ["SVC_ORGANIZER__CONSOLIDATION_MIN_CLUSTER_SIZE", "1"],
    ["SVC_ORGANIZER__DEDUP_SIMILARITY_THRESHOLD", "1.1"],
    ["SVC_ORGANIZER__OPPORTUNISTIC_BATCH_SIZE", "0"],
    ["SVC_ORGANIZER__OPPORTUNISTIC_COOLDOWN", "-1"],
    ["SVC_ORGANIZER__OPPORTUNISTIC_BUDGET_MS", "0.5"],
  ])("refuses %s=%s by name", (name, value) => {
    expect(refused({ [name]: value })).toContain(`${name}: expected`);
  });
});
