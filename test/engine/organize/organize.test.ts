import { describe, expect, test } from "bun:test";
import { openChecksummed } from "../../../src/domain/checksummed.ts";
import { SvcError } from "../../../src/domain/errors.ts";
import type { OrganizeInput } from "../../../src/engine/organize/api.ts";
import { useEngines } from "../engines.ts";
import { agingPacks, recordsOf, stateOf } from "./aging.ts";

const { open } = useEngines();

const aged = agingPacks(open);

async function refusal(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => "nothing",
    (error) => (error instanceof SvcError ? `${error.code} ${error.message}` : String(error)),
  );
}

describe("a run", () => {
  test("reports each job with its counts, and what is left of the budget", async () => {
    const one = await aged([{}, {}]);

    const result = await one.engine.organize({ jobs: ["promote"], budgetMs: 60_000 });

    expect(result).toMatchObject({
      jobsRun: ["promote"],
      jobsSkipped: [],
      skippedBecause: {},
      wouldChange: undefined,
    });
    expect(Object.keys(result.perJob)).toEqual(["promote"]);
    expect(result.perJob["promote"]).toMatchObject({
      job: "promote",
      nodesProcessed: 2,
      nodesModified: 2,
      errors: 0,
      details: {},
    });
    expect(result.budgetRemainingMs).toBeGreaterThan(0);
    expect(result.budgetRemainingMs).toBeLessThan(60_000);
  });

  test("without names runs every job in order but the global one", async () => {
    const one = await aged([]);

    const { jobsRun, jobsSkipped } = await one.engine.organize({ budgetMs: 60_000 });

    const [first] = jobsRun;
    expect(first).toBe("promote");
    expect(jobsRun).not.toContain("feedback_apply");
    // There is no language model.
    expect(jobsSkipped).toEqual(["summarize", "consolidate"]);
  });

  test("of an empty list runs nothing", async () => {
    const one = await aged([{}]);

    const result = await one.engine.organize({ jobs: [] });

    expect(result).toMatchObject({ jobsRun: [], jobsSkipped: [], perJob: {} });
  });

  test("runs a repeated name again, in the order given", async () => {
    const one = await aged([{}]);

    const { jobsRun, perJob } = await one.engine.organize({ jobs: ["promote", "promote"] });

    expect(jobsRun).toEqual(["promote", "promote"]);
    expect(perJob["promote"]).toMatchObject({ nodesProcessed: 0, nodesModified: 0 });
  });

  test("names what it does not know, and runs the others", async () => {
    const one = await aged([{}]);

    const jobs = ["centrality_boost", "promote", " promote", "__proto__"];
    const { jobsRun, jobsSkipped, skippedBecause } = await one.engine.organize({ jobs });

    expect(jobsRun).toEqual(["promote"]);
    const unknown = ["centrality_boost", " promote", "__proto__"];
    expect(jobsSkipped).toEqual(unknown);
    expect(Object.entries(skippedBecause)).toEqual(unknown.map((name) => [name, "unknown"]));
  });

  test.each([0, -5, Number.NEGATIVE_INFINITY])(
    "skips all jobs with a budget of %p",
    async (budgetMs) => {
      const one = await aged([{}]);

      const result = await one.engine.organize({ jobs: ["promote"], budgetMs });

      expect(result).toMatchObject({
        jobsRun: [],
        jobsSkipped: ["promote"],
        skippedBecause: { promote: "no_budget" },
        budgetRemainingMs: 0,
      });
      expect(await stateOf(one, one.ids[0])).toBe("tentative");
    },
  );

  test("skips a job that throws, reports it without its text, and runs the others", async () => {
    const one = await aged([{}], {
      alter: () => ({ walkAging: () => Promise.reject(new Error("secret")) }),
    });

    const result = await one.engine.organize({ jobs: ["promote"] });

    expect(result).toMatchObject({ jobsRun: [], skippedBecause: { promote: "Error" } });
    expect(one.warnings).toEqual(["organize: promote failed (Error)"]);
  });

  const REFUSED: readonly { name: string; input: object; text: string }[] = [
    { name: "a budget that is no number", input: { budgetMs: Number.NaN }, text: "budget_ms" },
    { name: "a budget as text", input: { budgetMs: "5000" }, text: "budget_ms" },
    { name: "names that are no list", input: { jobs: "promote" }, text: "jobs" },
    { name: "names that are no text", input: { jobs: [1] }, text: "jobs" },
    { name: "a blank owner", input: { userId: " " }, text: "user_id" },
    { name: "a dry run that is neither", input: { dryRun: "yes" }, text: "dry_run" },
  ];
  test.each(REFUSED)("refuses $name", async ({ input, text }) => {
    const one = await aged([{}]);

    // SAFETY: the point is an input that the types forbid.
    const message = await refusal(one.engine.organize(input as OrganizeInput));

    expect(message).toStartWith(`invalid_argument ${text}`);
  });

  test("of one owner leaves the memories of others alone", async () => {
    const one = await aged([{}, { userId: "bob" }]);

    await one.engine.organize({ userId: "bob", jobs: ["promote"] });

    expect(await stateOf(one, one.ids[0])).toBe("tentative");
    expect(await stateOf(one, one.ids[1])).toBe("stable");
  });

  test("finishes first what stores have left, and says so", async () => {
    const one = await aged([]);
    await one.engine.ingestFast({ content: "The kettle whistles", userId: "ada" });

    const first = await one.engine.organize({ jobs: [] });
    const second = await one.engine.organize({ jobs: [] });

    expect(first.perJob["materialization_drain"]).toMatchObject({
      nodesProcessed: 1,
      nodesModified: 1,
      details: { materialized: 1, debt_remaining: 0 },
    });
    expect(second.perJob).toEqual({});
  });
});

