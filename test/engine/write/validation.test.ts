import { describe, expect, test } from "bun:test";
import type { FastIngestManyInput, StoreInput } from "../../../src/engine/write/api.ts";
import { expectInvalid, useEngines, useOneEngine } from "../engines.ts";

const { open } = useEngines();
const refusing = useOneEngine();

type Case = {
  readonly name: string;
  readonly given: Readonly<Record<string, unknown>>;
  readonly field: string;
  readonly code?: string;
};

const LONE = "broken \ud800 text";
const cyclic: Record<string, unknown> = {};
cyclic["self"] = cyclic;

/** Rules that hold for every admitted event. */
const EVENT_RULES: readonly Case[] = [
  { name: "content that is no text", given: { content: 7 }, field: "content" },
  { name: "missing content", given: { content: undefined }, field: "content" },
  ...[
    "",
    " ",
    "\n\t",
    "\u00a0\u2003",
    "\u200b",
    "\ufeff\u00ad",
    "\u{e0041}\u202e",
    "\u3164",
    "\u2800",
  ].map((content) => ({
    name: `content that shows nothing, ${JSON.stringify(content)},`,
    given: { content },
    field: "content",
  })),
  { name: "content with half a character", given: { content: LONE }, field: "content" },
  { name: "an unknown role", given: { role: "robot" }, field: "role" },
  { name: "a role that is no text", given: { role: 1 }, field: "role" },
  { name: "an unknown scope", given: { scope: "galaxy" }, field: "scope" },
  { name: "a scope in another case", given: { scope: "Personal" }, field: "scope" },
  { name: "a session that is no text", given: { sessionId: 5 }, field: "session_id" },
  { name: "a session with half a character", given: { sessionId: LONE }, field: "session_id" },
  {
    name: "an event time without an offset",
    given: { eventTime: "2026-01-01T10:00:00" },
    field: "event_time",
  },
  { name: "a bare date as event time", given: { eventTime: "2026-01-01" }, field: "event_time" },
  { name: "an event time as a number", given: { eventTime: 1_700_000_000 }, field: "event_time" },
  { name: "metadata that is a list", given: { metadata: [] }, field: "metadata" },
  {
    name: "NaN in metadata",
    given: { metadata: { a: { b: [1, Number.NaN] } } },
    field: "metadata.a.b[1]",
  },
  {
    name: "the reserved key of the speaker",
    given: { metadata: { svc_speaker_v1: "Ann" } },
    field: "metadata.svc_speaker_v1",
    code: "invalid_speaker",
  },
  {
    name: "the reserved key of the first person",
    given: { metadata: { svc_first_person_owner_v1: true } },
    field: "metadata.svc_first_person_owner_v1",
    code: "invalid_speaker",
  },
  { name: "a blank speaker", given: { speaker: " \t" }, field: "speaker", code: "invalid_speaker" },
];

/** Rules of the owner. */
const OWNER_RULES: readonly Case[] = [
  { name: "a missing owner", given: { userId: undefined }, field: "user_id" },
  { name: "a blank owner", given: { userId: " \n" }, field: "user_id" },
  { name: "an owner that is no text", given: { userId: 3 }, field: "user_id" },
  { name: "an owner with half a character", given: { userId: "ada\ud800" }, field: "user_id" },
];

const binding = {
  reference: "r1",
  kind: "link",
  presentation: "text",
  lookup: "https://x.example",
};

/** Rules of a direct store alone. */
const STORE_RULES = (
  [
    ["a compact text that shows nothing", { retrievalContent: " \u200b" }, "retrieval_content"],
    ["an unknown node type", { nodeType: "idea" }, "node_type"],
    ["an empty node type", { nodeType: "" }, "node_type"],
    ["an unknown epistemic type", { epistemicType: "rumour" }, "epistemic_type"],
    ["a new memory that is deprecated", { epistemicType: "deprecated" }, "epistemic_type"],
    ["an unknown source type", { sourceType: "hearsay" }, "source_type"],
    ["a confidence above 1", { confidence: 1.01 }, "confidence"],
    ["a negative confidence", { confidence: -0.01 }, "confidence"],
    ["a confidence of NaN", { confidence: Number.NaN }, "confidence"],
    ["a confidence as text", { confidence: "0.5" }, "confidence"],
    ["a confidence as a boolean", { confidence: true }, "confidence"],
    ["a negative retention", { ttlDays: -1 }, "ttl_days"],
    ["a broken retention", { ttlDays: 1.5 }, "ttl_days"],
    ["a retention as text", { ttlDays: "30" }, "ttl_days"],
    ["a retention beyond any calendar", { ttlDays: 1_000_001 }, "ttl_days"],
    ["a naive start of validity", { validFrom: "2026-01-01T00:00" }, "valid_from"],
    ["an end without a start", { validTo: "2026-01-01T00:00Z" }, "valid_to"],
    [
      "an end before its start",
      { validFrom: "2026-01-02T00:00Z", validTo: "2026-01-01T00:00Z" },
      "valid_to",
    ],
    ["retrieval content that is no text", { retrievalContent: 1 }, "retrieval_content"],
    ["retrieval content with half a character", { retrievalContent: LONE }, "retrieval_content"],
    [
      "a conditional memory without a condition",
      { epistemicType: "conditional" },
      "metadata.condition",
    ],
    [
      "a conditional memory with a blank condition",
      { epistemicType: "conditional", metadata: { condition: "  " } },
      "metadata.condition",
    ],
    [
      "a conditional memory that begins as true",
      { epistemicType: "conditional", metadata: { condition: "if", condition_state: "true" } },
      "metadata.condition_state",
    ],
    ["bindings that are no list", { valueBindings: {} }, "value_bindings"],
    [
      "a binding of another version",
      { valueBindings: [{ ...binding, schema_version: 2 }] },
      "value_bindings[0].schema_version",
    ],
    [
      "a binding whose presentation is not in the indexed text",
      { retrievalContent: "short", valueBindings: [binding] },
      "value_bindings[0].presentation",
    ],
  ] as readonly (readonly [
    name: Case["name"],
    given: Case["given"],
    field: Case["field"],
    code?: Case["code"],
  ])[]
).map(([name, given, field, code]) => ({ name, given, field, code }));

