import { describe, expect, test } from "bun:test";
import { openChecksummed } from "../../../src/domain/checksummed.ts";
import { SvcError } from "../../../src/domain/errors.ts";
import { scoringVersionId } from "../../../src/domain/scoring-version.ts";
import type { FeedbackInput, OrganizeInput } from "../../../src/engine/organize/api.ts";
import { asInstant } from "../../../src/lib/instant.ts";
import { freshId } from "../../contract/samples.ts";
import { seedInto } from "../../contract/sqlite-seed.ts";
import { DEFAULT_SETTINGS, type OpenedEngine, testClock, useEngines } from "../engines.ts";
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

/** Anna with a fact, two preferences of which one came later, a contested task, and a note. */
async function anna() {
  const clock = testClock();
  const one = await open({ clock });
  const store = async (content: string, nodeType: "entity" | "fact" | "preference" | "task") =>
    (await one.engine.storeWithReceipt({ content, userId: "ada", nodeType })).node;
  const entity = await store("Anna", "entity");
  const lives = await store("lives in Oslo", "fact");
  const tea = await store("prefers tea", "preference");
  const call = await store("call her", "task");
  const other = await store("do not call her", "task");
  clock.set("2026-04-01T00:00:00Z");
  const coffee = await store("prefers coffee", "preference");
  const link = (from: typeof entity, to: typeof entity) => ({
    id: freshId(),
    sourceId: from.id,
    targetId: to.id,
    edgeType: "has_fact" as const,
    userId: "ada",
    confidence: 1,
    validFrom: to.createdAt,
    validTo: undefined,
    provenanceEventId: undefined,
    metadata: undefined,
    createdAt: asInstant([to.createdAt, from.createdAt].sort().at(-1) ?? ""),
  });
  seedInto(one.pack).edges([
    link(lives, entity),
    ...[tea, call, coffee].map((node) => link(entity, node)),
  ]);
  await one.engine.contradict(call.id, other.id);
  return { ...one, entity, lives, tea, coffee };
}

const shown = async ({ engine }: OpenedEngine, id: string, atTime?: string) => {
  const found = await engine.snapshot(id, { userId: "ada", atTime });
  const texts = (nodes: readonly { readonly content: string }[]) =>
    nodes.map(({ content }) => content).sort();
  return {
    facts: texts(found.facts),
    preferences: texts(found.preferences),
    tasks: texts(found.tasks),
    out: found.relationships.map(({ sourceId }) => sourceId === id),
    text: found.summaryText,
  };
};

test("a snapshot has what stands one edge away from an entity, by type, contested claims left out", async () => {
  const one = await anna();

  expect(await shown(one, one.entity.id)).toEqual({
    facts: ["lives in Oslo"],
    preferences: ["prefers coffee", "prefers tea"],
    tasks: [],
    out: [true, true, true, false],
    text: expect.stringMatching(
      /^Anna \| Facts: lives in Oslo \| Preferences: prefers (tea; prefers coffee|coffee; prefers tea)$/,
    ),
  });
});

test("a snapshot of a moment leaves out what came later", async () => {
  const one = await anna();

  expect(await shown(one, one.entity.id, "2026-03-20T00:00:00Z")).toMatchObject({
    preferences: ["prefers tea"],
    out: [true, true, false],
  });
});

test("only an active entity of the owner has one", async () => {
  const one = await anna();
  const refused = (id: string, userId: string) =>
    one.engine.snapshot(id, { userId }).catch((error) => [error.code, error.data.field]);

  for (const [id, userId] of [
    [one.tea.id, "ada"],
    [one.entity.id, "bob"],
    ["x", "ada"],
  ] as const) {
    expect(await refused(id, userId)).toEqual(["invalid_argument", "entity_id"] as never);
  }
  await one.engine.archive(one.entity.id);
  expect(await refused(one.entity.id, "ada")).toEqual(["invalid_argument", "entity_id"] as never);
});

test("snapshot_generation counts the entities of which one can be made, and stores nothing", async () => {
  const one = await anna();
  const before = await one.engine.stats("ada");

  const { perJob } = await one.engine.organize({ jobs: ["snapshot_generation"] });

  expect(perJob["snapshot_generation"]).toMatchObject({
    nodesProcessed: 1,
    nodesModified: 1,
    errors: 0,
    details: { note: expect.any(String) },
  });
  expect(await one.engine.stats("ada")).toEqual(before);
});
