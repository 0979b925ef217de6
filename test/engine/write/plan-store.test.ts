import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  EPISTEMIC_TYPES,
  NODE_TYPES,
  type NodeType,
  ROLES,
  type Role,
  SCOPES,
  SOURCE_TYPES,
} from "../../../src/domain/enums.ts";
import { ORIGINAL_TTL_DAYS } from "../../../src/domain/fading.ts";
import type { StoreInput } from "../../../src/engine/write/api.ts";
import { type PlanContext, planRawNote, planStore } from "../../../src/engine/write/plan.ts";
import { sha256Hex } from "../../../src/lib/hashing.ts";
import { asInstant } from "../../../src/lib/instant.ts";
import { asUuid } from "../../../src/lib/uuid.ts";
import { DEFAULT_SETTINGS } from "../engines.ts";

const NOW = asInstant("2026-03-18T12:00:00.000001Z");
const CONTEXT: PlanContext = {
  now: NOW,
  eventId: asUuid("01900000-0000-7000-8000-000000000001"),
  nodeId: asUuid("01900000-0000-7000-8000-000000000002"),
  settings: DEFAULT_SETTINGS,
};

function plan(given: Partial<StoreInput> = {}, settings: Partial<PlanContext["settings"]> = {}) {
  return planStore(
    { content: "I like tea", userId: "ada", ...given },
    { ...CONTEXT, settings: { ...CONTEXT.settings, ...settings } },
  );
}

