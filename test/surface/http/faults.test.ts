/** Failures of the engine, the pack and the disk as HTTP shows them. The table of all codes is in errors.test.ts. */
import { Database } from "bun:sqlite";
import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endAllServers, startServer } from "../../../scripts/bench/server.ts";
import { mainPath } from "../../../src/adapters/sqlite/connection/layout.ts";
import { SvcError } from "../../../src/domain/errors.ts";
import { startEmbeddingServer } from "../../adapters/embedding/embedding-server.ts";
import { directoryPack, encrypted, filePack, RAW_KEY } from "../../contract/sqlite-pack.ts";
import { type EngineOptions, wordEmbedder } from "../../engine/engines.ts";
import { PROGRAM } from "../cli/run-svc.ts";
import { type Answer, expectRefused, useApps } from "./engine-app.ts";
import { appOf, post as sent } from "./serving.ts";

setDefaultTimeout(120_000);

const { open } = useApps();
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-faults-"));
  folders.push(folder);
  return folder;
}

describe("internal and storage_failed", () => {
  const FIXED = "Internal server error";

  /** An engine on a pack of which a part is broken, and what is logged about it. */
  async function broken(alter: NonNullable<EngineOptions["alter"]>) {
    const lines: string[] = [];
    const { engine } = await open({}, { alter });
    const app = appOf({ engine, log: (level, message) => lines.push(`${level} ${message}`) });
    const answer = await app.request("/v1/store", sent({ content: "my secret", user_id: "ada" }));
    // SAFETY: what it holds is what is asserted.
    return {
      answer: { status: answer.status, json: (await answer.json()) as Answer["json"] },
      lines,
    };
  }

  test("internal: a fault of the program is a fixed text, its cause in the log only", async () => {
    const { answer, lines } = await broken(() => ({
      admit: () => Promise.reject(new TypeError("wires crossed at /home/ada")),
    }));
    expectRefused("internal", answer, FIXED);
    expect(lines.filter((line) => line.startsWith("error"))).toEqual([
      expect.stringContaining("wires crossed at /home/ada"),
    ]);
    expect(lines.join()).not.toContain("my secret");
  });

  test("storage_failed: a pack without one of its tables, likewise", async () => {
    const opened = await open();
    await opened.ask("/v1/store", { body: { content: "tea", user_id: "ada" } });
    const path = opened.pack.layout.kind === "file" ? opened.pack.layout.path : "";
    const meddler = new Database(path);
    meddler.run("DROP TABLE nodes");
    meddler.close();
    const answer = await opened.ask("/v1/nodes?user_id=ada");
    expectRefused("storage_failed", answer, FIXED);
  });

  test("a pack whose file was deleted takes no more writes, says why, and answers reads", async () => {
    const { ask, pack } = await open();
    const body = { content: "tea", user_id: "ada" };
    const stored = await ask("/v1/store", { body });
    rmSync(mainPath(pack.layout));
    expect(await ask("/v1/store", { body: { ...body, content: "coffee" } })).toEqual({
      status: 500,
      json: {
        code: "storage_failed",
        detail:
          "<pack>: was deleted, moved or replaced while this process had it open; nothing of this operation was stored. Put the file back under its name, or restart this process to use what is there now.",
      },
    });
    const read = await ask(`/v1/nodes/${String(stored.json["node_id"])}?user_id=ada`);
    expect(read.status).toBe(200);
  });
});

describe("materialization_failed", () => {
  test.each([
    { path: "/v1/store", body: { content: "tea", user_id: "ada" } },
    { path: "/v1/ingest", body: { content: "tea", user_id: "ada" } },
  ])("$path: the text is safe, and found once it has been processed", async ({ path, body }) => {
    let isBroken = true;
    const { ask, engine } = await open(
      {},
      {
        alter: (store) => ({
          materialize: (items) =>
            isBroken
              ? Promise.reject(new SvcError("storage_busy", "another process is writing"))
              : store.materialize(items),
        }),
      },
    );
    const { status, json } = await ask(path, { body });
    const eventId = String(json["event_id"]);
    expect({ status, json }).toEqual({
      status: 503,
      json: {
        code: "materialization_failed",
        detail: `event ${eventId} is stored; its memory is not fully indexed yet (storage_busy) and will be retried`,
        event_id: eventId,
        reason_code: "storage_busy",
        accepted: true,
      },
    });
    expect((await ask(`/v1/events/${eventId}`)).json).toMatchObject({ content: "tea" });
    const before = await ask(`/v1/events/${eventId}/processing-status`);
    expect(before.json).toMatchObject({ status: "pending", last_error: "storage_busy" });

    isBroken = false;
    await ask("/v1/materializations/process", { body: { user_id: "ada", budget_ms: 10_000 } });
    const after = await ask(`/v1/events/${eventId}/processing-status`);
    expect(after.json).toMatchObject({ status: "complete", last_error: null });
    expect((await engine.getEventNodes(eventId))?.map(({ content }) => content)).toEqual(["tea"]);
  });
});
test("pack_locked: a locked pack, until it is unlocked", async () => {
  const folder = newFolder();
  const { ask, engine } = await open({}, { pack: encrypted(directoryPack(folder)) });
  await ask("/v1/store", { body: { content: "tea", user_id: "ada" } });
  await engine.lock();
  for (const [path, body] of [
    ["/v1/stats", undefined],
    ["/v1/store", { content: "tea", user_id: "ada" }],
    ["/v1/retrieve", { query: "tea", user_id: "ada" }],
  ] as const) {
    const answer = await ask(path, { body });
    expectRefused("pack_locked", answer, "<pack>: is locked; unlock it with its key");
  }
  await engine.unlock(RAW_KEY);
  expect((await ask("/v1/stats")).json).toMatchObject({ node_count: 1 });
});

