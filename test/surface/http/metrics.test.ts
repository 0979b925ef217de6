/** The numbers for those who watch a server, and who may read them. */
import { describe, expect, test } from "bun:test";
import { createMetrics } from "../../../src/surface/http/metrics.ts";
import type { MetricsAccess } from "../../../src/surface/http/metrics-endpoint.ts";
import { type AuthSettings, createAuthenticate } from "../../../src/surface/listener/auth.ts";
import { KEYS, type OpenedApp, useApps } from "./engine-app.ts";
import { useServers } from "./serving.ts";

const { open } = useApps();
const serve = useServers();

async function watched(auth: AuthSettings = {}, key?: string): Promise<OpenedApp> {
  const authenticate = key === undefined ? undefined : createAuthenticate({ apiKey: key });
  const metrics: MetricsAccess = { metrics: createMetrics("9.9.9"), authenticate };
  return await open(auth, {}, { metrics });
}

/** The values by name and labels. */
async function scrape({ app }: OpenedApp): Promise<ReadonlyMap<string, number>> {
  const text = await (await app.request("/metrics")).text();
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(" ");
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}

test("requests are counted by route, and what is stored by state", async () => {
  const opened = await watched();
  await opened.ask("/v1/store", { body: { content: "Anna likes tea", user_id: "anna" } });
  await opened.ask("/v1/store", { body: { content: "", user_id: "anna" } });
  await opened.ask("/v1/nodes/nonsense?user_id=anna");

  const values = await scrape(opened);

  expect(values.get('svc_http_requests_total{method="POST",route="/v1/store",status="200"}')).toBe(
    1,
  );
  expect(values.get('svc_http_requests_total{method="POST",route="/v1/store",status="422"}')).toBe(
    1,
  );
  expect(
    values.get('svc_http_requests_total{method="GET",route="/v1/nodes/{node_id}",status="422"}'),
  ).toBe(1);
  const duration = "svc_http_request_duration_seconds";
  expect(values.get(`${duration}_count{method="POST",route="/v1/store"}`)).toBe(2);
  expect(values.get(`${duration}_bucket{le="+Inf",method="POST",route="/v1/store"}`)).toBe(2);
  // The question for the numbers itself.
  expect(values.get("svc_http_requests_in_flight")).toBe(1);
  expect(values.get("svc_ready")).toBe(1);
  expect(values.get("svc_memories_active")).toBe(1);
  expect(values.get('svc_memories{state="tentative"}')).toBe(1);
  expect(values.get("svc_events")).toBe(1);
  expect(values.get("svc_pack_bytes")).toBeGreaterThan(0);
  expect(values.get('svc_jobs_pending{kind="index"}')).toBe(0);
  expect(values.get('svc_info{version="9.9.9"}')).toBe(1);
});

test("work that waits is counted by kind", async () => {
  const opened = await watched();
  await opened.engine.ingestFast({ content: "Anna likes tea", userId: "anna" });
  const waiting = (await opened.engine.stats()).details?.jobs.pending;

  const values = await scrape(opened);

  expect(values.get('svc_jobs_pending{kind="index"}')).toBe(waiting ?? Number.NaN);
  expect(values.get('svc_jobs_pending{kind="extraction"}')).toBe(0);
});

test("neither text nor id nor owner is told", async () => {
  const opened = await watched();
  const id = await opened.engine.store({ content: "the secret zebra", userId: "private-anna" });
  await opened.ask(`/v1/nodes/${id}?user_id=private-anna`);
  await opened.ask("/v1/private-path?q=zebra");

  const text = await (await opened.app.request("/metrics")).text();

  for (const hidden of ["zebra", "private", id]) expect(text).not.toContain(hidden);
  expect(text).toContain('route="unmatched"');
});