describe("a dry run", () => {
  test("lists what would change and changes nothing", async () => {
    const one = await aged([{}, { content: "Too young", userId: "bob" }]);
    const before = await one.engine.queryNodes({});

    const { wouldChange, perJob } = await one.engine.organize({
      userId: "ada",
      jobs: ["promote"],
      dryRun: true,
    });

    expect(wouldChange).toEqual({
      changes: [
        {
          job: "promote",
          operation: "LIFECYCLE_CHANGED",
          targetId: one.ids[0] ?? "",
          userId: "ada",
          content: "The parcel is at the gate",
          from: "tentative",
          to: "stable",
        },
      ],
      more: 0,
    });
    expect(perJob["promote"]).toMatchObject({ nodesModified: 1 });
    expect(await one.engine.queryNodes({})).toEqual(before);
  });

  test("leaves work that stores have left where it is", async () => {
    const one = await aged([]);
    await one.engine.ingestFast({ content: "The kettle whistles", userId: "ada" });

    const { perJob } = await one.engine.organize({ jobs: [], dryRun: true });

    expect(perJob["materialization_drain"]).toMatchObject({
      nodesModified: 0,
      details: { materialized: 0, debt_remaining: 1 },
    });
  });
});

describe("promote", () => {
  test("takes memories of the age of the setting and no younger ones, with a record each", async () => {
    const one = await aged([{}]);
    const young = await one.engine.storeWithReceipt({ content: "New", userId: "ada" });

    await one.engine.organize({ jobs: ["promote"] });

    expect(await stateOf(one, one.ids[0])).toBe("stable");
    expect(await stateOf(one, young.nodeId)).toBe("tentative");
    const [change] = await recordsOf(one, one.ids[0], "LIFECYCLE_CHANGED");
    expect(change?.actorId).toBe("system");
    expect(openChecksummed(change?.payload ?? {})).toMatchObject({
      version: 1,
      policy: "lifecycle_transitions_v1",
      action: "promote",
      organizer: { job: "promote", reason: "age_and_evidence" },
      before: { lifecycleState: "tentative" },
      after: { lifecycleState: "stable" },
    });
  });

  test("leaves the time of the last change, which ranking reads, as it is", async () => {
    const one = await aged([{}]);
    const before = await one.engine.getNode(one.ids[0] ?? "");

    await one.engine.organize({ jobs: ["promote"] });

    const after = await one.engine.getNode(one.ids[0] ?? "");
    expect(after).toEqual({ ...before, lifecycleState: "stable" } as typeof after);
  });

  test("leaves instructions that are not their owner's own, which a promotion would make so", async () => {
    const instruction = { nodeType: "instruction" } as const;
    const one = await aged([instruction, { ...instruction, role: "tool" }]);

    await one.engine.organize({ jobs: ["promote"] });

    expect(await stateOf(one, one.ids[0])).toBe("stable");
    expect(await stateOf(one, one.ids[1])).toBe("tentative");
  });

  test("leaves memories with too little evidence", async () => {
    const organizer = { ...(await open()).deps.settings.organizer, promotionEvidenceCount: 2 };
    const one = await aged([{}], { settings: { organizer } });

    const { perJob } = await one.engine.organize({ jobs: ["promote"] });

    expect(perJob["promote"]).toMatchObject({ nodesProcessed: 1, nodesModified: 0 });
    expect(await stateOf(one, one.ids[0])).toBe("tentative");
  });
});

describe("the end of a session", () => {
  test("promotes what is due of its owner", async () => {
    const one = await aged([{}, { userId: "bob" }]);

    const { jobsRun } = await one.engine.endSession("ada", "chat");

    expect(jobsRun).toEqual(["promote"]);
    expect(await stateOf(one, one.ids[0])).toBe("stable");
    expect(await stateOf(one, one.ids[1])).toBe("tentative");
  });

  test("needs an owner", async () => {
    const { engine } = await aged([]);

    expect(await refusal(engine.endSession(" "))).toStartWith("invalid_argument user_id");
  });
});
