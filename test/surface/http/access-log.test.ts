/** What is written about requests, and that nothing private is. */
import { describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import { useEngines } from "../../engine/engines.ts";
import { fakeEngine } from "../fake-engine.ts";
import { EVENT_ID, NODE_ID } from "../fixtures.ts";
import { appOf, type LogLine, plain, post, speak, useServers } from "./serving.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const traceparent = `00-${TRACE}-${SPAN}-01`;

const { open } = useEngines();
const serve = useServers();

function logging(setup: Parameters<typeof appOf>[0] = {}) {
  const lines: LogLine[] = [];
  const app = appOf({
    ...setup,
    log: (level, message, fields = {}) => lines.push({ level, message, fields }),
  });
  return { app, lines };
}

test.each([
  { method: "POST", path: "/v1/store?user_id=secret", route: "/v1/store", status: 422 },
  { method: "GET", path: `/v1/nodes/${NODE_ID}`, route: "/v1/nodes/{node_id}", status: 500 },
  {
    method: "GET",
    path: `/v1/events/${EVENT_ID}/processing-status`,
    route: "/v1/events/{event_id}/processing-status",
    status: 500,
  },
  { method: "GET", path: "/v1/nodes/not-a-uuid", route: "/v1/nodes/{node_id}", status: 422 },
  { method: "HEAD", path: "/v1/health", route: "/v1/health", status: 200 },
  { method: "GET", path: "/docs", route: "/docs", status: 200 },
  { method: "GET", path: "/v1/private-words", route: "unmatched", status: 404 },
  { method: "PUT", path: `/v1/nodes/${NODE_ID}`, route: "/v1/nodes/{node_id}", status: 405 },
  { method: "GET", path: "/v1/nodes/", route: "/v1/nodes", status: 307 },
])("$method $path is one line about $route", async ({ method, path, route, status }) => {
  const { app, lines } = logging();
  const body = method === "POST" ? "{}" : undefined;
  const headers = { "content-type": "application/json" };
  await app.request(path, { method, headers, ...(body !== undefined && { body }) });
  expect(lines.filter(({ message }) => message === "request")).toEqual([
    {
      level: status >= 500 ? "warn" : "info",
      message: "request",
      fields: { method, route, status, ms: expect.any(Number) },
    },
  ]);
});

test("a request that is refused before its route is known is a line, too", async () => {
  const { app, lines } = logging();
  await app.request("/v1/stats", { headers: { host: "evil.test" } });
  await app.request("/v1/stats", { headers: { origin: "http://evil.test" } });
  expect(lines.map(({ fields }) => [fields["route"], fields["status"]])).toEqual([
    ["unmatched", 421],
    ["unmatched", 403],
  ]);
});

describe("the caller's trace", () => {
  test("stands in the line of its request, and in that of an unexpected failure", async () => {
    const { app, lines } = logging();
    await app.request("/v1/stats", { headers: { traceparent, tracestate: "vendor=secret" } });
    expect(lines).toMatchObject([
      { level: "error", fields: { trace_id: TRACE, parent_span_id: SPAN } },
      { level: "warn", fields: { status: 500, trace_id: TRACE, parent_span_id: SPAN } },
    ]);
    expect(JSON.stringify(lines)).not.toContain("vendor");
  });

  test("is left out when it is malformed, and the request is served as ever", async () => {
    const { app, lines } = logging();
    const odd = `00-${TRACE}-${SPAN}-01 level=ERROR`;
    const answer = await app.request("/v1/health", { headers: { traceparent: odd } });
    expect(answer.status).toBe(200);
    expect(Object.keys(lines[0]?.fields ?? {})).toEqual(["method", "route", "status", "ms"]);
  });

  test("is not sent back", async () => {
    const answer = await logging().app.request("/v1/health", { headers: { traceparent } });
    expect(JSON.stringify([...answer.headers])).not.toContain(TRACE);
  });
});

/** Something that must not be in any log, wherever it came in. */
const PRIVATE = "Zx9private";
const KEY = "Zx9privatekey";

test("neither paths, queries, headers, bodies, owners nor keys are logged, on a real server", async () => {
  const { engine } = await open();
  const server = await serve({ engine, auth: { userKeys: { [PRIVATE]: KEY } } });
  const headers = {
    "content-type": "application/json",
    authorization: `Bearer ${KEY}`,
    "user-agent": PRIVATE,
    referer: `http://localhost/${PRIVATE}`,
    tracestate: `a=${PRIVATE}`,
    traceparent: PRIVATE,
    cookie: PRIVATE,
  };
  const ask = async (path: string, init: RequestInit = {}) =>
    (await fetch(server.url + path, { ...init, headers: { ...headers, ...init.headers } })).status;
  const memory = { content: `${PRIVATE} drinks tea`, metadata: { [PRIVATE]: PRIVATE } };
  const id = PRIVATE.padEnd(36, "0");
  const statuses = [
    await ask("/v1/store", post(memory, headers)),
    await ask("/v1/retrieve", post({ query: `What does ${PRIVATE} drink?` }, headers)),
    await ask(`/v1/stats?user_id=${PRIVATE}`),
    await ask(`/v1/nodes?type=${PRIVATE}`),
    await ask(`/v1/nodes/${id}`),
    await ask(`/v1/${PRIVATE}`),
    await ask(`/v1/${PRIVATE}/?q=${PRIVATE}`, { method: "DELETE" }),
    await ask("/v1/store", post(`{"content": ${PRIVATE}`, headers)),
    await ask("/v1/store", post({ [PRIVATE]: PRIVATE }, headers)),
    await ask("/v1/store", post(memory, { ...headers, authorization: `Bearer ${PRIVATE}` })),
    await ask("/v1/store", post({ ...memory, user_id: `${PRIVATE}2` }, headers)),
    await ask("/v1/store", post(memory, { ...headers, origin: `http://${PRIVATE}` })),
    await ask("/v1/ingest/fast", post(memory, { ...headers, "idempotency-key": PRIVATE })),
  ];
  expect(statuses).toEqual([200, 200, 200, 422, 422, 404, 404, 422, 422, 401, 403, 200, 422]);
  const rude = plain(`GET /${PRIVATE} HTTP/1.1`, [`Host: ${PRIVATE}.test`, `X-A: ${PRIVATE}`]);
  await speak(server.port, [rude]);
  await speak(server.port, [`${PRIVATE} ${PRIVATE}\r\n\r\n`]);
  await server.stop();
  expect(server.lines).toHaveLength(statuses.length + 1);
  expect(JSON.stringify(server.lines)).not.toContain("Zx9");
});

test("a failure that its caller may see is not logged beside its status", async () => {
  const failing = fakeEngine({
    stats: () => Promise.reject(new SvcError("storage_busy", `${PRIVATE} holds the pack`)),
  });
  const { app, lines } = logging({ engine: failing });
  expect((await app.request("/v1/stats")).status).toBe(503);
  expect(lines).toHaveLength(1);
  expect(JSON.stringify(lines)).not.toContain("Zx9");
});
