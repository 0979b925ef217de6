import { describe, expect, test } from "bun:test";
import type { Edge, MemoryNode } from "../../../src/domain/node.ts";
import type { AssertionQueryInput } from "../../../src/engine/aggregate/api.ts";
import type { Instant } from "../../../src/lib/instant.ts";
import type { Uuid } from "../../../src/lib/uuid.ts";
import { aNode, anEvent, at } from "../../contract/samples.ts";
import { useEngines } from "../engines.ts";
import { amount, fact, put } from "./claims-world.ts";

const { open } = useEngines();

/** Stores facts of `ada` with amounts: value, unit, words. */
function spending(...amounts: readonly (readonly [string, string, string])[]): MemoryNode[] {
  return amounts.map(([value, unit, text]) =>
    fact(["I", "spent", text], {}, amount(value, unit, text)),
  );
}

type Joined = readonly [from: Uuid | undefined, to: Uuid | undefined, noted: Instant];

function contradiction([from, to, createdAt]: Joined): Edge {
  const id = anEvent().id;
  const rest = { validTo: undefined, provenanceEventId: undefined, metadata: undefined };
  return {
    ...{
      id,
      userId: "ada",
      sourceId: from ?? id,
      targetId: to ?? id,
      edgeType: "contradicts" as const,
    },
    ...{ confidence: 1, validFrom: at(0), createdAt, ...rest },
  };
}

