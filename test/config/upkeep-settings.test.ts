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
