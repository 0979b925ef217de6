import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { mainPath } from "../../../src/adapters/sqlite/connection/layout.ts";
import { openChecksummed } from "../../../src/domain/checksummed.ts";
import { SvcError } from "../../../src/domain/errors.ts";
import { nodeRecord } from "../../../src/domain/node.ts";
import { sha256Hex, uuidV5 } from "../../../src/lib/hashing.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import type { SqlitePack } from "../../contract/sqlite-pack.ts";
import { useEngines, wordEmbedder } from "../engines.ts";

const { open } = useEngines();

type Row = {
  readonly id: string;
  readonly op_type: string;
  readonly target_id: string;
  readonly payload: string;
  readonly actor_id: string;
  readonly namespace_id: string | null;
};

function operations(pack: SqlitePack): Row[] {
  const database = new Database(mainPath(pack.layout), { readonly: true });
  try {
    return database.query<Row, []>("SELECT * FROM operations ORDER BY key").all();
  } finally {
    database.close();
  }
}

const QUESTION = { query: "green tea", userId: "ada" };

describe("a direct store", () => {
  test("is found by the very next question and complete at once", async () => {
    const { engine } = await open();

    const receipt = await engine.storeWithReceipt({ content: "I like green tea", userId: "ada" });

    expect(receipt.processingStatus).toMatchObject({
      eventId: receipt.eventId,
      status: "complete",
      attempts: 1,
      lastError: undefined,
    });
    expect(receipt.nodeId).toBe(receipt.node.id);
    expect(receipt.node.id).not.toBe(receipt.eventId);
    expect(receipt.node.evidenceRefs).toEqual([receipt.eventId]);
    expect(await engine.getNode(receipt.nodeId, { userId: "ada" })).toEqual(receipt.node);
    const { results } = await engine.retrieve(QUESTION);
    expect(results.map(({ node, paths }) => ({ id: node.id, paths }))).toEqual([
      { id: receipt.nodeId, paths: ["VECTOR", "LEXICAL"] },
    ]);
  });

  test("returns the event's id", async () => {
    const { engine } = await open();

    const eventId = await engine.store({ content: "I like green tea", userId: "ada" });

    expect(await engine.getEvent(eventId, "ada")).toMatchObject({
      id: eventId,
      content: "I like green tea",
      contentHash: sha256Hex("I like green tea"),
    });
    expect(await engine.getEvent(eventId, "bob")).toBeUndefined();
  });

  test("keeps a checksummed record of what was planned", async () => {
    const { engine, pack } = await open();
    const { eventId, node } = await engine.storeWithReceipt({
      content: "I like green tea",
      userId: "ada",
      scope: "project",
      metadata: { a: [null, 1.5] },
      ttlDays: null,
    });

    const [row] = operations(pack);

    expect(row).toMatchObject({
      id: uuidV5(eventId, "svc:direct-store:v1"),
      op_type: "DIRECT_STORE_REQUESTED",
      target_id: eventId,
      actor_id: "store",
      namespace_id: "project",
    });
    const payload = JSON.parse(row?.payload ?? "") as { record: string; sha256: string };
    expect(payload.sha256).toBe(sha256Hex(payload.record));
    const record = openChecksummed(payload);
    expect(record).toMatchObject({
      schema_version: 1,
      event_id: eventId,
      content_hash: sha256Hex("I like green tea"),
    });
    // SAFETY: the record holds the node.
    expect(nodeRecord.from(record["node"] as JsonObject)).toEqual(node);
  });

  test.each([
    { name: "other text", retrievalContent: "tea", version: 2, shown: "tea" },
    { name: "the same text", retrievalContent: "green tea", version: 1, shown: "green tea" },
  ])(
    "of $name to index is a record of version $version",
    async ({ retrievalContent, version, shown }) => {
      const { engine, pack } = await open();

      const { node, eventId } = await engine.storeWithReceipt({
        content: "green tea",
        userId: "ada",
        retrievalContent,
      });

      expect(node.content).toBe(shown);
      expect((await engine.getEvent(eventId))?.content).toBe("green tea");
      expect(openChecksummed(JSON.parse(operations(pack)[0]?.payload ?? ""))).toMatchObject({
        schema_version: version,
      });
    },
  );

  test("indexes the retrieval content and not the source", async () => {
    const { engine } = await open();
    await engine.store({ content: "zebra", userId: "ada", retrievalContent: "giraffe" });

    const bySource = await engine.retrieve({ query: "zebra", userId: "ada", minScore: 0.01 });
    const byProjection = await engine.retrieve({ query: "giraffe", userId: "ada", minScore: 0.01 });

    expect(bySource.results).toHaveLength(0);
    expect(byProjection.results).toHaveLength(1);
  });

  test("is embedded with its speaker's name, once", async () => {
    const embedder = wordEmbedder();
    const { engine } = await open({ embedder });

    await engine.store({ content: "I like tea", userId: "ada", speaker: "Ann" });
    await engine.store({ content: "[10:05] ann: I like tea", userId: "ada", speaker: "Ann" });
    await engine.store({ content: "I like tea too", userId: "ada" });

    expect(embedder.documents).toEqual([
      "Ann: I like tea",
      "[10:05] ann: I like tea",
      "I like tea too",
    ]);
  });

  test("does not put the speaker's name into the lexical index", async () => {
    const { engine, store } = await open();
    await engine.store({ content: "I like tea", userId: "ada", speaker: "Xanthippe" });

    const { results } = await engine.retrieve({ query: "Xanthippe", userId: "ada" });

    expect(results.map(({ paths }) => paths)).toEqual([["VECTOR"]]);
    expect(await store.countNodes("ada")).toBe(1);
  });
});

