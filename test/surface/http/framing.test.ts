/** What becomes of bytes that are no proper request, on a real connection. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { until } from "../../until.ts";
import { fakeEngine } from "../fake-engine.ts";
import { type LoggingServer, plain, speak, useServers } from "./serving.ts";

const serve = useServers();

const errorsOf = (server: LoggingServer) =>
  server.lines.filter(({ level }) => level === "error").map(({ message }) => message);

describe("on the connection", () => {
  let server: LoggingServer;
  let stored = 0;
  beforeEach(async () => {
    stored = 0;
    server = await serve({
      engine: fakeEngine({
        storeWithReceipt: () => {
          stored += 1;
          return Promise.reject(new Error("stored"));
        },
        stats: async () => {
          await Bun.sleep(30);
          return { nodeCount: 0, eventCount: 0, backend: "sqlite", details: undefined };
        },
      }),
    });
  });
  // Whatever was sent, the server goes on, and takes none of it for a fault of its own.
  afterEach(async () => {
    expect(stored).toBe(0);
    expect(errorsOf(server)).toEqual([]);
    expect((await fetch(`${server.url}/v1/health`)).status).toBe(200);
  });

  const BODY = '{"content":"x","user_id":"a"}';
  const storing = (...headers: string[]) =>
    plain("POST /v1/store HTTP/1.1", [
      "Host: localhost",
      "Content-Type: application/json",
      ...headers,
    ]);

  test.each([
    { name: "a URL of 100 kB", text: plain(`GET /${"a".repeat(100_000)} HTTP/1.1`) },
    {
      name: "a header of 100 kB",
      text: plain("GET /v1/health HTTP/1.1", ["Host: localhost", `X-A: ${"a".repeat(100_000)}`]),
    },
    {
      name: "300 headers",
      text: plain("GET /v1/health HTTP/1.1", [
        "Host: localhost",
        ...Array.from({ length: 300 }, (_, at) => `X-${at}: 1`),
      ]),
    },
  ])("$name: 431, and the connection is closed", async ({ text }) => {
    const { statuses, isClosed } = await speak(server.port, [text], { listenMs: 3000 });
    expect(statuses).toEqual([431]);
    expect(isClosed).toBeTrue();
  });

  test("a URL and headers of 12 kB together are read", async () => {
    const url = `/v1/health?${"a".repeat(8000)}`;
    const text = plain(`GET ${url} HTTP/1.1`, ["Host: localhost", `X-A: ${"a".repeat(4000)}`]);
    expect((await speak(server.port, [text])).statuses).toEqual([200]);
  });

  test.each([
    { name: "both lengths", head: storing("Content-Length: 5", "Transfer-Encoding: chunked") },
    {
      name: "both, the other way round",
      head: storing("Transfer-Encoding: chunked", "Content-Length: 5"),
    },
    {
      name: "two different lengths",
      head: storing(`Content-Length: ${BODY.length}`, "Content-Length: 3"),
    },
    { name: "a negative length", head: storing("Content-Length: -1") },
    { name: "a length with a sign", head: storing(`Content-Length: +${BODY.length}`) },
    { name: "a hexadecimal length", head: storing("Content-Length: 0x1d") },
    { name: "a length beyond all numbers", head: storing(`Content-Length: ${"9".repeat(30)}`) },
    { name: "an unknown encoding", head: storing("Transfer-Encoding: xchunked") },
    { name: "two encodings", head: storing("Transfer-Encoding: gzip, chunked") },
    { name: "a blank before the colon", head: storing("Transfer-Encoding : chunked") },
    { name: "a continued header", head: storing("X-A: 1\r\n 2", `Content-Length: ${BODY.length}`) },
    { name: "no HTTP", head: "\x16\x03\x01\x02\x00\x01\r\n\r\n" },
    { name: "HTTP/2", head: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" },
  ])("ambiguous framing is 400 and closes it: $name", async ({ head }) => {
    const smuggled = `${head}${BODY}${storing(`Content-Length: ${BODY.length}`)}${BODY}`;
    const { statuses, isClosed } = await speak(server.port, [smuggled], { listenMs: 2000 });
    expect(statuses).toEqual([400]);
    expect(isClosed).toBeTrue();
  });

  test("line feeds alone end no header", async () => {
    const text = storing().replaceAll("\r\n", "\n");
    const { statuses, isClosed } = await speak(server.port, [text], { listenMs: 2000 });
    expect(statuses).toEqual([505]);
    expect(isClosed).toBeTrue();
  });

  test.each([
    { name: "no length", size: "zz" },
    { name: "beyond all numbers", size: "f".repeat(17) },
    { name: "negative", size: "-1" },
  ])("a chunk whose length is $name is never taken for a body", async ({ size }) => {
    const text = `${storing("Transfer-Encoding: chunked")}${size}\r\n${BODY}\r\n0\r\n\r\n`;
    const { statuses, isClosed } = await speak(server.port, [text], { listenMs: 2000 });
    expect(statuses).toEqual([400]);
    expect(isClosed).toBeTrue();
  });

  test.each([
    { name: "of declared length", head: storing("Content-Length: 1000"), part: BODY },
    { name: "in chunks", head: storing("Transfer-Encoding: chunked"), part: `1d\r\n${BODY}\r\n` },
    { name: "before its first byte", head: storing("Content-Length: 29"), part: "" },
  ])("a body that is cut short starts nothing: $name", async ({ head, part }) => {
    await speak(server.port, [head, part], { pauseMs: 50, hangUp: true });
    await until(async () => server.lines.length > 0);
    expect(server.lines).toMatchObject([
      { level: "info", fields: { route: "/v1/store", status: 499 } },
    ]);
  });

  test("the body of a GET is not taken for a request", async () => {
    const inner = storing(`Content-Length: ${BODY.length}`) + BODY;
    const head = plain("GET /v1/health HTTP/1.1", [
      "Host: localhost",
      `Content-Length: ${inner.length}`,
    ]);
    const { statuses } = await speak(server.port, [head + inner]);
    expect(statuses).toEqual([200]);
  });

  test("requests one after the other are all answered", async () => {
    const text = plain("GET /v1/stats HTTP/1.1");
    const { statuses } = await speak(server.port, [text, text, text], {
      ...{ inTurn: true, answers: 3 },
    });
    expect(statuses).toEqual([200, 200, 200]);
  });

  test("requests sent before the answer close the connection", async () => {
    const text = plain("GET /v1/stats HTTP/1.1");
    const { statuses, isClosed } = await speak(server.port, [text + text], { listenMs: 2000 });
    expect(statuses.length).toBeLessThanOrEqual(1);
    expect(isClosed).toBeTrue();
  });

  test.each(["get", "FOO", "TRACE", "CONNECT"])(
    "the method %s reaches no route",
    async (method) => {
      const { statuses } = await speak(server.port, [plain(`${method} /v1/health HTTP/1.1`)]);
      expect(statuses.filter((status) => status < 400)).toEqual([]);
    },
  );

  test.each([
    { name: "absolute, of a foreign server", target: "http://evil.test/v1/health", status: 200 },
    { name: "with invalid escapes", target: "/v1/%zz%ff", status: 404 },
    { name: "with bytes beyond ASCII", target: "/v1/\xe9", status: 404 },
    { name: "with dots", target: "/docs/../v1/health", status: 200 },
    { name: "a star", target: "*", status: 400 },
  ])("a target is read as a path only: $name", async ({ target, status }) => {
    const { statuses } = await speak(server.port, [plain(`GET ${target} HTTP/1.1`)]);
    expect(statuses).toEqual([status]);
  });
});
