import { describe, expect, test } from "bun:test";
import { checksummed } from "../../../src/domain/checksummed.ts";
import type { MemoryEvent } from "../../../src/domain/node.ts";
import { uuidV5 } from "../../../src/lib/hashing.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import {
  aMaterialization,
  aNode,
  anAdmission,
  anAuditRecord,
  anEvent,
  at,
  put,
} from "../../contract/samples.ts";
import { runRaw } from "../../engine/retrieve/pipeline-world.ts";
import { type OpenedApp, useApps } from "./engine-app.ts";

const { open } = useApps();

async function filled(auth = {}) {
  const app = await open(auth);
  const event = anEvent();
  await app.store.admit(anAdmission([event]));
  return { app, event };
}

/** The wire form of an extraction, which is also what is recorded. */
function extractionOf(event: MemoryEvent, given: JsonObject = {}): JsonObject {
  return {
    schema_version: 1,
    grounding_policy: "speech_act_v14",
    event_id: event.id,
    user_id: "ada",
    scope: "personal",
    content_hash: event.contentHash,
    provider: "openai",
    model: "openai/gpt-4o-mini",
    result: { entities: [], facts: [{ subject: "I" }], relationships: [], summary: null },
    created_at: at(5),
    ...given,
  };
}

function record({ store }: OpenedApp, event: MemoryEvent, extraction: JsonObject): Promise<void> {
  const operation = anAuditRecord({
    id: uuidV5(event.id, "svc:validated-extraction:v1"),
    opType: "EXTRACTION_VALIDATED",
    targetId: event.id,
    payload: checksummed(extraction),
  });
  return store.admit(anAdmission([], { auditRecords: [operation] }));
}

function addJob({ pack }: OpenedApp, event: MemoryEvent, values: string): void {
  runRaw(
    pack,
    `INSERT INTO jobs (event_key, kind, owner, status, attempts, last_error, lease_owner, lease_expires_at, updated_at)
     SELECT key, 'extraction', owner, ${values} FROM events WHERE id = ?1`,
    event.id,
  );
}

describe("GET /v1/events/{event_id}/nodes", () => {
  test("answers with all memories of an event, retired ones too", async () => {
    const { app, event } = await filled();
    const raw = aNode(event, { id: event.id });
    await app.store.materialize([aMaterialization(event, raw)]);
    const [archived] = await put(app.store, {
      evidenceRefs: [event.id],
      lifecycleState: "archived",
    });

    expect(await app.ask(`/v1/events/${event.id}/nodes`)).toEqual({
      status: 200,
      json: {
        nodes: [
          (await app.ask(`/v1/nodes/${raw.id}`)).json,
          (await app.ask(`/v1/nodes/${archived?.id}`)).json,
        ],
        count: 2,
      },
    });
  });

  test("answers with none for an event without memories", async () => {
    const { app, event } = await filled();

    expect(await app.ask(`/v1/events/${event.id}/nodes`)).toEqual({
      status: 200,
      json: { nodes: [], count: 0 },
    });
  });
});

describe("GET /v1/events/{event_id}/extraction", () => {
  test("answers with the record", async () => {
    const { app, event } = await filled();
    const extraction = extractionOf(event);
    await record(app, event, extraction);

    const { status, json } = await app.ask(`/v1/events/${event.id}/extraction`);

    expect({ status, json }).toEqual({ status: 200, json: extraction });
    expect(Object.keys(json)).toEqual(Object.keys(extraction));
  });

  test("names the batch of a turn that was extracted with others", async () => {
    const { app, event } = await filled();
    const extraction = extractionOf(event, { batch_id: "b1" });
    await record(app, event, extraction);

    expect((await app.ask(`/v1/events/${event.id}/extraction`)).json).toEqual(extraction);
  });

  test("is 500 without a cause for a record of another text", async () => {
    const { app, event } = await filled();
    await record(app, event, extractionOf(event, { content_hash: "0".repeat(64) }));

    expect(await app.ask(`/v1/events/${event.id}/extraction`)).toEqual({
      status: 500,
      json: { code: "internal", detail: "Internal server error" },
    });
  });
});

describe("GET /v1/events/{event_id}/extraction-status", () => {
  test("answers with work that somebody is at", async () => {
    const { app, event } = await filled();
    addJob(
      app,
      event,
      "'pending', 2, 'RateLimitError', 'somebody', '2026-03-18T12:10:00.000000Z', '2026-03-18T11:00:00.000000Z'",
    );

    const { status, json } = await app.ask(`/v1/events/${event.id}/extraction-status`);

    expect({ status, json }).toEqual({
      status: 200,
      json: {
        event_id: event.id,
        status: "running",
        phase: "extraction",
        attempts: 2,
        generation: 0,
        plan_id: null,
        plan_revision: 1,
        lease_expires_at: "2026-03-18T12:10:00.000000Z",
        next_attempt_at: null,
        last_error: "RateLimitError",
        updated_at: "2026-03-18T11:00:00.000000Z",
      },
    });
    expect(Object.keys(json)).toEqual([
      "event_id",
      "status",
      "phase",
      "attempts",
      "generation",
      "plan_id",
      "plan_revision",
      "lease_expires_at",
      "next_attempt_at",
      "last_error",
      "updated_at",
    ]);
  });

  test("answers with work that is complete", async () => {
    const { app, event } = await filled();
    addJob(app, event, "'complete', 1, NULL, NULL, NULL, '2026-03-18T11:00:00.000000Z'");

    expect((await app.ask(`/v1/events/${event.id}/extraction-status`)).json).toEqual({
      event_id: event.id,
      status: "complete",
      phase: "complete",
      attempts: 1,
      generation: 0,
      plan_id: null,
      plan_revision: 1,
      lease_expires_at: null,
      next_attempt_at: null,
      last_error: null,
      updated_at: "2026-03-18T11:00:00.000000Z",
    });
  });
});

const ROUTES = [
  { name: "nodes", what: "Event" },
  { name: "extraction", what: "Extraction of event" },
  { name: "extraction-status", what: "Extraction status of event" },
];

test("an event from which nothing was extracted has neither record nor status", async () => {
  const { app, event } = await filled();

  for (const { name, what } of ROUTES.slice(1)) {
    expect(await app.ask(`/v1/events/${event.id}/${name}`)).toEqual({
      status: 404,
      json: { code: "not_found", detail: `${what} '${event.id}' not found` },
    });
  }
});
