import { describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import { fakeEngine } from "../fake-engine.ts";
import { type Caller, idIn, useTools } from "./served-tools.ts";
import { openSession } from "./session.ts";

const { open } = useTools();
const UNKNOWN = "01900000-0000-7000-8000-00000000ffff";

async function read({ client }: Pick<Caller, "client">, uri: string) {
  const { contents } = await client.readResource({ uri });
  const [only] = contents;
  expect(only?.mimeType).toBe("application/json");
  return JSON.parse(only !== undefined && "text" in only ? only.text : "");
}

async function complete({ client }: Caller, value: string): Promise<string[]> {
  const ref = { type: "ref/resource", uri: "memory://nodes/{node_id}" } as const;
  const { completion } = await client.complete({ ref, argument: { name: "node_id", value } });
  return completion.values;
}

async function storeFor(caller: Caller, content: string): Promise<string> {
  return idIn(await caller.answer("memory_store", { content }), "node_id");
}

describe("resources", () => {
  test("are health, counts and a template of memories", async () => {
    const { connect } = await open();
    const { client } = await connect("ada");
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([
      "memory://health",
      "memory://stats",
      "memory://profile",
    ]);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates).toMatchObject([{ uriTemplate: "memory://nodes/{node_id}" }]);
  });

  test("tell health, the counts of a bound owner, and the counts of all to an operator", async () => {
    const { connect } = await open();
    const [ada, bob, operator] = [await connect("ada"), await connect("bob"), await connect()];
    await storeFor(ada, "Ada drinks tea.");
    await storeFor(ada, "Ada drinks coffee.");
    await storeFor(bob, "Bob drinks milk.");
    expect(await read(ada, "memory://health")).toEqual({ status: "ok", version: "9.9.9" });
    const stats = { backend: "sqlite", version: "9.9.9" };
    expect(await read(ada, "memory://stats")).toEqual({ ...stats, node_count: 2 });
    expect(await read(bob, "memory://stats")).toEqual({ ...stats, node_count: 1 });
    expect(await read(operator, "memory://stats")).toEqual({ ...stats, node_count: 3 });
  });

  test("give a memory as the tool does, at the link that its storing returned", async () => {
    const { connect } = await open();
    const ada = await connect("ada");
    const { links, structured } = await ada.call("memory_store", { content: "Ada drinks tea." });
    const id = idIn(structured, "node_id");
    expect(links).toEqual([`resource_link memory://nodes/${id}`]);
    const node = await ada.answer("memory_get_node", { node_id: id });
    expect(await read(ada, `memory://nodes/${id}`)).toEqual(node);
    expect(await read(ada, `memory://nodes/${id.toUpperCase()}`)).toEqual(node);
  });

  test("do not tell a foreign memory from a missing one", async () => {
    const { connect } = await open();
    const [ada, bob] = [await connect("ada"), await connect("bob")];
    const id = await storeFor(ada, "Ada drinks tea.");
    expect(await read(bob, `memory://nodes/${id}`)).toEqual({ error: `Node '${id}' not found` });
    expect(await read(bob, `memory://nodes/${UNKNOWN}`)).toEqual({
      error: `Node '${UNKNOWN}' not found`,
    });
  });

  test("explain an id that is none", async () => {
    const { connect } = await open();
    const ada = await connect("ada");
    expect(await read(ada, "memory://nodes/7")).toEqual({ error: 'node_id: "7" is not a UUID' });
    expect(await read(ada, "memory://nodes/%ff")).toEqual({
      error: 'node_id: "%ff" is not a UUID',
    });
  });

  test.each([
    "memory://nope",
    "memory://nodes",
    "memory://nodes/a/b",
    "file:///etc/passwd",
    "no uri",
  ])("that are unknown are a protocol error: %s", async (uri) => {
    const { connect } = await open();
    const { client } = await connect("ada");
    await expect(client.readResource({ uri })).rejects.toThrow(/-32\d{3}/);
  });
  test("keep an unexpected failure to the log", async () => {
    const engine = fakeEngine({ stats: () => Promise.reject(new TypeError("wires crossed")) });
    const session = await openSession(() => Promise.resolve(engine));
    expect(await read(session, "memory://stats")).toEqual({ error: "Internal server error" });
    expect(session.log.join("\n")).toContain("wires crossed");
    await session.leave();
  });
});

describe("completing an id", () => {
  test("offers the owner's newest memories that begin so, and nobody else's", async () => {
    const { connect } = await open();
    const [ada, bob] = [await connect("ada"), await connect("bob")];
    const first = await storeFor(ada, "Ada drinks tea.");
    const second = await storeFor(ada, "Ada drinks coffee.");
    const foreign = await storeFor(bob, "Bob drinks milk.");
    expect(await complete(ada, "")).toEqual([second, first]);
    expect(await complete(ada, first)).toEqual([first]);
    expect(await complete(ada, first.slice(0, 20).toUpperCase())).toContain(first);
    expect(await complete(ada, foreign)).toEqual([]);
    expect(await complete(ada, "%")).toEqual([]);
  });

  test("leaves archived memories out, and is bounded", async () => {
    const { connect } = await open();
    const ada = await connect("ada");
    const items = Array.from({ length: 25 }, (_, index) => ({ content: `note ${index}` }));
    await ada.answer("memory_ingest_fast_many", { items });
    await ada.answer("memory_process_materializations", { budget_ms: 20_000 });
    const [newest = ""] = await complete(ada, "");
    expect(await complete(ada, "0")).toHaveLength(20);
    await ada.answer("memory_archive_node", { node_id: newest });
    expect(await complete(ada, "")).not.toContain(newest);
  });

  test("offers nothing where the memory cannot be read", async () => {
    const failure = new SvcError("pack_locked", "the pack is locked");
    const engine = fakeEngine({ queryNodes: () => Promise.reject(failure) });
    const session = await openSession(() => Promise.resolve(engine));
    const ref = { type: "ref/resource", uri: "memory://nodes/{node_id}" } as const;
    const argument = { name: "node_id", value: "0" };
    const { completion } = await session.client.complete({ ref, argument });
    expect(completion.values).toEqual([]);
    await session.leave();
  });
});
