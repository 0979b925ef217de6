import { describe, expect, test } from "bun:test";
import { createHttpApp } from "../../../src/surface/http/app.ts";
import { freshId } from "../../contract/samples.ts";
import { KEYS, useApps } from "./engine-app.ts";

const { open } = useApps();

const ID = freshId();
const BODY = { content: "tea", user_id: "ada" };
const INTERNAL = { status: 500, json: { code: "internal", detail: "Internal server error" } };

const ROUTES = [
  { path: "/v1/nodes/scan?user_id=ada" },
  { path: `/v1/nodes/${ID}/neighborhood` },
  { path: `/v1/nodes/${ID}/chain` },
  { path: `/v1/nodes/${ID}/provenance` },
  { path: `/v1/events/${ID}/nodes` },
  { path: `/v1/events/${ID}/extraction` },
  { path: `/v1/events/${ID}/extraction-status` },
  { path: "/v1/ingest", body: BODY },
];

describe.each(ROUTES)("$path", ({ path, body }) => {
  test("is 401 without a key, and with a wrong one", async () => {
    const { ask } = await open(KEYS);
    const refused = {
      status: 401,
      json: { code: "unauthenticated", detail: "Invalid or missing API key" },
    };

    expect(await ask(path, { body })).toEqual(refused);
    expect(await ask(path, { body, key: "key-c" })).toEqual(refused);
  });

  test("is 503 before the engine is open and once it is closed", async () => {
    const young = createHttpApp({
      engine: () => undefined,
      version: "9.9.9",
      auth: {},
      cors: { origins: [], allowCredentials: false },
      log: () => {},
    });
    const early = await young.request(path, { method: body === undefined ? "GET" : "POST" });
    expect(early.status).toBe(503);
    expect(await early.json()).toEqual({ code: "not_ready", detail: "Engine not initialized" });

    const { ask, engine } = await open();
    await engine.close();
    expect(await ask(path, { body })).toEqual({
      status: 503,
      json: { code: "engine_closed", detail: "the engine was closed; open it again" },
    });
  });

  test("is 500 without a cause when the store fails", async () => {
    const fail = () => Promise.reject(new TypeError("wires crossed"));
    const { ask } = await open(
      {},
      {
        alter: () => ({
          scanNodes: fail,
          node: fail,
          event: fail,
          extractionJob: fail,
          admit: fail,
        }),
      },
    );

    expect(await ask(path, { body })).toEqual(INTERNAL);
  });
});

test("a message of more than 10 MiB is 413", async () => {
  const { ask } = await open();

  const { status } = await ask("/v1/ingest", {
    body: { ...BODY, content: "x".repeat(11 * 1024 * 1024) },
  });

  expect(status).toBe(413);
});
