import { describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import { OPERATIONS } from "../../../src/surface/contract/core/operations.ts";
import { parseWire } from "../../../src/surface/contract/core/wire-issues.ts";

const bodyOf = (operation: string) =>
  OPERATIONS.find(({ name }) => name === operation)!.http!.request.body!;
const storeBodySchema = bodyOf("store");
const ingestBodySchema = bodyOf("ingest_fast");
const retrieveBodySchema = bodyOf("retrieve");

const STORE_KEYS = `the known keys are ${Object.keys(storeBodySchema.shape).join(", ")}`;

function refusal(schema: Parameters<typeof parseWire>[0], value: unknown): string {
  try {
    parseWire(schema, value, "body");
  } catch (error) {
    if (error instanceof SvcError && error.code.startsWith("invalid_")) return error.message;
    throw error;
  }
  return "accepted";
}

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

describe("a refused value is named with its field", () => {
  test.each([
    {
      name: "bad enum",
      value: { content: "x", node_type: "bogus" },
      text: 'node_type: "bogus" is not one of entity, event, fact, decision, preference, task, instruction, summary, note',
    },
    { name: "missing field", value: {}, text: "content: is required" },
    { name: "wrong type", value: { content: 5 }, text: "content: 5 is not text" },
    {
      name: "naive datetime",
      value: { content: "x", event_time: "2026-01-01T10:00:00" },
      text: 'event_time: "2026-01-01T10:00:00" has no time zone; write for example 2026-01-01T10:00:00Z',
    },
    {
      name: "number as datetime",
      value: { content: "x", event_time: 1700000000 },
      text: "event_time: 1700000000 is not text",
    },
    {
      name: "unknown key",
      value: { content: "x", colour: "red" },
      text: `colour: is not a known key; ${STORE_KEYS}`,
    },
    {
      name: "over-long speaker",
      value: { content: "x", speaker: "n".repeat(201) },
      text: "speaker: has 201 characters; at most 200 are allowed",
    },
    {
      name: "confidence out of range",
      value: { content: "x", confidence: 1.5 },
      text: "confidence: 1.5 must be at most 1",
    },
    {
      name: "infinite confidence",
      value: { content: "x", confidence: Number.POSITIVE_INFINITY },
      text: "confidence: Infinity is not a number",
    },
    {
      name: "text as number",
      value: { content: "x", confidence: "0.5" },
      text: 'confidence: "0.5" is not a number',
    },
    {
      name: "fraction as integer",
      value: { content: "x", ttl_days: 1.5 },
      text: "ttl_days: 1.5 is not an integer",
    },
    {
      name: "null for a field with a default",
      value: { content: "x", role: null },
      text: "role: null is not text",
    },
    { name: "a list as body", value: [], text: "body: [] is not an object" },
    {
      name: "several at once",
      value: { confidence: 2, foo: 1 },
      text: `content: is required; confidence: 2 must be at most 1; foo: is not a known key; ${STORE_KEYS}`,
    },
  ])("store: $name", ({ value, text }) => {
    expect(refusal(storeBodySchema, value)).toBe(text);
  });

  test("items are named by their position", () => {
    const items = [{ content: "a" }, { content: "b", event_time: "yesterday" }];
    expect(refusal(ingestBodySchema, { items })).toBe(
      'items[1].event_time: "yesterday" is not an ISO 8601 date and time',
    );
    expect(refusal(ingestBodySchema, { items: [] })).toBe(
      "items: has 0 entries; it must have at least 1",
    );
  });

  test("of a choice between one and many, the reading that got furthest explains", () => {
    const known = "personal, project, organisation, agent, system, sandbox";
    expect(refusal(retrieveBodySchema, { query: "q", scope: "home" })).toBe(
      `scope: "home" is not one of ${known}`,
    );
    expect(refusal(retrieveBodySchema, { query: "q", scope: ["agent", "home"] })).toBe(
      `scope: entry 1: "home" is not one of ${known}`,
    );
  });

  test("long values and long lists are cut", () => {
    const long = refusal(storeBodySchema, { content: "x", node_type: "y".repeat(5000) });
    expect(long.length).toBeLessThan(250);
    const items = Array.from({ length: 50 }, () => ({}));
    expect(refusal(ingestBodySchema, { items })).toEndWith("; and 40 more");
  });

  test("many unknown keys, and long ones, are counted and cut", () => {
    const keys = Array.from({ length: 5000 }, (_, at) => [`${at}${"k".repeat(500)}`, 1]);
    const text = refusal(storeBodySchema, { content: "x", ...Object.fromEntries(keys) });
    expect(text).toEndWith(`; and 4990 more; ${STORE_KEYS}`);
    expect(text.length).toBeLessThan(1500);
  });

  test.each([
    { name: "deep", value: nested(100_000) },
    { name: "wide", value: Array.from({ length: 100_000 }, () => ({ a: [1, 2, 3] })) },
    { name: "with a member called __proto__", value: JSON.parse('{"__proto__": {"a": 1}}') },
  ])("a value is shown by its beginning: $name", ({ value }) => {
    const text = refusal(storeBodySchema, { content: value });
    expect(text).toStartWith("content: ");
    expect(text).toEndWith(" is not text");
    expect(text.length).toBeLessThan(120);
    expect(refusal(storeBodySchema, { content: [{ b: "c" }] })).toBe(
      'content: [{"b":"c"}] is not text',
    );
  });
});

test("a role is read without regard to case, null stands for absent where nothing has a default", () => {
  const body = {
    content: "x",
    role: "Assistant",
    node_type: null,
    event_time: null,
    speaker: null,
  };
  expect(refusal(storeBodySchema, body)).toBe("accepted");
});

test("metadata is passed on with every key that it has", () => {
  const metadata = JSON.parse('{"__proto__": {"x": 1}, "constructor": 2, "a": {"__proto__": 3}}');
  const read = parseWire(storeBodySchema, { content: "x", metadata }, "body")["metadata"];
  expect(JSON.stringify(read)).toBe(JSON.stringify(metadata));
});

test.each([[[]], ["{}"], [1], [true]])("metadata that is no object is refused: %j", (metadata) => {
  expect(refusal(storeBodySchema, { content: "x", metadata })).toBe(
    `metadata: ${JSON.stringify(metadata)} is not an object`,
  );
});
