/** Whether a server can answer, which balancers of load ask without a key. */
import { expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import { wordEmbedder } from "../../engine/engines.ts";
import { KEYS, useApps } from "./engine-app.ts";

const { open } = useApps();

test("says yes without a key, to every name and page, once the model has answered", async () => {
  let asked = 0;
  const { embedQuery } = wordEmbedder();
  const embedder = wordEmbedder({
    embedQuery: async (text) => {
      asked += 1;
      return await embedQuery(text);
    },
  });
  const { app } = await open(KEYS, { embedder });
  const answer = await app.request("/v1/ready", { headers: { host: "balancer.test" } });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({ status: "ready" });
  expect(asked).toBe(1);
});

test("says no while the model cannot be loaded, and yes as soon as it can, and the log warns of both", async () => {
  const opened = await open();
  let isLoaded = false;
  const ready = async (): Promise<void> => {
    if (!isLoaded) throw new SvcError("embedding_failed", "no model");
    await opened.engine.ready();
  };
  const warned: string[] = [];
  const log = (level: string, text: string): void => {
    if (level === "warn" && text !== "request") warned.push(text);
  };
  const { app } = await open({}, {}, { engine: () => ({ ...opened.engine, ready }), log });
  const refused = await app.request("/v1/ready");
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await refused.json()).toEqual({ detail: "The memory cannot answer", code: "not_ready" });
  expect((await app.request("/v1/health")).status).toBe(200);
  isLoaded = true;
  let status = 503;
  while (status === 503) {
    await Bun.sleep(20);
    ({ status } = await app.request("/v1/ready"));
  }
  expect(status).toBe(200);
  expect(warned).toEqual([
    "the memory cannot answer (embedding_failed)",
    "the memory answers again",
  ]);
});

test("says no while the engine is not open, and answers GET alone", async () => {
  const { app } = await open({}, {}, { engine: () => undefined });
  expect((await app.request("/v1/ready")).status).toBe(503);
  const posted = await app.request("/v1/ready", { method: "POST" });
  expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
});
