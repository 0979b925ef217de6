import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEngine } from "../../../src/app/open-engine.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { SvcError } from "../../../src/domain/errors.ts";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import { type HttpServer, startHttpServer } from "../../../src/surface/http/server.ts";
import { fakeEngine } from "../fake-engine.ts";

const BASE = {
  host: "127.0.0.1",
  port: 0,
  allowUnauthenticatedExternalBind: false,
  version: "9.9.9",
  auth: {},
  cors: { origins: [], allowCredentials: false },
  log: () => {},
};

let folder: string;
let server: HttpServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-http-"));
  const { config } = loadConfig({ explicit: { pack_path: join(folder, "memory.pack") } });
  server = await startHttpServer({ ...BASE, openEngine: () => openEngine(config) });
  await server.ready;
});

afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

describe("start and end", () => {
  test("a taken port is refused at once, and the engine is never opened", async () => {
    let isOpened = false;
    const attempt = startHttpServer({
      ...BASE,
      port: server.port,
      openEngine: () => {
        isOpened = true;
        return Promise.resolve(fakeEngine());
      },
    });
    await expect(attempt).rejects.toMatchObject({
      code: "bind_failed",
      message: expect.stringContaining(`127.0.0.1:${server.port} is already in use`),
    });
    expect(isOpened).toBe(false);
  });

  test("a network address without keys is refused before anything is opened", async () => {
    const attempt = startHttpServer({
      ...BASE,
      host: "0.0.0.0",
      openEngine: () => Promise.reject(new Error("opened")),
    });
    await expect(attempt).rejects.toMatchObject({ code: "unauthenticated_bind" });
  });

  test("requests that come while the engine opens wait until it can serve", async () => {
    const opening = Promise.withResolvers<MemoryEngine>();
    const young = await startHttpServer({ ...BASE, openEngine: () => opening.promise });
    let answered = 0;
    const early = ["/v1/stats", "/v1/health", "/docs", "/v1/nope"].map(async (path) => {
      const { status } = await fetch(young.url + path);
      answered += 1;
      return status;
    });
    await Bun.sleep(100);
    expect(answered).toBe(0);
    opening.resolve(
      fakeEngine({
        stats: () =>
          Promise.resolve({ nodeCount: 0, eventCount: 0, backend: "sqlite", details: undefined }),
      }),
    );
    expect(await Promise.all(early)).toEqual([200, 200, 200, 404]);
    await young.stop();
  });

  test("an engine that cannot open closes the socket again", async () => {
    const failure = new SvcError("not_a_pack", "memory.pack is a directory");
    const failing = await startHttpServer({ ...BASE, openEngine: () => Promise.reject(failure) });
    const early = fetch(`${failing.url}/v1/stats`).then(
      ({ status }) => status,
      () => "cut",
    );
    await expect(failing.ready).rejects.toBe(failure);
    expect([503, "cut"]).toContain(await early);
    await expect(fetch(`${failing.url}/v1/health`)).rejects.toThrow();
  });

  test("a running request is finished before the engine closes", async () => {
    const order: string[] = [];
    const begun = Promise.withResolvers<void>();
    const engine = fakeEngine({
      processPending: async () => {
        begun.resolve();
        await Bun.sleep(150);
        order.push("done");
        return { processed: 1, pending: 0, failed: 0 };
      },
      close: async () => {
        order.push("closed");
      },
    });
    const young = await startHttpServer({ ...BASE, openEngine: () => Promise.resolve(engine) });
    await young.ready;
    const answer = fetch(`${young.url}/v1/materializations/process`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"user_id":"a"}',
    });
    await begun.promise;
    await Promise.all([young.stop(), young.stop()]);
    expect((await answer).status).toBe(200);
    expect(order).toEqual(["done", "closed"]);
    await expect(fetch(`${young.url}/v1/health`)).rejects.toThrow();
  });

  test("a request that does not end is cut off after the bound", async () => {
    const begun = Promise.withResolvers<void>();
    const engine = fakeEngine({
      processPending: () => {
        begun.resolve();
        return new Promise(() => {});
      },
    });
    const young = await startHttpServer({
      ...BASE,
      drainMs: 100,
      openEngine: () => Promise.resolve(engine),
    });
    await young.ready;
    const answer = fetch(`${young.url}/v1/materializations/process`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"user_id":"a"}',
    }).catch(() => "cut");
    await begun.promise;
    await young.stop();
    expect(await answer).toBe("cut");
  });
});
