import { describe, expect, test } from "bun:test";
import { checksummed } from "../../../src/domain/checksummed.ts";
import type { MemoryEvent } from "../../../src/domain/node.ts";
import { uuidV5 } from "../../../src/lib/hashing.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import type { AuditRecord } from "../../../src/ports/store/records.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { anAdmission, anAuditRecord, anEvent, at, freshId } from "../../contract/samples.ts";
import type { SqlitePack } from "../../contract/sqlite-pack.ts";
import { expectInvalid, testClock, useEngines } from "../engines.ts";
import { runRaw } from "../retrieve/pipeline-world.ts";

const { open } = useEngines({ upkeep: undefined });

const RESULT = { entities: [{ name: "Graz" }], facts: [], relationships: [], summary: null };

function extractionOf(event: MemoryEvent, given: JsonObject = {}): JsonObject {
  return {
    schema_version: 1,
    grounding_policy: "speech_act_v14",
    event_id: event.id,
    user_id: event.userId,
    scope: event.scope,
    content_hash: event.contentHash,
    provider: "openai",
    model: "openai/gpt-4o-mini",
    result: RESULT,
    created_at: at(5),
    ...given,
  };
}

/** Keeps an extraction as extracting would. */
function record(
  store: Store,
  event: MemoryEvent,
  payload: JsonObject,
  given: Partial<AuditRecord> = {},
): Promise<void> {
  const operation = anAuditRecord({
    id: uuidV5(event.id, "svc:validated-extraction:v1"),
    opType: "EXTRACTION_VALIDATED",
    targetId: event.id,
    actorId: "extraction",
    namespaceId: event.scope,
    payload,
    ...given,
  });
  return store.admit(anAdmission([], { auditRecords: [operation] }));
}

async function withEvent() {
  const opened = await open({ clock: testClock("2026-03-18T12:00:00Z") });
  const event = anEvent();
  await opened.store.admit(anAdmission([event]));
  return { ...opened, event };
}

describe("an extraction", () => {
  test("is what was recorded about the event", async () => {
    const { engine, store, event } = await withEvent();
    await record(store, event, checksummed(extractionOf(event, { batch_id: "b1" })));

    expect(await engine.getExtraction(event.id.toUpperCase(), "ada")).toEqual({
      schemaVersion: 1,
      groundingPolicy: "speech_act_v14",
      eventId: event.id,
      userId: "ada",
      scope: "personal",
      contentHash: event.contentHash,
      provider: "openai",
      model: "openai/gpt-4o-mini",
      promptVersion: undefined,
      result: RESULT,
      dropped: undefined,
      createdAt: at(5),
      batchId: "b1",
    });
    expect(await engine.getExtraction(event.id, "bob")).toBeUndefined();
  });

  test("of a turn alone has no batch", async () => {
    const { engine, store, event } = await withEvent();
    await record(store, event, checksummed(extractionOf(event)));

    expect((await engine.getExtraction(event.id))?.batchId).toBeUndefined();
  });

  test("is not there where nothing was extracted, nor for an unknown event", async () => {
    const { engine, event } = await withEvent();

    expect(await engine.getExtraction(event.id)).toBeUndefined();
    expect(await engine.getExtraction(freshId())).toBeUndefined();
    await expectInvalid(engine.getExtraction("7"), { field: "event_id" });
    await expectInvalid(engine.getExtraction(event.id, " "), { field: "user_id" });
  });

  test.each<{ name: string; given: JsonObject }>([
    { name: "another owner", given: { user_id: "bob" } },
    { name: "another scope", given: { scope: "project" } },
    { name: "another text", given: { content_hash: "0".repeat(64) } },
    { name: "another event", given: { event_id: freshId() } },
    { name: "another form", given: { schema_version: 2 } },
    { name: "no model", given: { model: null } },
    { name: "no moment", given: { created_at: "soon" } },
    { name: "a batch that is no text", given: { batch_id: 7 } },
  ])("of $name is refused", async ({ given }) => {
    const { engine, store, event } = await withEvent();
    await record(store, event, checksummed(extractionOf(event, given)));

    await expect(engine.getExtraction(event.id)).rejects.toMatchObject({ code: "storage_failed" });
  });

  test("that was changed is refused, and so is another kind of record in its place", async () => {
    const { engine, store, event } = await withEvent();
    const other = anEvent();
    await store.admit(anAdmission([other]));
    const changed = { ...checksummed(extractionOf(event)), record: JSON.stringify(RESULT) };
    await record(store, event, changed);
    await record(store, other, checksummed(extractionOf(other)), { opType: "REINFORCE" });

    for (const { id } of [event, other]) {
      await expect(engine.getExtraction(id)).rejects.toMatchObject({ code: "storage_failed" });
    }
  });
});