describe("a refused store", () => {
  test("names the field of every broken rule and stores nothing", async () => {
    const { engine } = await open();

    for (const { given, field, code } of [...EVENT_RULES, ...OWNER_RULES, ...STORE_RULES]) {
      const input = { content: "some text", userId: "ada", ...given };
      // SAFETY: wrong types are what is tested.
      const call = engine.store(input as unknown as StoreInput);
      await expectInvalid(call, code === undefined ? { field } : { field, code });
    }

    expect(await engine.stats()).toMatchObject({ nodeCount: 0, eventCount: 0 });
  });

  test("says which value is wrong and which are right", async () => {
    // SAFETY: a wrong value is what is tested.
    const input = { content: "x", userId: "ada", nodeType: "idea" } as unknown as StoreInput;

    await expect(refusing().store(input)).rejects.toThrow(
      'node_type: "idea" is not one of entity, event, fact, decision, preference, task, instruction, summary, note',
    );
  });

  test("tells how a time without an offset is written", async () => {
    const call = refusing().store({ content: "x", userId: "ada", eventTime: "2026-01-01T10:00" });

    await expect(call).rejects.toThrow(
      'event_time: "2026-01-01T10:00" has no time zone; write for example 2026-01-01T10:00Z',
    );
  });

  test("never repeats the text of the memory", async () => {
    const call = refusing().store({ content: `secret ${LONE}`, userId: "ada" });

    const message = await call.catch((error: Error) => error.message);

    expect(message).not.toContain("secret");
  });
});

describe("a refused fast ingest", () => {
  test("names the field of every broken rule and stores nothing", async () => {
    const { engine } = await open();

    for (const { given, field, code } of [...EVENT_RULES, ...OWNER_RULES]) {
      const input = { content: "some text", userId: "ada", ...given };
      // SAFETY: wrong types are what is tested.
      const call = engine.ingestFast(input as unknown as StoreInput as never);
      await expectInvalid(call, code === undefined ? { field } : { field, code });
    }

    expect(await engine.stats()).toMatchObject({ eventCount: 0 });
  });

  test("of many names the item too", async () => {
    const { engine } = await open();

    for (const { given, field, code } of EVENT_RULES) {
      const items = [{ content: "good" }, { content: "some text", ...given }, { content: "good" }];
      // SAFETY: wrong types are what is tested.
      const call = engine.ingestFastMany({
        items,
        userId: "ada",
      } as unknown as FastIngestManyInput);
      const where = `items[1].${field}`;
      await expectInvalid(call, code === undefined ? { field: where } : { field: where, code });
    }

    expect(await engine.stats()).toMatchObject({ eventCount: 0 });
  });

  test.each([
    { name: "items that are no list", input: { items: "text", userId: "ada" }, field: "items" },
    { name: "no items at all", input: { userId: "ada" }, field: "items" },
    {
      name: "an item that is no object",
      input: { items: ["x"], userId: "ada" },
      field: "items[0]",
    },
    { name: "an item that is a list", input: { items: [[]], userId: "ada" }, field: "items[0]" },
    { name: "a blank owner", input: { items: [], userId: "" }, field: "user_id" },
    {
      name: "a request id that is no UUID",
      input: { items: [{ content: "x" }], userId: "ada", requestId: "4711" },
      field: "request_id",
    },
    {
      name: "a malformed request id of an empty list",
      input: { items: [], userId: "ada", requestId: 7 },
      field: "request_id",
    },
  ])("refuses $name", async ({ input, field }) => {
    // SAFETY: wrong types are what is tested.
    const call = refusing().ingestFastMany(input as unknown as FastIngestManyInput);
    await expectInvalid(call, { field });
    expect(await refusing().stats()).toMatchObject({ eventCount: 0 });
  });
});

test.each([
  { name: "a negative budget", input: { budgetMs: -1 }, field: "budget_ms" },
  { name: "a budget of NaN", input: { budgetMs: Number.NaN }, field: "budget_ms" },
  { name: "a blank owner", input: { userId: " " }, field: "user_id" },
])("processing refuses $name", async ({ input, field }) => {
  await expectInvalid(refusing().processPending(input), { field });
});