describe("a direct store whose index fails", () => {
  test("succeeds, stays pending with the reason, and is finished by the next pass", async () => {
    let isBroken = true;
    const working = wordEmbedder();
    const embedder = wordEmbedder({
      embedDocument: async (text) => {
        if (isBroken) throw new SvcError("embedding_failed", "the model is out");
        return working.embedDocument(text);
      },
    });
    const { engine } = await open({ embedder });

    const { processingStatus, eventId, node } = await engine.storeWithReceipt({
      content: "I like green tea",
      userId: "ada",
    });
    const meanwhile = await engine.retrieve(QUESTION);

    expect(processingStatus).toMatchObject({
      status: "pending",
      attempts: 1,
      lastError: "embedding_failed",
    });
    expect(meanwhile.results.map(({ paths }) => paths)).toEqual([["LEXICAL"]]);

    isBroken = false;
    expect(await engine.processPending()).toEqual({ processed: 1, pending: 0, failed: 0 });
    expect(await engine.processingStatus(eventId, "ada")).toMatchObject({
      status: "complete",
      attempts: 2,
      lastError: undefined,
    });
    expect((await engine.retrieve(QUESTION)).results).toMatchObject([
      { node: { id: node.id }, paths: ["VECTOR", "LEXICAL"] },
    ]);
  });

  test("records the category of a failure that has no code, never its message", async () => {
    const embedder = wordEmbedder({
      embedDocument: async (text) => {
        throw new TypeError(`cannot embed ${text}`);
      },
    });
    const { engine } = await open({ embedder });

    const { processingStatus } = await engine.storeWithReceipt({
      content: "secret",
      userId: "ada",
    });

    expect(processingStatus.lastError).toBe("TypeError");
  });

  test("says so when the node could not be written, and keeps the event", async () => {
    let isBroken = true;
    const { engine } = await open({
      alter: (store) => ({
        materialize: (items) =>
          isBroken
            ? Promise.reject(new SvcError("disk_full", "no room"))
            : store.materialize(items),
      }),
    });

    const error = await engine
      .storeWithReceipt({ content: "I like green tea", userId: "ada" })
      .catch((caught) => caught);

    expect(error).toBeInstanceOf(SvcError);
    expect(error).toMatchObject({
      code: "materialization_failed",
      data: { reason_code: "disk_full" },
    });
    const eventId: string = error.data.event_id;
    expect((await engine.getEvent(eventId, "ada"))?.content).toBe("I like green tea");
    expect(await engine.processingStatus(eventId)).toMatchObject({
      status: "pending",
      attempts: 1,
      lastError: "disk_full",
    });
    isBroken = false;
    expect(await engine.processPending()).toMatchObject({ processed: 1, pending: 0 });
    expect((await engine.retrieve(QUESTION)).results).toHaveLength(1);
  });

  test("stores nothing when the event could not be written", async () => {
    const { engine } = await open({
      alter: () => ({ admit: () => Promise.reject(new SvcError("disk_full", "no room")) }),
    });

    const call = engine.store({ content: "I like green tea", userId: "ada" });

    expect(call).rejects.toMatchObject({ code: "disk_full" });
    await call.catch(() => {});
    expect(await engine.stats("ada")).toMatchObject({ nodeCount: 0, eventCount: 0 });
  });

  test("fails once and quietly when the store is broken altogether", async () => {
    const broken = () => {
      throw new SvcError("storage_failed", "the disk is gone");
    };
    let isBroken = false;
    const { engine } = await open({
      alter: (store) => ({
        hasModel: async (identity) => (isBroken ? broken() : store.hasModel(identity)),
        admit: async (admission) => (isBroken ? broken() : store.admit(admission)),
      }),
    });
    const unheard: unknown[] = [];
    const listen = (reason: unknown) => unheard.push(reason);
    process.on("unhandledRejection", listen);
    isBroken = true;

    const outcome = await engine
      .store({ content: "x", userId: "ada" })
      .catch((error: SvcError) => error.code);
    await Bun.sleep(20);

    process.off("unhandledRejection", listen);
    expect(outcome).toBe("storage_failed");
    expect(unheard).toEqual([]);
  });
});
