import { describe, expect, test } from "bun:test";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import { at } from "../../contract/samples.ts";
import { expectInvalid, useEngines, useOneEngine } from "../engines.ts";
import { fact, put } from "./claims-world.ts";

const { open } = useEngines();
const refusing = useOneEngine();

/** Calls with inputs that no type allows. */
type Call = (engine: MemoryEngine, input: Readonly<Record<string, unknown>>) => Promise<unknown>;
const asInput = (input: unknown): never => input as never;

const FILTERED: readonly (readonly [name: string, call: Call])[] = [
  ["aggregateAssertions", (engine, input) => engine.aggregateAssertions(asInput(input))],
  ["aggregateQuantities", (engine, input) => engine.aggregateQuantities(asInput(input))],
];
const STATE = { userId: "ada", subject: "I", predicate: "ran", scope: "personal", validAt: at(1) };

describe.each(FILTERED)("%s refuses", (_, call) => {
  test.each<[field: string, input: Readonly<Record<string, unknown>>]>([
    ["user_id", { userId: undefined }],
    ["user_id", { userId: " " }],
    ["subject", { subject: "I" }],
    ["subjects", { subjects: null }],
    ["subjects", { subjects: "I" }],
    ["subjects[1]", { subjects: ["I", " "] }],
    ["subjects[0]", { subjects: [5] }],
    ["predicates", { predicates: null }],
    ["objects", { objects: { 0: "x" } }],
    ["polarities", { polarities: "positive" }],
    ["polarities[0]", { polarities: [""] }],
    ["group_by", { groupBy: null }],
    ["group_by", { groupBy: "object" }],
    ["group_by", { groupBy: [] }],
    ["group_by[0]", { groupBy: ["Object"] }],
    ["group_by", { groupBy: ["unit", "object", "object"].slice(1) }],
    ["scopes", { scopes: null }],
    ["scopes[0]", { scopes: ["private"] }],
    ["scopes", { scopes: ["personal", "personal"] }],
    ["node_types", { nodeTypes: [] }],
    ["node_types", { nodeTypes: null }],
    ["node_types", { nodeTypes: ["fact", "note", "fact"] }],
    ["node_types[0]", { nodeTypes: ["claim"] }],
    ["lifecycle_states", { lifecycleStates: "stable" }],
    ["lifecycle_states[0]", { lifecycleStates: ["active"] }],
    ["retrieval_mode", { retrievalMode: null }],
    ["retrieval_mode", { retrievalMode: "Default" }],
    ["event_time_from", { eventTimeFrom: "2026-01-01T00:00:00" }],
    ["event_time_to", { eventTimeTo: 5 }],
    ["event_time_to", { eventTimeFrom: at(2), eventTimeTo: at(1) }],
    ["valid_at", { validAt: "soon" }],
    ["knowledge_at", { knowledgeAt: "2026-01-01" }],
    ["group_limit", { groupLimit: -1 }],
    ["group_limit", { groupLimit: 10_001 }],
    ["group_limit", { groupLimit: 1.5 }],
    ["group_limit", { groupLimit: "5" }],
    ["group_limit", { groupLimit: null }],
    ["sample_limit", { sampleLimit: 101 }],
    ["sample_limit", { sampleLimit: true }],
  ])("a bad %s: %j", async (field, input) => {
    await expectInvalid(call(refusing(), { userId: "ada", ...input }), { field });
  });

  test.each([undefined, null, "query"])("%j for a query", async (input) => {
    await expectInvalid(call(refusing(), asInput(input)), { field: "query" });
  });
});

test("only amounts take prefixes and units, and they are grouped by unit", async () => {
  const engine = refusing();
  const claims = (input: object) => engine.aggregateAssertions(asInput({ userId: "a", ...input }));
  const sums = (input: object) => engine.aggregateQuantities(asInput({ userId: "a", ...input }));
  await expectInvalid(claims({ units: ["km"] }), { field: "units" });
  await expectInvalid(claims({ predicatePrefixes: [] }), { field: "predicatePrefixes" });
  await expectInvalid(claims({ groupBy: ["unit"] }), { field: "group_by[0]" });
  await expectInvalid(sums({ groupBy: ["object"] }), { field: "group_by" });
  await expectInvalid(sums({ groupBy: [] }), { field: "group_by" });
  await expectInvalid(sums({ groupBy: ["unit", "unit"] }), { field: "group_by" });
  await expectInvalid(sums({ units: ["km", "\t"] }), { field: "units[1]" });
  await expectInvalid(sums({ predicatePrefixes: null }), { field: "predicate_prefixes" });
});

