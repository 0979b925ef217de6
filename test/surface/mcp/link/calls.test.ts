import { describe, expect, test } from "bun:test";
import { Calls } from "../../../../src/surface/mcp/link/relay.ts";

const line = (message: object): string => JSON.stringify({ jsonrpc: "2.0", ...message });
const call = (id: unknown, name: string, args: object = {}): string =>
  line({ id, method: "tools/call", params: { name, arguments: args } });
const answer = (id: unknown): string => line({ id, result: {} });
const REPEATABLE = { tools: ["memory_retrieve"], byRequestId: ["memory_store"] };

function sent(...lines: readonly string[]): Calls {
  const calls = new Calls(REPEATABLE);
  for (const text of lines) calls.toServer(text);
  return calls;
}

describe("a call", () => {
  test.each([{ id: 0 }, { id: "" }, { id: -1 }, { id: "x" }, { id: 2 ** 53 - 1 }])(
    "with the id $id is open until it is answered",
    ({ id }) => {
      const calls = sent(call(id, "memory_store"));
      expect(calls.count).toBe(1);
      expect(calls.isForClient(answer(id))).toBe(true);
      expect(calls.count).toBe(0);
      expect(calls.characters).toBe(0);
    },
  );

  test.each([
    { name: "without a version", text: '{"id":1,"method":"ping"}' },
    { name: "with a method that is no text", text: line({ id: 1, method: 7 }) },
    {
      name: "with arguments that are text",
      text: line({ id: 1, method: "tools/call", params: { arguments: "x" } }),
    },
    {
      name: "with params that are null",
      text: line({ id: 1, method: "tools/call", params: null }),
    },
  ])("$name is answered with that, so it is open until then", ({ text }) => {
    const calls = sent(text);
    expect(calls.count).toBe(1);
    calls.isForClient(answer(1));
    expect(calls.count).toBe(0);
  });

  test("is not answered by an answer to the same id of another kind", () => {
    const calls = sent(call(1, "memory_store"));
    calls.isForClient(answer("1"));
    expect(calls.count).toBe(1);
  });

  test.each([
    { name: "an id of null", text: call(null, "memory_store") },
    { name: "no id", text: line({ method: "notifications/progress" }) },
    { name: "an id that is an object", text: call({}, "memory_store") },
    { name: "no JSON", text: "hello" },
    { name: "nothing", text: "" },
    { name: "params of another kind", text: line({ method: "x", params: "text" }) },
  ])("with $name gets no answer, so none is waited for, and the server sees it", ({ text }) => {
    const calls = new Calls(REPEATABLE);
    expect(calls.toServer(text)).toBe(text);
    expect(calls.count).toBe(0);
  });

  test("in a line that ends in a carriage return is one", () => {
    const calls = sent(`${call(1, "memory_store")}\r`);
    expect(calls.count).toBe(1);
  });

  test("that was cancelled is over, and its late answer is still passed on", () => {
    const calls = sent(
      call(5, "memory_retrieve"),
      line({ method: "notifications/cancelled", params: { requestId: 5 } }),
    );
    expect(calls.count).toBe(0);
    expect(calls.isForClient(answer(5))).toBe(true);
    expect(calls.afterLoss()).toEqual({ repeat: [], fail: [] });
  });
});

describe("after the loss of a server", () => {
  test("what may come twice is asked again in its order; what may not fails", () => {
    const again = [
      call(1, "memory_retrieve"),
      line({ id: 2, method: "tools/list" }),
      call(3, "memory_store", { request_id: "of the client" }),
    ] as const;
    const calls = sent(again[0], call(9, "memory_ingest"), again[1], again[2]);
    const { repeat, fail } = calls.afterLoss();
    expect(repeat).toEqual(again);
    expect(fail.map((text) => JSON.parse(text))).toMatchObject([
      {
        jsonrpc: "2.0",
        id: 9,
        error: { code: -32_603, message: expect.stringContaining("outcome is unknown") },
      },
    ]);
    expect(calls.count).toBe(3);
  });

  test("a request_id makes only those tools repeatable for which it is the name of the call", () => {
    const cites = call(1, "memory_record_answer_citations", { request_id: "a retrieval" });
    expect(sent(cites).afterLoss().fail).toHaveLength(1);
  });

  test.each([
    { name: "none", given: {} },
    { name: "null", given: { request_id: null } },
  ])("a call that could have a name and has $name gets one, and keeps it", ({ given }) => {
    const calls = new Calls(REPEATABLE);
    const args = { content: "Grüße", __proto__: null, deep: { list: [1, null] }, ...given };
    const passed = calls.toServer(`${call(1, "memory_store", args)}\r`) ?? "";
    const { request_id: requestId, ...others } = JSON.parse(passed).params.arguments;
    expect(requestId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/);
    expect(others).toEqual({ content: "Grüße", deep: { list: [1, null] } });
    expect(calls.afterLoss()).toEqual({ repeat: [passed], fail: [] });
    const other = calls.toServer(call(2, "memory_store", args)) ?? "";
    expect(JSON.parse(other).params.arguments.request_id).not.toBe(requestId);
  });

  test.each([{ args: "text" }, { args: null }, { args: [1] }, { args: undefined }])(
    "arguments without room for a name are passed on as they are: $args",
    ({ args }) => {
      const text = line({
        id: 1,
        method: "tools/call",
        params: { name: "memory_store", arguments: args },
      });
      const calls = new Calls(REPEATABLE);
      expect(calls.toServer(text)).toBe(text);
      expect(calls.afterLoss().fail).toHaveLength(1);
    },
  );

  test("a call that has cost two servers is not given to a third", () => {
    const calls = sent(call(1, "memory_retrieve"));
    expect(calls.afterLoss().repeat).toHaveLength(1);
    const { repeat, fail } = calls.afterLoss();
    expect(repeat).toEqual([]);
    expect(fail).toHaveLength(1);
    expect(calls.count).toBe(0);
  });

  test("the next is told how the connection began, under an id whose answer is for nobody", () => {
    const calls = sent(
      line({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25" } }),
    );
    calls.isForClient(answer(1));
    const initialized = line({ method: "notifications/initialized" });
    calls.toServer(initialized);
    const { repeat } = calls.afterLoss();
    expect(repeat[1]).toBe(initialized);
    const opening = JSON.parse(repeat[0] ?? "");
    expect(opening).toMatchObject({
      method: "initialize",
      params: { protocolVersion: "2025-11-25" },
    });
    expect(opening.id).not.toBe(1);
    expect(calls.isForClient(answer(opening.id))).toBe(false);
  });

  test("a connection that is still being opened is opened under its own id, once", () => {
    const initialize = line({ id: 1, method: "initialize", params: {} });
    const initialized = line({ method: "notifications/initialized" });
    const calls = sent(initialize, initialized, call(2, "memory_retrieve"));
    expect(calls.afterLoss().repeat).toEqual([initialize, initialized, call(2, "memory_retrieve")]);
    expect(calls.isForClient(answer(1))).toBe(true);
  });

  test("a subscription is no call: nobody waits for its answer, and it is not made again", () => {
    const calls = sent(line({ id: 4, method: "subscriptions/listen", params: {} }));
    expect(calls.count).toBe(0);
    expect(calls.afterLoss()).toEqual({ repeat: [], fail: [] });
  });
});
