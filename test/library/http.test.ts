/** The HTTP interface that the library offers, on real packs and a real socket. */
import { describe, expect, test } from "bun:test";
import {
  createHttpHandler,
  InvalidArgumentError,
  startHttpServer,
  UnauthenticatedBindError,
  VERSION,
} from "../../src/library.ts";
import { useEngines } from "../engine/engines.ts";

const { open } = useEngines();

const at = (path: string, init?: RequestInit) => new Request(`http://localhost${path}`, init);
const json = { "content-type": "application/json" };

describe("a handler", () => {
  test("stores and reads through the engine that it was given", async () => {
    const { engine } = await open();
    const handle = createHttpHandler(engine);
    const body = JSON.stringify({ content: "Ada drinks tea", user_id: "ada" });
    const stored = await handle(at("/v1/store", { method: "POST", headers: json, body }));
    expect(stored.status).toBe(200);
    expect(await engine.queryNodes({ userId: "ada" })).toMatchObject([
      { content: "Ada drinks tea" },
    ]);
  });

  test("of an engine that is still being opened answers 503, but for health", async () => {
    const { engine } = await open();
    const opening = Promise.withResolvers<typeof engine>();
    const handle = createHttpHandler(opening.promise);
    const early = await handle(at("/v1/stats"));
    expect(early.status).toBe(503);
    expect(await early.json()).toEqual({ detail: "Engine not initialized", code: "not_ready" });
    expect(await (await handle(at("/v1/health"))).json()).toEqual({
      status: "ok",
      version: VERSION,
    });
    opening.resolve(engine);
    await opening.promise;
    expect((await handle(at("/v1/stats"))).status).toBe(200);
  });

  test("with keys asks for them under any name, without keys looks at the name", async () => {
    const { engine } = await open();
    const rebound = () => new Request("http://evil.test/v1/stats");
    expect((await createHttpHandler(engine, { apiKey: "k" })(rebound())).status).toBe(401);
    expect((await createHttpHandler(engine)(rebound())).status).toBe(421);
    const named = createHttpHandler(engine, { allowedHosts: ["evil.test"] });
    expect((await named(rebound())).status).toBe(200);
  });

  test("refuses keys that nobody could send", async () => {
    const { engine } = await open();
    expect(() => createHttpHandler(engine, { apiKey: " " })).toThrow("api.api_key");
  });
});

describe("a server", () => {
  test("on a network address without keys is refused before an engine is opened", async () => {
    let isOpened = false;
    const attempt = startHttpServer({
      host: "0.0.0.0",
      port: 0,
      engine: () => {
        isOpened = true;
        return Promise.reject(new Error("opened"));
      },
    });
    const error = await attempt.catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(UnauthenticatedBindError);
    expect(error).toBeInstanceOf(InvalidArgumentError);
    expect(isOpened).toBe(false);
  });

  test("leaves an engine open that is its caller's, and closes one that it opened", async () => {
    const { engine } = await open();
    const lent = await startHttpServer({ engine, port: 0 });
    expect((await fetch(`${lent.url}/v1/stats`)).status).toBe(200);
    await lent.stop();
    await expect(fetch(`${lent.url}/v1/health`)).rejects.toThrow();
    expect(await engine.stats()).toMatchObject({ nodeCount: 0 });

    const own = await startHttpServer({ engine: () => Promise.resolve(engine), port: 0 });
    await own.stop();
    await expect(engine.stats()).rejects.toMatchObject({ code: "engine_closed" });
  });
});