test.each<[field: string, input: Readonly<Record<string, unknown>>]>([
  ["question", { question: undefined }],
  ["question", { question: " \n" }],
  ["question", { question: 5 }],
  ["user_id", { userId: "" }],
  ["scope", { scope: "personal" }],
])("a question with a bad %s is refused: %j", async (field, input) => {
  const asked = { userId: "ada", question: "How much did I spend?", ...input };
  await expectInvalid(refusing().aggregateQuantitiesFromText(asInput(asked)), { field });
});

test.each<[field: string, input: Readonly<Record<string, unknown>>]>([
  ["user_id", { userId: undefined }],
  ["subject", { subject: undefined }],
  ["subject", { subject: " " }],
  ["predicate", { predicate: null }],
  ["scope", { scope: undefined }],
  ["scope", { scope: ["personal"] }],
  ["valid_at", { validAt: undefined }],
  ["valid_at", { validAt: null }],
  ["valid_at", { validAt: "2026-01-01T00:00:00" }],
  ["knowledge_at", { knowledgeAt: "then" }],
  ["node_types", { nodeTypes: [] }],
  ["node_types", { nodeTypes: null }],
  ["limit", { limit: 0 }],
  ["limit", { limit: 10_001 }],
  ["limit", { limit: null }],
  ["polarities", { polarities: ["positive"] }],
])("a state query with a bad %s is refused: %j", async (field, input) => {
  await expectInvalid(refusing().getAssertionState(asInput({ ...STATE, ...input })), { field });
});

describe("a query", () => {
  test("is echoed complete, with canonical instants and its texts as they were given", async () => {
    const { engine } = await open();
    const { query } = await engine.aggregateQuantities({
      userId: "ada",
      subjects: [" I "],
      units: ["KM"],
      validAt: "2026-01-01T02:00:00+02:00",
      eventTimeFrom: new Date(0),
      lifecycleStates: null,
    });
    expect(query).toEqual({
      subjects: [" I "],
      predicates: [],
      objects: [],
      polarities: ["positive"],
      scopes: [],
      nodeTypes: ["fact", "decision", "preference"],
      lifecycleStates: undefined,
      retrievalMode: "default",
      eventTimeFrom: "1970-01-01T00:00:00.000000Z" as never,
      eventTimeTo: undefined,
      validAt: "2026-01-01T00:00:00.000000Z" as never,
      knowledgeAt: undefined,
      groupLimit: 1000,
      sampleLimit: 10,
      predicatePrefixes: [],
      units: ["KM"],
      groupBy: ["unit"],
    });
  });

  test("for an owner without memories finds nothing, completely", async () => {
    const { engine } = await open();
    expect(await engine.aggregateAssertions({ userId: "nobody" })).toMatchObject({
      scannedNodes: 0,
      matchedRecords: 0,
      distinctCount: 0,
      groups: [],
      groupsTruncated: false,
      storedSetExhaustive: true,
      exclusions: {},
    });
  });
});

test("a signal that is aborted stops the scan between two pages", async () => {
  const reason = new Error("the caller left");
  const stop = new AbortController();
  let pages = 0;
  const { engine, store } = await open({
    alter: (real) => ({
      scanNodes: async (page) => {
        pages += 1;
        if (pages === 2) stop.abort(reason);
        return await real.scanNodes(page);
      },
    }),
  });
  await put(
    store,
    Array.from({ length: 1600 }, (_, index) => fact(["I", "ran", `${index}`])),
  );
  const { signal } = stop;
  await expect(engine.aggregateAssertions({ userId: "ada", signal })).rejects.toBe(reason);
  expect(pages).toBe(2);
  await expect(engine.aggregateQuantities({ userId: "ada", signal })).rejects.toBe(reason);
  const question = "How much did I run?";
  await expect(
    engine.aggregateQuantitiesFromText({ userId: "ada", question, signal }),
  ).rejects.toBe(reason);
  const state = { ...STATE, scope: "personal", signal } as const;
  await expect(engine.getAssertionState(state)).rejects.toBe(reason);
  expect(pages).toBe(2);
});

test("other calls come in between the pages of a scan", async () => {
  const { engine, store } = await open();
  await put(
    store,
    Array.from({ length: 2600 }, (_, index) => fact(["I", "ran", `${index}`])),
  );
  const order: string[] = [];
  const scan = engine.aggregateAssertions({ userId: "ada" }).then((found) => {
    order.push("scan");
    return found;
  });
  const stored = engine.store({ userId: "ben", content: "Tea is ready." });
  await stored.then(() => order.push("store"));
  expect((await scan).matchedRecords).toBe(2600);
  expect(order).toEqual(["store", "scan"]);
});