type Job = {
  readonly status?: "pending" | "complete";
  readonly attempts?: number;
  readonly leasedUntil?: string;
  readonly lastError?: string;
};

function addJob(pack: SqlitePack, event: MemoryEvent, job: Job): void {
  runRaw(
    pack,
    `INSERT INTO jobs (event_key, kind, owner, status, attempts, last_error, lease_owner, lease_expires_at, updated_at)
     SELECT key, 'extraction', owner, ?2, CAST(?3 AS INTEGER), nullif(?4, ''), nullif(?5, ''), nullif(?6, ''), ?7
     FROM events WHERE id = ?1`,
    event.id,
    job.status ?? "pending",
    String(job.attempts ?? 0),
    job.lastError ?? "",
    job.leasedUntil === undefined ? "" : "somebody",
    job.leasedUntil ?? "",
    at(7),
  );
}

const BEFORE = "2026-03-18T11:59:59.000000Z";
const AFTER = "2026-03-18T12:10:00.000000Z";

describe("the state of extraction", () => {
  test.each<{
    name: string;
    job: Job;
    isRecorded?: boolean;
    status: string;
    phase: string;
  }>([
    { name: "waiting", job: {}, status: "pending", phase: "extraction" },
    {
      name: "waiting after a failure",
      job: { attempts: 2, lastError: "RateLimitError" },
      status: "pending",
      phase: "extraction",
    },
    {
      name: "at work",
      job: { attempts: 1, leasedUntil: AFTER },
      status: "running",
      phase: "extraction",
    },
    {
      name: "left behind by whoever was at work",
      job: { attempts: 1, leasedUntil: BEFORE },
      status: "pending",
      phase: "extraction",
    },
    {
      name: "extracted and not yet prepared",
      job: { attempts: 1, leasedUntil: AFTER },
      isRecorded: true,
      status: "running",
      phase: "preparation",
    },
    {
      name: "complete",
      job: { status: "complete", attempts: 3 },
      isRecorded: true,
      status: "complete",
      phase: "complete",
    },
  ])("of work that is $name is $status, $phase", async ({ job, isRecorded, status, phase }) => {
    const { engine, store, pack, event } = await withEvent();
    if (isRecorded === true) await record(store, event, checksummed(extractionOf(event)));
    addJob(pack, event, job);

    expect(await engine.extractionStatus(event.id, "ada")).toEqual({
      eventId: event.id,
      status,
      phase,
      attempts: job.attempts ?? 0,
      generation: 0,
      planId: undefined,
      planRevision: 1,
      // SAFETY: the text is an instant in its canonical form.
      leaseExpiresAt: (status === "running" ? job.leasedUntil : undefined) as
        | ReturnType<typeof at>
        | undefined,
      nextAttemptAt: undefined,
      lastError: job.lastError,
      updatedAt: at(7),
    } as Awaited<ReturnType<typeof engine.extractionStatus>>);
    expect(await engine.extractionStatus(event.id, "bob")).toBeUndefined();
  });

  test("is not there without such work", async () => {
    const { engine, event } = await withEvent();

    expect(await engine.extractionStatus(event.id)).toBeUndefined();
    expect(await engine.extractionStatus(freshId())).toBeUndefined();
    await expectInvalid(engine.extractionStatus("7"), { field: "event_id" });
  });
});
