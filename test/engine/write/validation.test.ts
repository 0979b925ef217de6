import { describe, expect, test } from "bun:test";
import type { FastIngestManyInput, StoreInput } from "../../../src/engine/write/api.ts";
import { expectInvalid, useEngines } from "../engines.ts";

const { open } = useEngines();

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
  { name: "a day that never was", given: { eventTime: "2026-02-30T00:00Z" }, field: "event_time" },
  { name: "an event time in words", given: { eventTime: "yesterday" }, field: "event_time" },
  { name: "an invalid Date", given: { eventTime: new Date(Number.NaN) }, field: "event_time" },
  { name: "an event time as a number", given: { eventTime: 1_700_000_000 }, field: "event_time" },
  { name: "metadata that is a list", given: { metadata: [] }, field: "metadata" },
  { name: "metadata that is text", given: { metadata: "{}" }, field: "metadata" },
  { name: "a Map as metadata", given: { metadata: new Map() }, field: "metadata" },
  {
    name: "NaN in metadata",
    given: { metadata: { a: { b: [1, Number.NaN] } } },
    field: "metadata.a.b[1]",
  },
  {
    name: "infinity in metadata",
    given: { metadata: { a: Number.POSITIVE_INFINITY } },
    field: "metadata.a",
  },
  { name: "undefined in metadata", given: { metadata: { a: undefined } }, field: "metadata.a" },
  { name: "a date in metadata", given: { metadata: { a: new Date() } }, field: "metadata.a" },
  { name: "a bigint in metadata", given: { metadata: { a: 1n } }, field: "metadata.a" },
  { name: "a function in metadata", given: { metadata: { a: () => 1 } }, field: "metadata.a" },
  { name: "metadata that contains itself", given: { metadata: cyclic }, field: "metadata.self" },
  {
    name: "the reserved key of the speaker",
    given: { metadata: { svc_speaker_v1: "Ann" } },
    field: "metadata.svc_speaker_v1",
    code: "invalid_speaker",
  },
  {
    name: "the reserved key of value bindings",
    given: { metadata: { svc_value_bindings_v1: [] } },
    field: "metadata.svc_value_bindings_v1",
    code: "invalid_speaker",
  },
  {
    name: "the reserved key of the first person",
    given: { metadata: { svc_first_person_owner_v1: true } },
    field: "metadata.svc_first_person_owner_v1",
    code: "invalid_speaker",
  },
  { name: "a blank speaker", given: { speaker: " \t" }, field: "speaker", code: "invalid_speaker" },
  {
    name: "a speaker that is no text",
    given: { speaker: 4 },
    field: "speaker",
    code: "invalid_speaker",
  },
  {
    name: "a speaker of 201 characters",
    given: { speaker: "é".repeat(201) },
    field: "speaker",
    code: "invalid_speaker",
  },
  {
    name: "a speaker with a line break",
    given: { speaker: "Ann\nLee" },
    field: "speaker",
    code: "invalid_speaker",
  },
  {
    name: "a speaker with a line separator",
    given: { speaker: "Ann\u2028Lee" },
    field: "speaker",
    code: "invalid_speaker",
  },
  {
    name: "a speaker with a bidirectional control",
    given: { speaker: "Ann\u202eLee" },
    field: "speaker",
    code: "invalid_speaker",
  },
  {
    name: "a speaker with half a character",
    given: { speaker: "Ann \udc00" },
    field: "speaker",
    code: "invalid_speaker",
  },
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
const STORE_RULES: readonly Case[] = [
  {
    name: "a compact text that shows nothing",
    given: { retrievalContent: " \u200b" },
    field: "retrieval_content",
  },
  { name: "an unknown node type", given: { nodeType: "idea" }, field: "node_type" },
  { name: "an empty node type", given: { nodeType: "" }, field: "node_type" },
  {
    name: "an unknown epistemic type",
    given: { epistemicType: "rumour" },
    field: "epistemic_type",
  },
  {
    name: "a new memory that is deprecated",
    given: { epistemicType: "deprecated" },
    field: "epistemic_type",
  },
  { name: "an unknown source type", given: { sourceType: "hearsay" }, field: "source_type" },
  { name: "a confidence above 1", given: { confidence: 1.01 }, field: "confidence" },
  { name: "a negative confidence", given: { confidence: -0.01 }, field: "confidence" },
  { name: "a confidence of NaN", given: { confidence: Number.NaN }, field: "confidence" },
  { name: "a confidence as text", given: { confidence: "0.5" }, field: "confidence" },
  { name: "a confidence as a boolean", given: { confidence: true }, field: "confidence" },
  { name: "a negative retention", given: { ttlDays: -1 }, field: "ttl_days" },
  { name: "a broken retention", given: { ttlDays: 1.5 }, field: "ttl_days" },
  { name: "a retention as text", given: { ttlDays: "30" }, field: "ttl_days" },
  { name: "a retention beyond any calendar", given: { ttlDays: 1_000_001 }, field: "ttl_days" },
  {
    name: "a naive start of validity",
    given: { validFrom: "2026-01-01T00:00" },
    field: "valid_from",
  },
  { name: "an end without a start", given: { validTo: "2026-01-01T00:00Z" }, field: "valid_to" },
  {
    name: "an end before its start",
    given: { validFrom: "2026-01-02T00:00Z", validTo: "2026-01-01T00:00Z" },
    field: "valid_to",
  },
  {
    name: "an end at the same moment in another offset",
    given: { validFrom: "2026-01-01T00:00Z", validTo: "2026-01-01T02:00+02:00" },
    field: "valid_to",
  },
  {
    name: "retrieval content that is no text",
    given: { retrievalContent: 1 },
    field: "retrieval_content",
  },
  {
    name: "retrieval content with half a character",
    given: { retrievalContent: LONE },
    field: "retrieval_content",
  },
  {
    name: "a conditional memory without a condition",
    given: { epistemicType: "conditional" },
    field: "metadata.condition",
  },
  {
    name: "a conditional memory with a blank condition",
    given: { epistemicType: "conditional", metadata: { condition: "  " } },
    field: "metadata.condition",
  },
  {
    name: "a conditional memory that begins as true",
    given: { epistemicType: "conditional", metadata: { condition: "if", condition_state: "true" } },
    field: "metadata.condition_state",
  },
  { name: "bindings that are no list", given: { valueBindings: {} }, field: "value_bindings" },
  {
    name: "too many bindings",
    given: { valueBindings: Array(257).fill(binding) },
    field: "value_bindings",
  },
  {
    name: "a binding that is no object",
    given: { valueBindings: ["x"] },
    field: "value_bindings[0]",
  },
  {
    name: "an unknown key of a binding",
    given: { valueBindings: [{ ...binding, colour: "red" }] },
    field: "value_bindings[0].colour",
  },
  {
    name: "a binding of another version",
    given: { valueBindings: [{ ...binding, schema_version: 2 }] },
    field: "value_bindings[0].schema_version",
  },
  {
    name: "a binding of another authority",
    given: { valueBindings: [{ ...binding, lookup_authority: "engine" }] },
    field: "value_bindings[0].lookup_authority",
  },
  {
    name: "a binding whose presentation is not in the text",
    given: { valueBindings: [{ ...binding, presentation: "absent" }] },
    field: "value_bindings[0].presentation",
  },
  {
    name: "a binding whose presentation is not in the indexed text",
    given: { retrievalContent: "short", valueBindings: [binding] },
    field: "value_bindings[0].presentation",
  },
  {
    name: "a binding that leads to itself",
    given: { valueBindings: [{ ...binding, lookup: "text" }] },
    field: "value_bindings[0].lookup",
  },
  {
    name: "a binding without a reference",
    given: { valueBindings: [{ ...binding, reference: "" }] },
    field: "value_bindings[0].reference",
  },
  {
    name: "a reference of odd characters",
    given: { valueBindings: [{ ...binding, reference: "-a b" }] },
    field: "value_bindings[0].reference",
  },
  {
    name: "a kind of 65 characters",
    given: { valueBindings: [{ ...binding, kind: "k".repeat(65) }] },
    field: "value_bindings[0].kind",
  },
  {
    name: "two bindings of one reference",
    given: { valueBindings: [binding, { ...binding, presentation: "some" }] },
    field: "value_bindings",
  },
  {
    name: "two bindings of one presentation",
    given: { valueBindings: [binding, { ...binding, reference: "r2" }] },
    field: "value_bindings",
  },
];

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
    const { engine } = await open();
    // SAFETY: a wrong value is what is tested.
    const input = { content: "x", userId: "ada", nodeType: "idea" } as unknown as StoreInput;

    expect(engine.store(input)).rejects.toThrow(
      'node_type: "idea" is not one of entity, event, fact, decision, preference, task, instruction, summary, note',
    );
    await engine.store(input).catch(() => {});
  });

  test("tells how a time without an offset is written", async () => {
    const { engine } = await open();
    const call = engine.store({ content: "x", userId: "ada", eventTime: "2026-01-01T10:00" });

    expect(call).rejects.toThrow(
      'event_time: "2026-01-01T10:00" has no time zone; write for example 2026-01-01T10:00Z',
    );
    await call.catch(() => {});
  });

  test("never repeats the text of the memory", async () => {
    const { engine } = await open();
    const call = engine.store({ content: `secret ${LONE}`, userId: "ada" });

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
    const { engine } = await open();

    // SAFETY: wrong types are what is tested.
    await expectInvalid(engine.ingestFastMany(input as unknown as FastIngestManyInput), { field });
    expect(await engine.stats()).toMatchObject({ eventCount: 0 });
  });
});

test.each([
  { name: "a negative budget", input: { budgetMs: -1 }, field: "budget_ms" },
  { name: "a budget of NaN", input: { budgetMs: Number.NaN }, field: "budget_ms" },
  { name: "a blank owner", input: { userId: " " }, field: "user_id" },
])("processing refuses $name", async ({ input, field }) => {
  const { engine } = await open();

  await expectInvalid(engine.processPending(input), { field });
});
