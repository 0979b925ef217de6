import { describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import { scoringVersionId } from "../../../src/domain/scoring-version.ts";
import type { FeedbackInput } from "../../../src/engine/organize/api.ts";
import { DEFAULT_SETTINGS, type OpenedEngine, testClock, useEngines } from "../engines.ts";

const { open } = useEngines();

const scoring = {
  ...DEFAULT_SETTINGS.scoring,
  fusion: { kind: "weighted", recencyTime: undefined } as const,
};
const WEIGHTED = { scoring, scoringVersion: scoringVersionId(scoring) };
const USED: FeedbackInput = { query: "tea?", signalType: "used" };

const apply = async ({ engine }: OpenedEngine, dryRun = false) =>
  (await engine.organize({ jobs: ["feedback_apply"], dryRun })).perJob["feedback_apply"];

describe("feedback_apply", () => {
  test("without signals says so", async () => {
    expect(await apply(await open({ settings: WEIGHTED }))).toMatchObject({
      nodesProcessed: 0,
      nodesModified: 0,
      details: { status: "no_signals", scope: "global", retrieval_quality: 1 },
    });
  });

  test("with rank fusion keeps the signals", async () => {
    const one = await open();
    await one.engine.feedback(USED);

    for (const _ of [1, 2]) {
      expect(await apply(one)).toMatchObject({
        nodesProcessed: 1,
        nodesModified: 0,
        details: { status: "not_applicable" },
      });
    }
  });

  test("with weighted fusion changes the weights of later answers, once", async () => {
    const one = await open({ settings: WEIGHTED });
    await one.engine.store({ content: "Ada drinks tea", userId: "ada" });
    const versionOf = async () =>
      (await one.engine.retrieve({ query: "tea", userId: "ada" })).metadata.scoringConfigVersion;
    const before = await versionOf();
    await one.engine.feedback(USED);
    await one.engine.feedback({ ...USED, signalType: "corrected", correctionContent: "coffee" });

    const dry = await apply(one, true);
    const unchanged = await versionOf();
    const done = await apply(one);

    const after = await versionOf();
    expect(dry).toMatchObject({ nodesModified: 1 });
    expect(unchanged).toBe(before);
    expect(after).not.toBe(before);
    expect(done).toMatchObject({
      nodesProcessed: 2,
      nodesModified: 1,
      details: {
        status: "applied",
        scope: "global",
        signals_processed: 2,
        old_weight_version: before,
        new_weight_version: after,
        weights_changed: true,
      },
    });
    expect(await apply(one)).toMatchObject({ details: { status: "no_signals" } });
  });

  test("leaves out signals older than 30 days", async () => {
    const clock = testClock();
    const one = await open({ clock, settings: WEIGHTED });
    await one.engine.feedback({ ...USED, timestamp: "2026-02-15T00:00:00Z" });
    await one.engine.feedback({ ...USED, timestamp: "2026-02-17T00:00:00Z" });

    expect(await apply(one)).toMatchObject({ nodesProcessed: 1 });
  });

  test("runs only when it is named, and never for one owner", async () => {
    const { engine } = await open();

    const { jobsRun } = await engine.organize({ budgetMs: 60_000 });
    const named = engine.organize({ userId: "ada", jobs: ["promote", "feedback_apply"] });

    expect(jobsRun).not.toContain("feedback_apply");
    expect(await named.catch((error) => error)).toBeInstanceOf(SvcError);
  });
});

test.each([
  { name: "an unknown kind", input: { ...USED, signalType: "loved" }, field: "signal_type" },
  { name: "a blank question", input: { ...USED, query: " " }, field: "query" },
  { name: "no ids", input: { ...USED, surfacedNodeIds: ["x"] }, field: "surfaced_node_ids" },
  { name: "a naive moment", input: { ...USED, timestamp: "2026-02-15" }, field: "timestamp" },
])("a signal with $name is refused", async ({ input, field }) => {
  const { engine } = await open();

  // SAFETY: the point is an input that the types forbid.
  const error = await engine.feedback(input as FeedbackInput).catch((thrown) => thrown);

  expect([error.code, error.data.field]).toEqual(["invalid_argument", field]);
});
