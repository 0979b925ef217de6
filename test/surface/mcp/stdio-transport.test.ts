import { describe, expect, test } from "bun:test";
import { PassThrough, Writable } from "node:stream";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { openStdio } from "../../../src/surface/mcp/stdio.ts";

const line = (message: object): string => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
const ping = (id: number): string => line({ id, method: "ping" });

/** A transport that notes what it is given. */
async function opened(stdout: Writable = new PassThrough()) {
  const stdin = new PassThrough();
  const { transport, ended, finish } = openStdio(stdin, stdout);
  const heard: JSONRPCMessage[] = [];
  const failures: string[] = [];
  transport.onmessage = (message) => heard.push(message);
  transport.onerror = (error) => failures.push(error.message);
  await transport.start();
  const answer = (id: number): Promise<void> => transport.send({ jsonrpc: "2.0", id, result: {} });
  return { stdin, transport, ended, finish, heard, failures, answer };
}

/** Lets everything happen that is due. */
const settle = (): Promise<void> => Bun.sleep(10);

describe("a client that never reads", () => {
  test("is read from until its answers no longer go out", async () => {
    // Takes one answer and says that it is full.
    const stdout = new Writable({ highWaterMark: 1, write: () => {} });
    const { stdin, heard, answer } = await opened(stdout);
    stdin.write(ping(0));
    await settle();
    const first = answer(0);
    for (let id = 1; id <= 5000; id += 1) stdin.write(ping(id));
    await settle();
    expect(heard).toHaveLength(1);
    expect(stdin.isPaused()).toBeTrue();
    stdout.emit("drain");
    await first;
    await settle();
    expect(heard.length).toBeGreaterThan(1);
  });

  test("has at most 32 requests under way", async () => {
    const { stdin, heard, answer } = await opened();
    for (let id = 1; id <= 5000; id += 1) stdin.write(ping(id));
    await settle();
    expect(heard).toHaveLength(32);
    await answer(1);
    await settle();
    expect(heard).toHaveLength(33);
  });

  test("has at most 64 MiB of requests under way", async () => {
    const { stdin, heard } = await opened();
    const filling = "x".repeat(15 * 1024 * 1024);
    for (let id = 1; id <= 8; id += 1)
      stdin.write(line({ id, method: "ping", params: { filling } }));
    await settle();
    await settle();
    expect(heard).toHaveLength(5);
  });
});

describe("what is no message", () => {
  test("is passed over and reported once; the next message is heard", async () => {
    const { stdin, heard, failures } = await opened();
    stdin.write("GET / HTTP/1.1\r\n\r\n\u0000\u0001garbage\n[]\n7\n");
    stdin.write(ping(1));
    await settle();
    expect(heard).toEqual([{ jsonrpc: "2.0", id: 1, method: "ping" }]);
    expect(failures).toEqual(["a line is not a JSON-RPC message, and is skipped"]);
  });

  test("is a line with a name twice, which is answered with the reason", async () => {
    const stdout = new PassThrough();
    const { stdin, heard } = await opened(stdout);
    stdin.write('{"jsonrpc":"2.0","id":3,"method":"ping","params":{"a":1,"a":2}}\n');
    await settle();
    expect(heard).toEqual([]);
    expect(JSON.parse(String(stdout.read()))).toMatchObject({
      id: 3,
      error: { message: expect.stringContaining('"a" stands twice') },
    });
  });

  test("is not a request with null for its parameters or arguments", async () => {
    const { stdin, heard } = await opened();
    stdin.write(line({ id: 1, method: "tools/list", params: null }));
    const params = { name: "memory_stats", arguments: null };
    stdin.write(line({ id: 2, method: "tools/call", params }));
    await settle();
    expect(heard).toEqual([
      { jsonrpc: "2.0", id: 1, method: "tools/list" },
      { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "memory_stats" } },
    ]);
  });

  test("but has an identifier is answered with an error", async () => {
    const stdout = new PassThrough();
    const { stdin, heard } = await opened(stdout);
    stdin.write(line({ id: 4, method: 7 }));
    await settle();
    expect(heard).toEqual([]);
    expect(JSON.parse(String(stdout.read()))).toMatchObject({ id: 4, error: { code: -32600 } });
  });

  test.each([
    { name: "in a line", end: "\n" },
    { name: "at the end of the input", end: "" },
  ])(
    "because its bytes are no UTF-8 is answered and not read with other characters, $name",
    async ({ end }) => {
      const stdout = new PassThrough();
      const { stdin, heard, finish } = await opened(stdout);
      const [before = "", after = ""] = line({ id: 5, method: "ping", params: { text: "a|b" } })
        .trimEnd()
        .split("|");
      stdin.write(
        Buffer.concat([Buffer.from(before), Buffer.from([0xff]), Buffer.from(after + end)]),
      );
      await settle();
      finish();
      await settle();
      expect(heard).toEqual([]);
      expect(JSON.parse(String(stdout.read()))).toMatchObject({
        id: 5,
        error: { code: -32600, message: expect.stringContaining("UTF-8") },
      });
    },
  );

  test("and is longer than any message ends the connection", async () => {
    const { stdin, ended, failures } = await opened();
    const filling = Buffer.alloc(1024 * 1024, "x");
    for (let written = 0; written < 18; written += 1) stdin.write(filling);
    await ended;
    expect(failures.join()).toContain("longer than");
  });
});

describe("the end", () => {
  test("waits for the answers to what was read, a last line without line feed included", async () => {
    const { stdin, ended, heard, answer } = await opened();
    stdin.end(`${ping(1)}${ping(2).trimEnd()}`);
    await settle();
    expect(heard.map((message) => "id" in message && message.id)).toEqual([1, 2]);
    await answer(1);
    const soonest = Promise.race([ended.then(() => "ended"), settle().then(() => "waiting")]);
    expect(await soonest).toBe("waiting");
    await answer(2);
    await ended;
  });

  test("does not wait for a cancelled request", async () => {
    const { stdin, ended } = await opened();
    stdin.write(ping(1));
    stdin.end(line({ method: "notifications/cancelled", params: { requestId: 1 } }));
    await ended;
  });

  test("comes with the failure of stdout", async () => {
    const stdout = new Writable({
      write: (_chunk, _encoding, done) => done(new Error("EPIPE: broken pipe")),
    });
    const { transport, ended, answer } = await opened(stdout);
    let isClosed = false;
    transport.onclose = () => {
      isClosed = true;
    };
    await answer(1).catch(() => undefined);
    await ended;
    expect(isClosed).toBeTrue();
    await expect(answer(2)).rejects.toThrow("closed");
  });
});