describe("aggregateAssertions", () => {
  test("counts what a direct store stated, however it was made", async () => {
    const { engine } = await open();
    const metadata = { subject: "I", predicate: "lives in", object: "Berlin" };
    const stored = await engine.storeWithReceipt({
      userId: "ada",
      content: "I live in Berlin",
      nodeType: "fact",
      metadata,
    });
    await engine.store({
      userId: "ben",
      content: "I live in Rome",
      nodeType: "fact",
      metadata: { ...metadata, object: "Rome" },
    });
    const found = await engine.aggregateAssertions({ userId: "ada", predicates: ["LIVES-IN"] });
    expect(found).toMatchObject({ scannedNodes: 1, matchedRecords: 1, distinctCount: 1 });
    expect(found.groups).toEqual([
      {
        values: { object: "Berlin" },
        normalizedValues: { object: "berlin" },
        occurrenceCount: 1,
        evidenceCount: 1,
        sampleNodeIds: [stored.nodeId],
        sampleEvidenceRefs: [stored.eventId],
        samplesTruncated: false,
        earliestEventTime: undefined,
        latestEventTime: undefined,
      },
    ]);
  });

  test("counts all groups and shows the first, over many pages", async () => {
    const { engine, store } = await open();
    // More groups than are held before they are thinned out, in an order that keeps bringing smaller ones.
    const facts = Array.from({ length: 3300 }, (_, index) => {
      const number = (index * 1237) % 1650;
      return fact(["I", "saw", `thing ${String(number).padStart(5, "0")}`]);
    });
    await put(store, facts);
    const found = await engine.aggregateAssertions({ userId: "ada", groupLimit: 3 });
    expect(found).toMatchObject({
      matchedRecords: 3300,
      distinctCount: 1650,
      groupsTruncated: true,
    });
    const shown = found.groups.map(({ values, occurrenceCount }) => [
      values.object,
      occurrenceCount,
    ]);
    expect(shown).toEqual([
      ["thing 00000", 2],
      ["thing 00001", 2],
      ["thing 00002", 2],
    ]);
    const none = await engine.aggregateAssertions({ userId: "ada", groupLimit: 0 });
    expect(none).toMatchObject({ distinctCount: 1650, groups: [], groupsTruncated: true });
    const all = await engine.aggregateAssertions({ userId: "ada", groupLimit: 1650 });
    expect(all.groups.length).toBe(1650);
    expect(all.groupsTruncated).toBe(false);
  });

  test("keeps tuples apart that look alike when they are joined", async () => {
    const { engine, store } = await open();
    await put(store, [fact(["a", "b", "c,d"]), fact(["a,b", "c", "d"]), fact(['a","b', "c", "d"])]);
    const groupBy = ["subject", "predicate", "object"] as const;
    const found = await engine.aggregateAssertions({ userId: "ada", groupBy });
    expect(found.distinctCount).toBe(3);
  });

  test("counts an event once, however many claims cite it", async () => {
    const { engine, store } = await open();
    const [one, two] = [anEvent().id, anEvent().id];
    await put(store, [
      fact(["I", "saw", "Rome"], { evidenceRefs: [two, one] }),
      fact(["I", "saw", "ROME"], { evidenceRefs: [one] }),
    ]);
    const { groups } = await engine.aggregateAssertions({ userId: "ada", sampleLimit: 1 });
    expect(groups).toMatchObject([
      { values: { object: "Rome" }, occurrenceCount: 2, evidenceCount: 2, samplesTruncated: true },
    ]);
    expect(groups[0]?.sampleEvidenceRefs).toEqual([one]);
  });

  describe("a filter", () => {
    const CLAIMS: readonly MemoryNode[] = [
      fact(["I", "lives_in", "Rome"], { eventTime: at(10), createdAt: at(1) }),
      fact(["I", "Lives in", "Oslo"], { scope: "project", createdAt: at(20) }),
      fact(["Ann", "lives_in", "Bonn"], { nodeType: "decision", eventTime: at(30) }),
      fact(["I", "likes", "Kyiv"], { validFrom: at(5), validTo: at(15), eventTime: at(20) }),
      fact(["I", "lives_in", "Lima"], {}, { polarity: "Negative" }),
      fact(["I", "lives_in", "Cork"], { lifecycleState: "archived" }),
      fact(["I", "lives_in", "Nice"], { epistemicType: "hypothetical" }),
      fact(["I", "lives_in", "Graz"], { epistemicType: "unverified", confidence: 0.3 }),
      fact(["I", "lives_in", "Ulm"], { epistemicType: "unverified", confidence: 0.31 }),
      aNode(anEvent(), { nodeType: "fact", metadata: { subject: "I", predicate: "lives_in" } }),
      fact(["I", "lives_in", "Wien"], { nodeType: "note" }),
      fact(["I", "lives_in", "Brno"], { lifecycleState: "contested" }),
    ];
    const USUAL = ["Bonn", "Brno", "Kyiv", "Oslo", "Rome", "Ulm"];

    test.each<[filter: Partial<AssertionQueryInput>, found: readonly string[], out?: object]>([
      [{}, USUAL, { missing_structured_assertion: 1, selector_mismatch: 1 }],
      [{ subjects: [" i "] }, ["Brno", "Kyiv", "Oslo", "Rome", "Ulm"], { selector_mismatch: 2 }],
      [{ predicates: ["LIVES-IN"] }, ["Bonn", "Brno", "Oslo", "Rome", "Ulm"]],
      [{ objects: ["ROME", "bonn"] }, ["Bonn", "Rome"], { selector_mismatch: 5 }],
      [{ polarities: ["NEGATIVE"] }, ["Lima"], { selector_mismatch: 6 }],
      [{ polarities: [] }, ["Bonn", "Brno", "Kyiv", "Lima", "Oslo", "Rome", "Ulm"]],
      [{ scopes: ["project"] }, ["Oslo"]],
      [{ nodeTypes: ["decision", "note"] }, ["Bonn", "Wien"]],
      [{ lifecycleStates: ["archived", "contested"] }, ["Brno", "Cork"]],
      [{ lifecycleStates: [] }, []],
      [{ retrievalMode: "explicit" }, [...USUAL, "Cork", "Graz", "Nice"].sort()],
      [
        { validAt: at(15) },
        ["Bonn", "Brno", "Oslo", "Rome", "Ulm"],
        { outside_validity_window: 1 },
      ],
      [{ validAt: at(4) }, ["Bonn", "Brno", "Oslo", "Rome", "Ulm"], { outside_validity_window: 1 }],
      [{ validAt: at(5) }, USUAL],
      [{ knowledgeAt: at(19) }, ["Bonn", "Brno", "Kyiv", "Rome", "Ulm"]],
      [{ knowledgeAt: at(20) }, USUAL],
      [
        { eventTimeFrom: at(10), eventTimeTo: at(20) },
        ["Kyiv", "Rome"],
        { missing_event_time: 5, after_event_time_window: 1 },
      ],
      [{ eventTimeFrom: at(20) }, ["Bonn", "Kyiv"], { before_event_time_window: 1 }],
    ])("%j counts what it names, and says why the rest is out", async (filter, found, out = {}) => {
      const { engine, store } = await open();
      await put(store, CLAIMS);
      const { groups, exclusions, scannedNodes, matchedRecords } = await engine.aggregateAssertions(
        {
          userId: "ada",
          ...filter,
        },
      );
      expect(groups.map(({ values }) => values.object)).toEqual([...found]);
      expect(exclusions).toMatchObject(out);
      expect(Object.keys(exclusions)).toEqual(Object.keys(exclusions).sort());
      const excluded = Object.values(exclusions).reduce((sum, count) => sum + count, 0);
      expect(excluded + matchedRecords).toBe(scannedNodes);
    });
  });

  test("groups have the first spelling, the first samples by id, and the span of their events", async () => {
    const { engine, store } = await open();
    const seen = (object: string, eventTime: Instant | undefined) =>
      fact(["I", "saw", object], { eventTime });
    const nodes = [seen("Rome", at(30)), seen("ROME", at(10)), seen(" rome", undefined)];
    await put(store, nodes);
    const { groups } = await engine.aggregateAssertions({ userId: "ada", sampleLimit: 2 });
    const ids = nodes.map(({ id }) => id).sort();
    const first = nodes.find(({ id }) => id === ids[0]);
    expect(groups).toMatchObject([
      {
        values: { object: first?.metadata?.["object"] },
        normalizedValues: { object: "rome" },
        occurrenceCount: 3,
        sampleNodeIds: ids.slice(0, 2),
        samplesTruncated: true,
        earliestEventTime: at(10),
        latestEventTime: at(30),
      },
    ]);
  });
});

