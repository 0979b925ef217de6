/** One who sends bodies as no honest caller would, and another owner who wants to store meanwhile. Real sockets. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { fakeEngine } from "../fake-engine.ts";
import { type Attack, drip, useAttacks } from "./attack.ts";
import { type LoggingServer, plain, post, useServers } from "./serving.ts";

setDefaultTimeout(120_000);

const serve = useServers();
const attack = useAttacks();
const AUTH = { userKeys: { ada: "key-of-ada", eve: "key-of-eve" } };
/** Longer than any of these tests: nobody is helped by somebody else's being cut off. */
const PATIENT = { timeoutMs: 600_000, paceMs: 600_000 };
const SLOW_TEXT =
  '{"detail":"The request body came more slowly than 16 KiB a second; nothing was done","code":"request_timeout"}';

const head = (...headers: string[]): string =>
  plain("POST /v1/store HTTP/1.1", [
    "Host: localhost",
    "Content-Type: application/json",
    "Authorization: Bearer key-of-eve",
    ...headers,
  ]);

/** A store of so many bytes by the other owner. It is refused for its content, once it has been read. */
async function stores(server: LoggingServer, bytes: number, who = "ada"): Promise<number> {
  const request = post(JSON.stringify({ content: 1, retrieval_content: "x".repeat(bytes) }), {
    authorization: `Bearer key-of-${who}`,
  });
  return (await fetch(`${server.url}/v1/store`, request)).status;
}

const drips = [
  { name: "forty that declare 10 MB", count: 40, length: "Content-Length: 10000000", drop: "x" },
  {
    name: "forty in chunks, without a length",
    count: 40,
    length: "Transfer-Encoding: chunked",
    drop: "1\r\nx\r\n",
  },
];

describe("single bytes", () => {
  test.each(drips)("$name hold nobody up", async ({ count, length, drop }) => {
    for (const auth of [AUTH, {}]) {
      const server = await serve({ auth, bodyTimes: PATIENT });
      const all: Attack[] = [];
      for (let at = 0; at < count; at += 1) all.push(await attack(server.port, head(length)));
      drip(all, drop);
      expect(await stores(server, 70_000)).toBe(422);
      expect(await stores(server, 9_000_000)).toBe(422);
      // It was not let in because they had been cut off.
      expect(all.map(({ answer }) => answer())).toEqual(all.map(() => ""));
      for (const { socket } of all) socket.destroy();
    }
  });

  test.each(drips)("$name are all told that they are too slow, and cut off", async (row) => {
    const server = await serve({ auth: AUTH, bodyTimes: { paceMs: 500 } });
    const all: Attack[] = [];
    for (let at = 0; at < row.count; at += 1) all.push(await attack(server.port, head(row.length)));
    drip(all, row.drop);
    await Promise.all(all.map(({ closed }) => closed));
    for (const { answer } of all) {
      expect(answer()).toStartWith("HTTP/1.1 408 ");
      expect(answer()).toEndWith(SLOW_TEXT);
    }
  });
  test("of headers are no bodies: others store meanwhile", async () => {
    const server = await serve({ auth: AUTH });
    const all: Attack[] = [];
    for (let at = 0; at < 100; at += 1) {
      all.push(await attack(server.port, "POST /v1/store HTTP/1.1\r\nHost: localhost\r\nX-A: "));
    }
    drip(all, "a");
    expect(await stores(server, 9_000_000)).toBe(422);
    expect(all.map(({ answer }) => answer())).toEqual(all.map(() => ""));
  });
});

describe("fast bodies that never end", () => {
  const NEAR_END = 9_900_000;
  const endless = async (server: LoggingServer, count: number): Promise<readonly Attack[]> => {
    const bytes = Buffer.alloc(NEAR_END, 0x20);
    const all: Attack[] = [];
    for (let at = 0; at < count; at += 1) {
      all.push(await attack(server.port, head(`Content-Length: ${NEAR_END + 1}`), bytes));
    }
    return all;
  };

  test("of one owner leave room for the largest body of another", async () => {
    const server = await serve({ auth: AUTH, bodyTimes: PATIENT });
    const all = await endless(server, 9);
    await Bun.sleep(500);
    expect(await stores(server, 70_000)).toBe(422);
    expect(await stores(server, 10_000_000)).toBe(422);
    expect(all.map(({ answer }) => answer())).toEqual(all.map(() => ""));
  });

  test("of one owner are read one after the other once they end", async () => {
    const server = await serve({ auth: AUTH, bodyTimes: PATIENT });
    const all = await endless(server, 9);
    await Bun.sleep(200);
    for (const { socket } of all) socket.write("1");
    while (all.some(({ answer }) => answer() === "")) await Bun.sleep(20);
    expect(all.map(({ answer }) => answer().slice(0, 13))).toEqual(all.map(() => "HTTP/1.1 422 "));
  });
  test("whose callers hang up give their room back", async () => {
    const server = await serve({ auth: AUTH, bodyTimes: PATIENT });
    for (let times = 0; times < 2; times += 1) {
      const all = await endless(server, 9);
      await Bun.sleep(100);
      for (const { socket } of all) socket.destroy();
    }
    expect(await stores(server, 10_000_000, "eve")).toBe(422);
  });
});

describe("a length that is not true", () => {
  test("a large body that ends before its length starts nothing", async () => {
    const engine = fakeEngine();
    const server = await serve({ auth: AUTH, engine });
    const body = JSON.stringify({ content: "x", metadata: { pad: "x".repeat(90_000) } });
    const cut = await attack(server.port, head(`Content-Length: ${body.length + 10}`), body);
    cut.socket.end();
    await cut.closed;
    expect(cut.answer()).not.toContain(" 200 ");
    // The engine of this test answers no call: one would be told as a fault of the program.
    expect(server.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("what comes after a large body's length is no part of it", async () => {
    const server = await serve({ auth: AUTH });
    const body = JSON.stringify({ content: 1, retrieval_content: "x".repeat(90_000) });
    const long = await attack(
      server.port,
      head(`Content-Length: ${body.length}`),
      `${body}{"more"`,
    );
    await long.closed;
    expect(long.answer()).toStartWith("HTTP/1.1 422 ");
    expect(long.answer()).not.toContain("is not valid JSON");
  });
});
