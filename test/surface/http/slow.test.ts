/** Callers who take their time. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { until } from "../../until.ts";
import { fakeEngine } from "../fake-engine.ts";
import { plain, speak, useServers } from "./serving.ts";

setDefaultTimeout(120_000);

const serve = useServers();
const storing = (...headers: string[]) =>
  plain("POST /v1/store HTTP/1.1", [
    "Host: localhost",
    "Content-Type: application/json",
    ...headers,
  ]);

/** The same bytes again and again. */
function* drops(text: string): Generator<string> {
  for (;;) yield text;
}
function* after(first: string, rest: Iterable<string>): Generator<string> {
  yield first;
  yield* rest;
}

test.each([
  { name: "of declared length", head: storing("Content-Length: 100000"), drop: "x" },
  { name: "in chunks", head: storing("Transfer-Encoding: chunked"), drop: "1\r\nx\r\n" },
  { name: "large", head: storing("Content-Length: 1000000"), drop: "x" },
])("a body that trickles in is 408 at its limit and the connection ends: $name", async (row) => {
  const server = await serve({ bodyTimes: { timeoutMs: 400 } });
  const parts = after(row.head, drops(row.drop));
  const spoken = await speak(server.port, parts, { pauseMs: 20, listenMs: 5000 });
  expect(spoken.statuses).toEqual([408]);
  expect(spoken.text).toContain(
    '{"detail":"The request body was not complete after 0.4 seconds; nothing was done","code":"request_timeout"}',
  );
  expect(spoken.isClosed).toBeTrue();
  // Its ticks are counted, which a busy machine stretches.
  expect(spoken.ms).toBeWithin(380, 10_000);
  expect(server.lines).toMatchObject([{ level: "info", fields: { status: 408 } }]);
});

test("a caller who is slow but in time is served", async () => {
  const engine = fakeEngine({
    storeWithReceipt: () => Promise.reject(new Error("reached the engine")),
  });
  const server = await serve({ engine, bodyTimes: { timeoutMs: 2000 } });
  const body = '{"content":"x","user_id":"a"}';
  const parts = [storing(`Content-Length: ${body.length}`), ...body];
  const { statuses } = await speak(server.port, parts, { pauseMs: 10, listenMs: 2000 });
  expect(statuses).toEqual([500]);
  expect(server.lines.map(({ message }) => message).join()).toContain("reached the engine");
});

test("headers that trickle in, and silence, end the connection within 15 seconds", async () => {
  const { port } = await serve();
  const half = after("GET /v1/health HTTP/1.1\r\nHost: localhost\r\nX-A: ", drops("a"));
  const listenMs = 20_000;
  const spoken = await Promise.all([
    speak(port, half, { pauseMs: 250, listenMs }),
    speak(port, ["GET /v1/hea"], { listenMs }),
    speak(port, [], { listenMs }),
  ]);
  for (const { statuses, isClosed, ms } of spoken) {
    expect(statuses).toEqual([]);
    expect(isClosed).toBeTrue();
    expect(ms).toBeLessThan(15_000);
  }
});

test("hundreds of silent connections cost little memory and keep nobody out", async () => {
  const { port, url } = await serve();
  Bun.gc(true);
  const before = process.memoryUsage.rss();
  const sockets = await Promise.all(Array.from({ length: 400 }, () => dial(port)));
  for (const socket of sockets) socket.write("POST /v1/store HTTP/1.1\r\nHost: localhost\r\n");
  expect((await fetch(`${url}/v1/health`)).status).toBe(200);
  // Both ends are in this process.
  await until(async () => {
    Bun.gc(true);
    return process.memoryUsage.rss() - before < 40 * 1024 * 1024;
  });
  for (const socket of sockets) socket.destroy();
});

function dial(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", reject);
    socket.on("connect", () => resolve(socket));
  });
}