describe("aggregateQuantities", () => {
  test("0.10 and 0.2 make 0.30", async () => {
    const { engine, store } = await open();
    await put(store, spending(["0.10", "$", "$0.10"], ["0.2", "$", "$0.2"]));
    const { groups } = await engine.aggregateQuantities({ userId: "ada" });
    expect(groups).toMatchObject([
      { values: { unit: "$" }, valueCount: 2, total: "0.30", minimum: "0.10", maximum: "0.2" },
    ]);
  });

  test("leaves out an amount that its claim or its source does not bear out", async () => {
    const { engine, store } = await open();
    const km = (object: string, given: Partial<MemoryNode>, stored = amount("5", "km", "5 km")) =>
      fact(["I", "ran", object], given, stored);
    await put(store, [
      km("5 km", {}),
      km("five", { content: "I ran 5 km" }),
      km("5 km", { content: "I ran about 5 km" }),
      km("5 km", { content: "I ran 5 km" }, amount("6", "km", "5 km")),
      km("5 km", { content: "I ran" }, { ...amount("5", "km", "5 km"), evidence_quote: "5 km" }),
      fact(["I", "ran", "5 km"]),
    ]);
    const { groups, exclusions } = await engine.aggregateQuantities({ userId: "ada" });
    expect(groups).toMatchObject([{ values: { unit: "km" }, valueCount: 2, total: "10" }]);
    expect(Object.values(exclusions)).toEqual([3, 1]);
  });

  test("of equal values the least and the greatest are written as the first was", async () => {
    const { engine, store } = await open();
    await put(
      store,
      spending(["2.50", "$", "$2.50"], ["2.5", "$", "$2.5"], ["2.500", "$", "$2.500"]),
    );
    const { groups } = await engine.aggregateQuantities({ userId: "ada" });
    expect(groups).toMatchObject([{ total: "7.500", minimum: "2.50", maximum: "2.50" }]);
  });

  test("keeps $ and USD apart, and takes other spellings of a unit together", async () => {
    const { engine, store } = await open();
    await put(
      store,
      spending(
        ["5", "USD", "5 USD"],
        ["7", "$", "$7"],
        ["1", "usd", "1 usd"],
        ["2", "Usd", "2 Usd"],
      ),
    );
    const { groups } = await engine.aggregateQuantities({ userId: "ada" });
    expect(groups.map((group) => [group.values.unit, group.total])).toEqual([
      ["$", "7"],
      ["USD", "8"],
    ]);
  });

  test("leaves no trace of floating point in sums that have no end in binary", async () => {
    const { engine, store } = await open();
    const values = Array.from({ length: 700 }, () => ["0.1", "km", "0.1 km"] as const);
    const huge = ["99999999999999999999", "km", "99999999999999999999 km"] as const;
    const tiny = ["0.0000000000000001", "km", "0.0000000000000001 km"] as const;
    await put(store, spending(...values, huge, tiny));
    const { groups } = await engine.aggregateQuantities({ userId: "ada" });
    expect(groups[0]?.total).toBe("100000000000000000069.0000000000000001");
    expect(groups[0]?.minimum).toBe("0.0000000000000001");
  });

  test("a prefix takes in the family of a predicate and nothing that only begins like it", async () => {
    const { engine, store } = await open();
    const raised = (predicate: string) => fact(["I", predicate, "$5"], {}, amount("5", "$", "$5"));
    await put(store, ["raised", "raised_for_cats", "fundraised", "raisedx", "gave"].map(raised));
    const sum = (predicatePrefixes: string[], predicates: string[] = []) =>
      engine.aggregateQuantities({ userId: "ada", predicatePrefixes, predicates });
    const family = await sum(["raised"]);
    expect(family.groups[0]?.total).toBe("10");
    expect(family.semanticEquivalence).toBe("normalized_exact_and_predicate_prefix");
    expect(family.exclusions).toEqual({ selector_mismatch: 3 });
    expect((await sum(["raised"], ["gave"])).groups[0]?.total).toBe("15");
    expect((await sum([], ["raised"])).semanticEquivalence).toBe("normalized_exact_only");
  });
});