describe("a failing model is no failed request", () => {
  const failing = () =>
    wordEmbedder({
      embedDocument: () => Promise.reject(new SvcError("embedding_failed", "no model")),
      embedQuery: () => Promise.reject(new SvcError("embedding_failed", "no model")),
    });

  test("embedding_failed: a store leaves its job pending, a question is answered without", async () => {
    const { ask } = await open({}, { embedder: failing() });
    const stored = await ask("/v1/store", { body: { content: "green tea", user_id: "ada" } });
    expect([stored.status, stored.json["processing_status"]]).toEqual([
      200,
      expect.objectContaining({ status: "pending", last_error: "embedding_failed" }),
    ]);
    const { status, json } = await ask("/v1/retrieve", {
      body: { query: "green tea", user_id: "ada" },
    });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      results: [{ content: "green tea" }],
      metrics: { backend_failures: { VECTOR: "backend_error" }, embedding_mismatch: false },
    });
  });

  test("embedding_mismatch: likewise", async () => {
    const pack = filePack(newFolder());
    const first = await open({}, { pack });
    await first.ask("/v1/store", { body: { content: "green tea", user_id: "ada" } });
    await first.engine.close();
    const other = wordEmbedder({ identity: { model: "other", version: "1", dimension: 64 } });
    const { ask } = await open({}, { pack, embedder: other });
    const stored = await ask("/v1/store", { body: { content: "black tea", user_id: "ada" } });
    expect([stored.status, stored.json["processing_status"]]).toEqual([
      200,
      expect.objectContaining({ status: "pending", last_error: "embedding_mismatch" }),
    ]);
    const { status, json } = await ask("/v1/retrieve", {
      body: { query: "green tea", user_id: "ada" },
    });
    expect([status, json["metrics"]]).toEqual([
      200,
      expect.objectContaining({
        embedding_mismatch: true,
        backend_failures: { VECTOR: "embedding_mismatch" },
      }),
    ]);
  });
});