test("no caller invents labels: other methods are one, and a method that no route takes has no route", async () => {
  const opened = await watched();
  for (const method of ["SEARCH", "PROPFIND", "MKCOL", "LOCK"]) {
    await opened.app.request("/v1/stats", { method });
    await opened.app.request("/v1/nodes/some-private-id", { method });
  }
  await opened.app.request("/metrics", { method: "DELETE" });

  const text = await (await opened.app.request("/metrics")).text();

  const counted = text.split("\n").filter((line) => line.startsWith("svc_http_requests_total{"));
  expect(counted.toSorted()).toEqual([
    'svc_http_requests_total{method="DELETE",route="unmatched",status="405"} 1',
    'svc_http_requests_total{method="other",route="unmatched",status="405"} 8',
  ]);
});

test("what is stored is counted once for callers who ask at the same time", async () => {
  let asked = 0;
  const { engine } = await watched();
  const stats = async () => {
    asked += 1;
    return await engine.stats();
  };
  const metrics = createMetrics("9.9.9");
  const texts = await Promise.all([1, 2, 3].map(() => metrics.text({ ...engine, stats })));
  expect(asked).toBe(1);
  for (const text of texts) expect(text).toContain("svc_ready 1");
});

describe("who may read them", () => {
  test("with no other key, the holder of the key of the numbers alone", async () => {
    const { app } = await watched({}, "scraper");
    const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
    expect((await app.request("/metrics")).status).toBe(401);
    expect((await app.request("/metrics", as("wrong"))).status).toBe(401);
    expect((await app.request("/metrics", as("scraper"))).status).toBe(200);
  });

  test("an operator with the key, and nobody without", async () => {
    const { app } = await watched({ apiKey: "operator" });
    const headers = { authorization: "Bearer operator" };
    expect((await app.request("/metrics")).status).toBe(401);
    const answer = await app.request("/metrics", { headers });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  test("not the key of one owner, but the key of the numbers, which opens nothing else", async () => {
    const { app } = await watched(KEYS, "scraper");
    const as = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
    expect((await app.request("/metrics", as("key-a"))).status).toBe(403);
    expect((await app.request("/metrics", as("wrong"))).status).toBe(401);
    expect((await app.request("/metrics", as("scraper"))).status).toBe(200);
    expect((await app.request("/v1/stats", as("scraper"))).status).toBe(401);
  });

  test("no page of another site, and no caller under a foreign name", async () => {
    const { app } = await watched();
    const origin = { headers: { origin: "http://evil.test" } };
    expect((await app.request("/metrics", origin)).status).toBe(403);
    expect((await app.request("/metrics", { headers: { host: "evil.test" } })).status).toBe(421);
  });
});

test("they are read with GET alone, and are not there unless they are turned on", async () => {
  const { app } = await watched();
  const refused = await app.request("/metrics", { method: "POST" });
  expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  expect((await app.request("/metrics", { method: "HEAD" })).status).toBe(200);
  const { app: plain } = await open();
  expect((await plain.request("/metrics")).status).toBe(404);
});

test("a memory that cannot be read makes the server not ready, and the numbers stay readable", async () => {
  const metrics: MetricsAccess = { metrics: createMetrics("9.9.9") };
  const opened = await open({}, {}, { metrics, engine: () => undefined });

  const values = await scrape(opened);

  expect(values.get("svc_ready")).toBe(0);
  expect(values.has("svc_events")).toBeFalse();
});

test("a request whose caller hangs up is counted out", async () => {
  const metrics = createMetrics("9.9.9");
  const server = await serve({ metrics: { metrics } });
  const gone = new AbortController();
  const call = fetch(`${server.url}/v1/store`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array(4)) }),
    signal: gone.signal,
  }).catch(() => undefined);
  await Bun.sleep(50);
  gone.abort();
  await call;
  const started = performance.now();
  let text = "";
  while (!text.includes("svc_http_requests_in_flight 0") && performance.now() - started < 30_000) {
    await Bun.sleep(20);
    text = await metrics.text(undefined);
  }
  expect(text).toContain("svc_http_requests_in_flight 0");
});