describe("aggregateQuantitiesFromText", () => {
  test("answers a question with its plan and the sum", async () => {
    const { engine, store } = await open();
    await put(store, [
      ...spending(["12.50", "$", "$12.50"], ["7", "€", "7 €"]),
      fact(["I", "spent_on_books", "$2"], {}, amount("2", "$", "$2")),
      fact(["we", "spent", "$100"], {}, amount("100", "$", "$100")),
      fact(["I", "will_spend", "$100"], {}, amount("100", "$", "$100")),
      fact(["I", "spent", "$100"], {}, { ...amount("100", "$", "$100"), polarity: "negative" }),
    ]);
    const question = "How much did I spend?";
    const { plan, aggregation } = await engine.aggregateQuantitiesFromText({
      userId: "ada",
      question,
    });
    expect(plan).toEqual({
      schemaVersion: 1,
      question,
      status: "ready",
      reason: "matched_amount_question",
      action: "spend",
      query: aggregation?.query,
      assumptions: [
        "owner_bound",
        "first_person_subject_exact",
        "positive_default_epistemic",
        "predicate_token_prefix_family",
        "unit_groups_are_never_converted",
      ],
    });
    expect(aggregation?.query).toMatchObject({
      subjects: ["I"],
      predicatePrefixes: ["spend", "spent", "spending"],
      units: [],
      groupBy: ["unit"],
    });
    expect(aggregation?.groups.map((group) => [group.values.unit, group.total])).toEqual([
      ["$", "14.50"],
      ["€", "7"],
    ]);
    expect(aggregation?.exclusions).toEqual({ selector_mismatch: 3 });
  });

  test("a count takes in its unit only", async () => {
    const { engine, store } = await open();
    const ran = (value: string, unit: string) =>
      fact(["We", "ran", `${value} ${unit}`], {}, amount(value, unit, `${value} ${unit}`));
    await put(store, [ran("3", "miles"), ran("4", "Miles"), ran("5", "kilometers")]);
    const { aggregation } = await engine.aggregateQuantitiesFromText({
      userId: "ada",
      question: "how many MILES did we run",
    });
    expect(aggregation?.groups).toMatchObject([{ valueCount: 2, total: "7" }]);
    expect(aggregation?.exclusions).toEqual({ unit_mismatch: 1 });
  });

  test("a question that it does not know is answered without a scan", async () => {
    let scans = 0;
    const { engine } = await open({
      alter: () => ({
        scanNodes: () => {
          scans += 1;
          return Promise.resolve({ items: [], hasMore: false });
        },
      }),
    });
    const ask = (question: string) =>
      engine.aggregateQuantitiesFromText({ userId: "ada", question });
    expect(await ask("How much did I spend last year?")).toEqual({
      schemaVersion: 1,
      plan: {
        schemaVersion: 1,
        question: "How much did I spend last year?",
        status: "unsupported",
        reason: "unsupported_shape",
        action: undefined,
        query: undefined,
        assumptions: [],
      },
      aggregation: undefined,
    });
    expect(scans).toBe(0);
    expect((await ask("How much did I spend?")).aggregation?.scannedNodes).toBe(0);
    expect(scans).toBe(3);
  });
});

