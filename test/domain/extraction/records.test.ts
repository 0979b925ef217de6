import { describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import { memoriesToShow, withCorrections } from "../../../src/domain/extraction/plan/claims.ts";
import { DropTally, resultForm } from "../../../src/domain/extraction/result.ts";
import {
  batchIdOf,
  endsSplit,
  extractionRecordId,
  failureCode,
  failureOfStatus,
  isWorthSplitting,
  toBatchRecord,
  toExtractionRecord,
} from "../../../src/domain/extraction/work.ts";
import { asInstant } from "../../../src/lib/instant.ts";
import { anAdmission, anEvent, at } from "../../contract/samples.ts";
import { testClock, useEngines } from "../../engine/engines.ts";
import { claim, entity, MemoryOf } from "./memory-of.ts";

const { open } = useEngines();
const BY = { provider: "openai", model: "gpt-4o-mini", promptVersion: "extraction-1", at: at(5) };
const RESULT = {
  entities: [entity("Lisbon", "location")],
  claims: [claim("I | lives_in | Lisbon", { evidenceQuote: "I live in Lisbon." })],
  summary: undefined,
};

describe("the record of an extraction", () => {
  test("is what the engine tells of an event", async () => {
    const { engine, store } = await open({ clock: testClock("2026-03-18T12:00:00Z") });
    const event = anEvent();
    await store.admit(anAdmission([event]));
    const record = toExtractionRecord(event, { result: RESULT, drops: { uncertain: 2 } }, BY);
    await store.admit(anAdmission([], { auditRecords: [record] }));
    expect(record.id).toBe(extractionRecordId(event.id));
    const told = await engine.getExtraction(event.id);
    expect(told).toMatchObject({
      groundingPolicy: "speech_act_v14",
      provider: "openai",
      model: "openai/gpt-4o-mini",
      contentHash: event.contentHash,
      createdAt: at(5),
      batchId: undefined,
    });
    expect(resultForm.read(told?.result ?? null, "result")).toEqual(RESULT);
  });

  test("names the prompts, counts what was dropped, and leaves out what is unset", () => {
    const event = anEvent();
    const textOf = (batchId?: ReturnType<typeof extractionRecordId>) =>
      toExtractionRecord(event, { result: RESULT, drops: { uncertain: 2 } }, BY, batchId).payload
        .record;
    expect(JSON.parse(textOf())).toMatchObject({
      prompt_version: "extraction-1",
      dropped: { uncertain: 2 },
      result: { summary: null, facts: [{ condition: null, quantity: null }] },
    });
    expect(textOf()).not.toContain("batch_id");
    expect(textOf()).not.toContain("replaces_node_id");
    expect(JSON.parse(textOf(event.id))).toMatchObject({ batch_id: event.id });
  });
});

describe("the record of a request", () => {
  const events = [anEvent(), anEvent()];
  const request = {
    head: events[0]!,
    events,
    requestSha256: "0".repeat(64),
    response: { turns: [{ turn: 1, entities: [], facts: [], relationships: [] }] },
    turnsAskedAgain: [],
    shown: [],
  };

  test("has its turns in order, and no key without content", () => {
    const { payload, ...operation } = toBatchRecord(request, BY);
    expect(operation).toMatchObject({
      opType: "EXTRACTION_BATCH_RECORDED",
      targetId: events[0]?.id,
    });
    expect(payload.batch.turns.map(({ index, event_id }) => [index, event_id])).toEqual([
      [1, events[0]!.id],
      [2, events[1]!.id],
    ]);
    expect(Object.keys(payload.batch)).not.toContain("turns_asked_again");
    expect(Object.keys(payload.batch)).not.toContain("memories_shown");
    const node = events[1]!.id;
    const shown = [{ label: "m1", nodeId: node, turns: [2] }];
    const full = toBatchRecord({ ...request, turnsAskedAgain: [2], shown }, BY).payload.batch;
    expect(full).toMatchObject({
      turns_asked_again: [2],
      memories_shown: [{ label: "m1", node_id: node, turns: [2] }],
    });
  });

  test("has one id for one request about the same turns", () => {
    expect(batchIdOf(request)).toBe(batchIdOf({ ...request, response: {} }));
    expect(batchIdOf({ ...request, requestSha256: "1".repeat(64) })).not.toBe(batchIdOf(request));
    expect(batchIdOf({ ...request, events: events.slice(1) })).not.toBe(batchIdOf(request));
  });
});

describe("memories that a request shows to be corrected", () => {
  const memory = new MemoryOf();
  const told = Array.from({ length: 30 }, (_, index) => {
    const said = { content: "I like tea.", claims: [claim(`I | likes | ${index}`)], day: 5 };
    return memory.tell(said).nodes.at(-1)!;
  });
  const turnOn = (day: number) => memory.context({ content: "x", day }).turn;

  test("are the five nearest of each turn, twenty in all, each with one label", () => {
    const turns = [6, 6, 6, 6, 6, 6].map(turnOn);
    const nearest = turns.map((_, index) => told.slice(index * 4, index * 4 + 8));
    const shown = memoriesToShow(turns, nearest);
    expect(shown).toHaveLength(20);
    expect(shown.map(({ label }) => label)).toEqual(shown.map((_, index) => `m${index + 1}`));
    // The fifth of a turn is the first of the next one.
    expect(shown[4]).toMatchObject({ nodeId: told[4]!.id, turns: [1, 2] });
  });

  test("are statements that hold, without condition, from before the turn", () => {
    const [node] = told;
    const nodes = [
      node!,
      { ...node!, id: told[1]!.id, lifecycleState: "superseded" as const },
      { ...node!, id: told[2]!.id, epistemicType: "hypothetical" as const },
      { ...node!, id: told[3]!.id, nodeType: "entity" as const },
      { ...node!, id: told[4]!.id, metadata: { condition: "if" } },
      { ...node!, id: told[5]!.id, eventTime: asInstant("2024-05-07T00:00:00.000000Z") },
    ];
    expect(memoriesToShow([turnOn(6)], [nodes]).map(({ nodeId }) => nodeId)).toEqual([node!.id]);
  });

  test("are found by their labels; a label that was not shown goes, its claim stays", () => {
    const shown = [{ label: "m1", nodeId: told[0]!.id, turns: [1] }];
    const claims = ["m1", " m1 ", "m2", undefined].map((replacesMemory) =>
      claim("I | likes | rum", { replacesMemory }),
    );
    const tally = new DropTally();
    const resolved = withCorrections({ ...RESULT, claims }, shown, tally).claims;
    expect(resolved.map(({ replacesNodeId }) => replacesNodeId)).toEqual([
      told[0]!.id,
      told[0]!.id,
      undefined,
      undefined,
    ]);
    expect(resolved.every(({ replacesMemory }) => replacesMemory === undefined)).toBe(true);
    expect(tally.counts).toEqual({ memory_not_shown: 1 });
  });
});

describe("the reason of a failed extraction", () => {
  test.each([
    [400, "BadRequestError"],
    [401, "AuthenticationError"],
    [403, "PermissionDeniedError"],
    [404, "NotFoundError"],
    [413, "BadRequestError"],
    [422, "UnprocessableEntityError"],
    [429, "RateLimitError"],
    [500, "InternalServerError"],
    [529, "InternalServerError"],
  ])("is told by the status %i of the provider", (status, code) => {
    expect(String(failureOfStatus(status))).toBe(code);
    expect(failureCode(new SvcError("model_failed", "x", { status }))).toBe(code);
  });

  test("is the first known one among the causes", () => {
    const cause = Object.assign(new Error("inner"), { name: "RateLimitError" });
    expect(failureCode(new Error("outer", { cause }))).toBe("RateLimitError");
  });

  test("is otherwise the last name, in plain characters", () => {
    const cause = Object.assign(new Error("inner"), { name: "Odd Näme!" });
    expect(failureCode(new Error("outer", { cause }))).toBe("OddNme");
    expect(failureCode("text")).toBe("Error");
    expect(failureCode(Object.assign(new Error(""), { name: "x".repeat(500) }))).toHaveLength(100);
  });

  test("ends for a chain of causes that has no end", () => {
    const error = new Error("loop");
    error.cause = error;
    expect(failureCode(error)).toBe("Error");
  });

  test("decides whether a request is asked again in halves", () => {
    expect(["ValidationError", "TimeoutError", "BadRequestError"].every(isWorthSplitting)).toBe(
      true,
    );
    expect(["RateLimitError", "InternalServerError", "Error"].some(isWorthSplitting)).toBe(false);
    expect(endsSplit("TimeoutError")).toBe(true);
    expect(endsSplit("ValidationError")).toBe(false);
  });
});