describe("the plan of a direct store", () => {
  test("fills in every default", () => {
    const { event, node } = plan();

    expect(event).toStrictEqual({
      id: CONTEXT.eventId,
      userId: "ada",
      sessionId: undefined,
      scope: "personal",
      role: "user",
      content: "I like tea",
      contentHash: sha256Hex("I like tea"),
      metadata: undefined,
      eventTime: undefined,
      timestamp: NOW,
    });
    expect(node).toStrictEqual({
      id: CONTEXT.nodeId,
      userId: "ada",
      sessionId: undefined,
      nodeType: "note",
      content: "I like tea",
      lifecycleState: "tentative",
      confidence: 0.8,
      salience: 0.5,
      confidenceBase: 0.8,
      salienceBase: 0.5,
      reinforcementBoost: 0,
      lastReinforcedAt: NOW,
      decayProfile: "medium",
      epistemicType: "asserted",
      sourceType: "user_stated",
      scope: "personal",
      metadata: undefined,
      createdAt: NOW,
      updatedAt: NOW,
      eventTime: undefined,
      validFrom: NOW,
      validTo: undefined,
      ttlDays: undefined,
      supersededBy: undefined,
      evidenceRefs: [CONTEXT.eventId],
      pinned: false,
    });
  });

  test("takes null for absent everywhere but in the retention", () => {
    const nulls: Partial<StoreInput> = {
      retrievalContent: null,
      valueBindings: null,
      sessionId: null,
      speaker: null,
      nodeType: null,
      scope: null,
      metadata: null,
      confidence: null,
      epistemicType: null,
      sourceType: null,
      eventTime: null,
      validFrom: null,
      validTo: null,
    };

    expect(plan(nulls)).toStrictEqual(plan());
    expect(plan({ ttlDays: null }).node.ttlDays).toBeUndefined();
  });

  const KNOWLEDGE: readonly [Role, NodeType, string, string, number][] = [
    ["user", "note", "asserted", "user_stated", 0.8],
    ["assistant", "note", "inferred", "system_inferred", 0.55],
    ["tool", "note", "asserted", "tool_output", 0.7],
    ["user", "event", "observed", "user_stated", 0.9],
    ["participant", "fact", "asserted", "user_stated", 0.8],
    ["human", "preference", "asserted", "user_stated", 0.8],
    ["system", "instruction", "inferred", "system_inferred", 0.7],
    ["user", "instruction", "observed", "user_stated", 0.9],
    ["user", "summary", "inferred", "user_stated", 0.5],
    ["tool", "event", "observed", "tool_output", 0.8],
    ["assistant", "event", "inferred", "system_inferred", 0.55],
  ];

  test.each(KNOWLEDGE)(
    "of a %s's %s is %s and %s at %d",
    (role, nodeType, epistemic, source, confidence) => {
      const { node } = plan({ role, nodeType });

      expect([node.epistemicType, node.sourceType, node.confidence, node.confidenceBase]).toEqual([
        epistemic,
        source,
        confidence,
        confidence,
      ] as never);
    },
  );

  test("reads a role in any case and keeps it in lower case", () => {
    // SAFETY: roles are read without regard to case.
    const { event, node } = plan({ role: "ASSISTANT" as Role });

    expect([event.role, node.sourceType]).toEqual(["assistant", "system_inferred"]);
  });

  test("uses a given confidence, raising an instruction's only where it equals the table's", () => {
    expect(plan({ confidence: 0 }).node.confidence).toBe(0);
    expect(
      plan({ nodeType: "instruction", role: "system", confidence: 0.55 }).node.confidence,
    ).toBe(0.7);
    expect(
      plan({ nodeType: "instruction", role: "system", confidence: 0.54 }).node.confidence,
    ).toBe(0.54);
  });

  test("uses the overrides of the confidence table", () => {
    const overrides = { "asserted:user_stated": 0.33 };

    expect(plan({}, { confidenceOverrides: overrides }).node.confidence).toBe(0.33);
    expect(
      plan(
        { nodeType: "instruction", epistemicType: "asserted" },
        { confidenceOverrides: overrides },
      ).node.confidence,
    ).toBe(0.7);
  });

  test("keeps a memory for ever, unless its caller or the settings say", () => {
    const ttlDefaults = ORIGINAL_TTL_DAYS;
    expect(NODE_TYPES.filter((nodeType) => plan({ nodeType }).node.ttlDays !== undefined)).toEqual(
      [],
    );
    expect(plan({ nodeType: "task" }, { ttlDefaults }).node.ttlDays).toBe(90);
    expect(plan({ ttlDays: null }, { ttlDefaults }).node.ttlDays).toBeUndefined();
    expect([0, 7].map((ttlDays) => plan({ ttlDays }).node.ttlDays)).toEqual([0, 7]);
  });

  test("keeps instants in UTC with microseconds", () => {
    const { event, node } = plan({
      eventTime: "2026-01-01T01:00:00.1234567+02:00",
      validFrom: new Date("2026-01-01T00:00:00Z"),
      validTo: "2026-01-01T00:00:00.000001Z",
    });

    expect([event.eventTime, node.eventTime, node.validFrom, node.validTo]).toEqual([
      "2025-12-31T23:00:00.123456Z",
      "2025-12-31T23:00:00.123456Z",
      "2026-01-01T00:00:00.000000Z",
      "2026-01-01T00:00:00.000001Z",
    ] as never);
  });

  test("keeps the speaker in the metadata of event and node, trimmed", () => {
    const { event, node } = plan({ speaker: "  Ann Lee ", metadata: { a: 1 } });

    expect(event.metadata).toEqual({ a: 1, svc_speaker_v1: "Ann Lee" });
    expect(node.metadata).toEqual({ a: 1, svc_speaker_v1: "Ann Lee" });
  });

  test("indexes the retrieval content and keeps the source", () => {
    const { event, node } = plan({ content: "a long source", retrievalContent: "short" });

    expect([event.content, node.content]).toEqual(["a long source", "short"]);
    expect(event.contentHash).toBe(sha256Hex("a long source"));
  });

  test("keeps value bindings in full on event and node, none for an empty list", () => {
    const given = { reference: "r", kind: "k", presentation: "tea", lookup: "camellia" };
    const stored = { schema_version: 1, lookup_authority: "caller", ...given };

    const { event, node } = plan({ valueBindings: [given] });

    expect(event.metadata).toEqual({ svc_value_bindings_v1: [stored] } as never);
    expect(node.metadata).toEqual({ svc_value_bindings_v1: [stored] } as never);
    expect(plan({ valueBindings: [] })).toStrictEqual(plan());
  });

  test("gives a condition its first state on the node alone", () => {
    const metadata = { condition: "  if it rains " };

    const { event, node } = plan({ epistemicType: "conditional", metadata });

    expect(event.metadata).toEqual({ condition: "  if it rains " });
    expect(node.metadata).toEqual({ condition: "if it rains", condition_state: "unknown" });
    expect(node.confidence).toBe(0.45);
    expect(plan({ metadata }).node.metadata).toEqual(metadata);
  });

  test("copies metadata, so that later changes do not reach it", () => {
    const metadata = { list: [1] };

    const { node } = plan({ metadata });
    metadata.list.push(2);

    expect(node.metadata).toEqual({ list: [1] });
  });

  const inputs = fc.record(
    {
      content: fc.string({ unit: "grapheme" }).map((text) => `${text}.`),
      userId: fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => text.trim() !== ""),
      role: fc.constantFrom(...ROLES),
      nodeType: fc.constantFrom(...NODE_TYPES),
      scope: fc.constantFrom(...SCOPES),
      epistemicType: fc.constantFrom(
        ...EPISTEMIC_TYPES.filter((type) => type !== "deprecated" && type !== "conditional"),
      ),
      sourceType: fc.constantFrom(...SOURCE_TYPES),
      confidence: fc.double({ min: 0, max: 1, noNaN: true }),
      ttlDays: fc.option(fc.nat(1000), { nil: null }),
      sessionId: fc.string({ unit: "grapheme" }),
      metadata: fc.dictionary(
        fc.string({ unit: "grapheme" }).filter((key) => key !== "__proto__"),
        fc.jsonValue({ noUnicodeString: false }),
      ),
    },
    { requiredKeys: ["content", "userId"] },
  );

  test("is the same for the same input and changes nothing of it", () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const before = structuredClone(input);

        const first = planStore(input, CONTEXT);

        expect(planStore(structuredClone(input), CONTEXT)).toEqual(first);
        expect(input).toEqual(before);
      }),
      { numRuns: 200, seed: 3 },
    );
  });
});

describe("the raw note of an event", () => {
  test("takes the event's identity and times", () => {
    const { event } = plan({
      role: "assistant",
      speaker: "Bot",
      sessionId: "s",
      eventTime: "2026-01-01T00:00Z",
    });

    expect(planRawNote(event, DEFAULT_SETTINGS)).toMatchObject({
      id: event.id,
      nodeType: "note",
      content: "I like tea",
      sessionId: "s",
      epistemicType: "inferred",
      sourceType: "system_inferred",
      confidence: 0.55,
      confidenceBase: 0.55,
      salience: 0.5,
      decayProfile: "medium",
      metadata: { svc_speaker_v1: "Bot" },
      createdAt: NOW,
      validFrom: NOW,
      lastReinforcedAt: NOW,
      eventTime: asInstant("2026-01-01T00:00:00.000000Z"),
      ttlDays: undefined,
      evidenceRefs: [event.id],
    });
  });
});