describe("getAssertionState", () => {
  const AT = { userId: "ada", subject: "i", predicate: "Lives in", scope: "personal" } as const;
  const home = (object: string, given: Partial<MemoryNode> = {}) =>
    fact(["I", "lives_in", object], given);

  test("a contradiction makes it contested until it is resolved", async () => {
    const { engine, store } = await open();
    const [rome, oslo] = [home("Rome"), home("Oslo")];
    await put(store, [rome, oslo]);
    const ask = () => engine.getAssertionState({ ...AT, validAt: at(1) });
    expect((await ask()).status).toBe("multiple");
    await engine.contradict(rome.id, oslo.id);
    const contested = await ask();
    expect(contested.status).toBe("contested");
    // The edge holds from when it was noted, which is later than the moment asked for.
    expect(contested.conflicts).toMatchObject([
      { sourceNodeId: oslo.id, targetNodeId: rome.id, activeBetweenCurrentCandidates: false },
    ]);
    const now = await engine.getAssertionState({ ...AT, validAt: "2999-01-01T00:00:00Z" });
    expect(now.conflicts).toMatchObject([{ activeBetweenCurrentCandidates: true }]);
    expect(contested.timeline.map((entry) => entry.contradictionNodeIds)).toEqual([
      [oslo.id],
      [rome.id],
    ]);
    await engine.resolveContradiction(oslo.id, rome.id);
    const resolved = await ask();
    expect(resolved.status).toBe("single");
    expect(resolved.currentValues).toMatchObject([{ object: "Oslo", candidateCount: 1 }]);
    expect(resolved.exclusions).toEqual({ lifecycle_not_active: 1 });
    expect(resolved.timeline[0]).toMatchObject({
      object: "Rome",
      currentCandidate: false,
      exclusionReasons: ["lifecycle_not_active:deprecated"],
    });
  });

  test("a contradiction counts between claims that hold then, as far as it was known", async () => {
    const { engine, store } = await open();
    const homes = [
      home("Rome", { createdAt: at(2) }),
      home("Oslo", { createdAt: at(1) }),
      home("Bonn", { validTo: at(1) }),
    ];
    await put(store, homes);
    const [rome, oslo, bonn] = homes.map(({ id }) => id);
    const edges = [
      [rome, bonn, at(3)],
      [bonn, oslo, at(4)],
      [rome, oslo, at(5)],
    ] as const;
    await store.change(
      { nodeIds: homes.map(({ id }) => id), auditRecordIds: [], eventIds: [] },
      () => ({
        change: { nodes: [], auditRecords: [], edges: edges.map(contradiction) },
        result: undefined,
      }),
    );
    const ask = (knowledgeAt: string, limit?: number) =>
      engine.getAssertionState({ ...AT, validAt: at(1), knowledgeAt, limit });
    const known = await ask(at(4));
    expect(known.conflicts.map((one) => one.activeBetweenCurrentCandidates)).toEqual([
      false,
      false,
    ]);
    expect(known.status).toBe("multiple");
    expect(known.timeline.map(({ object }) => object).slice(1)).toEqual(["Oslo", "Rome"]);
    const late = await ask(at(5), 1);
    expect(late).toMatchObject({ status: "contested", conflictCount: 3, conflictsTruncated: true });
    expect(late.conflicts).toMatchObject([
      { sourceNodeId: rome, activeBetweenCurrentCandidates: true },
    ]);
  });

  test("the newest claim is no truth: both homes are shown, each with its validity", async () => {
    const { engine, store } = await open();
    await put(store, [
      home("Rome", { validFrom: at(0), validTo: at(10) }),
      home("Oslo", { validFrom: at(10), createdAt: at(10), confidence: 0.6 }),
      home("Oslo", { validFrom: at(10), createdAt: at(11), confidence: 0.6 }),
    ]);
    const early = await engine.getAssertionState({ ...AT, validAt: at(9.999999) });
    expect(early).toMatchObject({ status: "single", currentCandidateCount: 1 });
    const late = await engine.getAssertionState({ ...AT, validAt: at(10) });
    expect(late).toMatchObject({ status: "consistent", currentCandidateCount: 2 });
    expect(late.currentCandidates.map(({ createdAt }) => createdAt)).toEqual([at(11), at(10)]);
    expect(late.timeline.map(({ object }) => object)).toEqual(["Rome", "Oslo", "Oslo"]);
    const known = await engine.getAssertionState({ ...AT, validAt: at(10), knowledgeAt: at(10) });
    expect(known).toMatchObject({
      status: "single",
      matchedRecords: 3,
      exclusions: { after_knowledge_cutoff: 1, outside_validity_window: 1 },
      historicalCoverage: { knowledgeAt: at(10), exactSnapshot: false },
    });
  });

  test("every reason against a claim is named, with its detail", async () => {
    const { engine, store } = await open();
    await put(store, [
      home("Rome", {
        validFrom: at(5),
        lifecycleState: "superseded",
        supersededBy: anEvent().id,
        epistemicType: "unverified",
        confidence: 0.2,
      }),
    ]);
    const state = await engine.getAssertionState({ ...AT, validAt: at(1) });
    expect(state.status).toBe("unknown");
    expect(state.timeline[0]?.exclusionReasons).toEqual([
      "outside_validity_window",
      "lifecycle_not_active:superseded",
      "superseded_pointer",
      "unverified_below_threshold:0.20<=0.30",
    ]);
    expect(state.exclusions).toEqual({
      lifecycle_not_active: 1,
      outside_validity_window: 1,
      superseded_pointer: 1,
      unverified_below_threshold: 1,
    });
  });

  test("lists are cut at the limit: candidates at their end, the timeline at its begin", async () => {
    const { engine, store } = await open();
    const homes = Array.from({ length: 1200 }, (_, index) =>
      home(`Town ${String(index).padStart(4, "0")}`, {
        validFrom: at((index * 7) % 1200),
        confidence: ((index * 11) % 1200) / 1200,
      }),
    );
    await put(store, homes);
    const state = await engine.getAssertionState({ ...AT, validAt: at(5000), limit: 2 });
    expect(state).toMatchObject({
      status: "multiple",
      currentCandidateCount: 1200,
      currentValuesTruncated: true,
      currentCandidatesTruncated: true,
      timelineTruncated: true,
      conflictsTruncated: false,
    });
    expect(state.currentValues.map(({ object }) => object)).toEqual(["Town 0000", "Town 0001"]);
    expect(state.currentCandidates.map(({ confidence }) => confidence)).toEqual([
      1199 / 1200,
      1198 / 1200,
    ]);
    expect(state.timeline.map(({ validFrom }) => validFrom)).toEqual([at(1198), at(1199)]);
  });

  test("a text that looks like another only to the eye is another subject", async () => {
    const { engine, store } = await open();
    await put(store, [home("Rome"), fact(["І", "lives_in", "Kyiv"])]);
    const state = await engine.getAssertionState({ ...AT, validAt: at(1) });
    expect(state.exclusions).toEqual({ selector_mismatch: 1 });
    expect(state).toMatchObject({ normalizedSubject: "i", normalizedPredicate: "lives_in" });
  });
});