describe("a server in a process of its own", () => {
  // The model is not the fact: loading it takes most of a start.
  const words = startEmbeddingServer(48);
  const embedding = {
    SVC_EMBEDDING__PROVIDER: "openai",
    SVC_EMBEDDING__MODEL_NAME: "words",
    SVC_EMBEDDING__DIMENSION: "48",
    SVC_EMBEDDING__BASE_URL: `${words.url}/v1`,
    SVC_EMBEDDING_API_KEY: "none",
  };
  afterAll(async () => {
    words.stop();
    await endAllServers();
  });

  /** A server on a new pack that has some memories. */
  async function start(environment: Readonly<Record<string, string>> = {}) {
    const pack = join(newFolder(), "memory.pack");
    const settings = { ...embedding, ...environment };
    const server = await startServer({ pack, command: PROGRAM, environment: settings });
    const ask = async (path: string, body?: object): Promise<Answer> => {
      const answer = await fetch(server.url + path, body && sent(body));
      // SAFETY: every answer of this server is a JSON object.
      return { status: answer.status, json: (await answer.json()) as Answer["json"] };
    };
    const items = Array.from({ length: 40 }, (_, at) => ({
      content: `tea ${at} ${"in the harbour ".repeat(60)}`,
    }));
    await ask("/v1/store/batch", { items, user_id: "ada" });
    return { pack, server, ask };
  }

  /** A server that has read little of its pack: what one has stored since it began is answered from memory, whatever became of the file. */
  async function startAnew(environment: Readonly<Record<string, string>> = {}) {
    const { pack, server: first } = await start(environment);
    await first.end("SIGTERM");
    const settings = { ...embedding, ...environment };
    const server = await startServer({ pack, command: PROGRAM, environment: settings });
    const ask = async (path: string): Promise<Answer> => {
      const answer = await fetch(server.url + path);
      // SAFETY: every answer of this server is a JSON object.
      return { status: answer.status, json: (await answer.json()) as Answer["json"] };
    };
    return { pack, server, ask };
  }

  /** Overwrites a file from a place on. */
  function spoil(path: string, from: number): void {
    const length = statSync(path).size - from;
    const file = openSync(path, "r+");
    writeSync(file, Buffer.alloc(length, 0x5a), 0, length, from);
    closeSync(file);
  }

  test("storage_busy: another process holds the lock for writing", async () => {
    const { pack, server, ask } = await start({ SVC_BUSY_TIMEOUT_MS: "300" });
    const script = `
      import { Database } from "bun:sqlite";
      const database = new Database(${JSON.stringify(pack)});
      database.run("BEGIN IMMEDIATE");
      console.log("held");
      await Bun.stdin.text();
    `;
    const holder = Bun.spawn([process.execPath, "-e", script], { stdin: "pipe", stdout: "pipe" });
    await holder.stdout.getReader().read();
    const detail =
      "<pack>: another process is writing and did not finish in time; nothing of this operation was stored. Try again.";
    const batch = { items: [{ content: "x" }], user_id: "ada" };
    expectRefused("storage_busy", await ask("/v1/store", { content: "x", user_id: "ada" }), detail);
    expectRefused("storage_busy", await ask("/v1/ingest/fast", batch), detail);
    // Who only reads does not wait.
    expect((await ask("/v1/stats?user_id=ada")).json).toMatchObject({ node_count: 40 });
    holder.stdin.end();
    await holder.exited;
    expect((await ask("/v1/store", { content: "x", user_id: "ada" })).status).toBe(200);
    await server.end("SIGTERM");
  });

  test("pack_too_new: a newer program upgraded the pack while it was served", async () => {
    const { pack, server, ask } = await start();
    const newer = new Database(pack);
    newer.run("UPDATE pack_manifest SET format_version = format_version + 1");
    newer.close();
    const { status, json } = await ask("/v1/store", { content: "x", user_id: "ada" });
    expect([status, json["code"]]).toEqual([503, "pack_too_new"]);
    expect(json["detail"]).toContain("open it with a newer svc");
    // What was there can be read until the server is replaced by a newer one, too.
    expect((await ask("/v1/stats?user_id=ada")).json).toMatchObject({ node_count: 40 });
    expect((await ask("/v1/nodes/browse?user_id=ada&limit=1")).json).toMatchObject({ count: 1 });
    const found = await ask("/v1/retrieve", { query: "x", user_id: "ada" });
    expect(found.json["metrics"]).toMatchObject({ receipt_persisted: false });
    await server.end("SIGTERM");
  });

  test("pack_damaged: pages of an encrypted pack were overwritten while it was served", async () => {
    const { pack, server, ask } = await startAnew({
      SVC_ENCRYPTION_ENABLED: "true",
      SVC_ENCRYPTION_KEY: RAW_KEY,
    });
    spoil(pack, 8192);
    const detail =
      "<pack>: was damaged or changed from outside: a part of it is not what was written. Restore it from a copy; svc doctor <pack> says more.";
    expectRefused("pack_damaged", await ask("/v1/nodes?user_id=ada"), detail);
    expectRefused("pack_damaged", await ask("/v1/nodes/scan?user_id=ada"), detail);
    expect((await ask("/v1/health")).status).toBe(200);
    await server.end("SIGKILL");
  });

  test("not_a_pack or pack_damaged: a pack was overwritten with something else while it was served", async () => {
    const { pack, server, ask } = await startAnew();
    spoil(pack, 0);
    // Which of the two is a matter of what the connection has read of it before.
    const told: Partial<Record<string, string>> = {
      not_a_pack:
        "<pack>: is not a pack (its content is not that of a pack). Nothing was changed; give another path, or create a pack with: svc init",
      pack_damaged:
        "<pack>: was damaged or changed from outside: a part of it is not what was written. Restore it from a copy; svc doctor <pack> says more.",
    };
    for (const path of ["/v1/nodes?user_id=ada", "/v1/nodes/scan?user_id=ada"]) {
      const { json } = await ask(path);
      expect(json["detail"]).toBe(told[String(json["code"])] ?? "one of the two");
    }
    await server.end("SIGKILL");
  });
});
